"""Chooses the seeds of a run, and finds the targets that can be reached from them.

This is the lab's side of a trial: it knows the labels. A crawl is given only the seeds
and the number of requests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import numpy as np

from opilio.errors import BadInput
from opilio.lab.examples import IRRELEVANT, RELEVANT, chance_of, draw_examples
from opilio.lab.labels import relevant_urls
from opilio.lab.link_graph import LinkGraph, distances, reachable
from opilio.lab.measures import measure
from opilio.lab.oracle import Step, steps
from opilio.lab.runs import LabVisit, Measures
from opilio.lab.web_pages import Atlas
from opilio.lab.webs import LabWeb
from opilio.limits.scope import Scope
from opilio.records import Fingerprint
from opilio.text import urls
from opilio.topic import Topic, load_topic
from opilio.topic.file import Evaluation


class SeedsMode(StrEnum):
    """Where crawls start."""

    NEAR = "near"  # at the topic's own seeds
    FAR = "far"
    HOME = "home"  # at the home pages of hosts


HOMES = 20  # hosts at most, the largest ones
FAR = (4, 3, 2)  # links to the nearest target, if there are such pages
TRIED = 200  # of them
MOVED = ("copy", "redirect")  # on the way to a page that has moved
MOST = 0.5  # share of the targets that far seeds must lead to


@dataclass(frozen=True, kw_only=True)
class Course:
    """A topic on a web, from certain seeds."""

    topic: Topic  # without its labels
    seeds: tuple[str, ...]
    targets: Mapping[str, Fingerprint]  # URL of a page to be found -> its content
    R: int  # contents among them
    relevant: frozenset[str]  # URLs, also of what cannot be reached from the seeds
    budget: int
    oracle: Measures
    oracle_found_at: Sequence[int]
    examples: tuple[str, ...] = ()  # relevant pages that are no targets
    counterexamples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ground:
    """A web and its labels, from which courses are made."""

    web: LabWeb
    atlas: Atlas
    labels: Mapping[str, tuple[str, ...]]

    def course(
        self,
        topic: str,
        mode: SeedsMode = SeedsMode.NEAR,
        repeat: int = 0,
        budget: str = "3R",
        examples: int = 0,
        counterexamples: int = 0,
    ) -> Course:
        """The course of a topic: its name in the web, or its file.

        Example pages, and pages of the same content, are no targets.
        """
        whole = self.topic(topic)
        graph, atlas = self.within(whole), self.atlas
        relevant = relevant_urls(self.labels, whole.evaluation.relevant_labels)
        targets = {
            url: atlas.seen[number].content
            for url in relevant
            if (number := atlas.numbers.get(url)) is not None and atlas.is_page[number]
        }
        seeds = self.seeds(whole, graph, targets, mode, repeat)
        starts = self.archived(seeds)
        if not starts:
            raise BadInput(
                f"none of the seeds of {topic} is in the web {self.web.name}: "
                f"{', '.join(seeds) or 'it has none'}"
            )
        begun = {atlas.seen[number].content for number in starts}
        given = draw_examples(
            targets, examples, begun, chance_of(whole.name, repeat, RELEVANT)
        )
        known = {targets[url] for url in given}
        others = self.irrelevant(relevant, targets) if counterexamples else {}
        reached = reachable(graph, starts)
        wanted = {
            n: c
            for url, c in targets.items()
            if c not in known and reached[n := atlas.numbers[url]]
        }
        count = len(set(wanted.values()))
        if not count:
            raise BadInput(
                f"no relevant page of {topic} can be reached from {', '.join(seeds)}"
                + (f" beside the {examples} examples" if examples else "")
            )
        requests = self.requests(budget, count)
        walked = steps(graph, starts, wanted, requests)
        to_find = {atlas.seen[page].url: content for page, content in wanted.items()}
        measures, found_at = measure(self.visits(walked), to_find, count)
        return Course(
            topic=msgspec.structs.replace(whole, evaluation=Evaluation()),
            seeds=seeds,
            targets=to_find,
            R=count,
            relevant=relevant,
            budget=requests,
            oracle=measures,
            oracle_found_at=found_at,
            examples=given,
            counterexamples=draw_examples(
                others,
                counterexamples,
                begun,
                chance_of(whole.name, repeat, IRRELEVANT),
            ),
        )

    def irrelevant(
        self, relevant: Collection[str], targets: Mapping[str, Fingerprint]
    ) -> dict[str, Fingerprint]:
        """All other pages, without copies of relevant ones, and their contents."""
        contents = set(targets.values())
        return {
            each.url: each.content
            for each in self.atlas.seen
            if each.content
            and each.url not in relevant
            and each.content not in contents
        }

    def visits(self, walked: Iterable[Step]) -> list[LabVisit]:
        """The requests of the oracle, as if a crawl had made them."""
        found = []
        for page, via, depth in walked:
            state, reason = ("kept", "") if self.atlas.is_page[page] else MOVED
            found.append(
                LabVisit(self.atlas.seen[page].url, state, reason, 1, depth, via)
            )
        return found

    def topic(self, name: str) -> Topic:
        """The topic of that name or file, with its labels."""
        return load_course_topic(self.web, name)

    def within(self, topic: Topic) -> LinkGraph:
        """The links that the topic's scope lets a crawl follow."""
        scope = Scope(topic.scope)
        if not scope.is_limited:
            return self.atlas.graph
        allowed = [scope.allows(each.url) for each in self.atlas.seen]
        return self.atlas.graph.only(np.array(allowed, bool))

    def archived(self, seeds: Iterable[str]) -> list[int]:
        """The numbers of those that the web has."""
        known = (self.atlas.numbers.get(urls.canonical(seed)) for seed in seeds)
        return [number for number in known if number is not None]

    def requests(self, budget: str, targets: int) -> int:
        """A budget as a number: 500, 3R (times the targets) or 25% (of the pages)."""
        try:
            if budget.upper().endswith("R"):
                number = round(float(budget[:-1] or 1) * targets)
            elif budget.endswith("%"):
                number = round(float(budget[:-1]) / 100 * int(self.atlas.is_page.sum()))
            else:
                number = int(budget)
        except (ValueError, OverflowError):
            number = 0
        if number < 1:
            raise BadInput(
                f"--budget {budget}: write a number of requests (500), times the "
                "targets (3R) or a share of the pages (25%)"
            )
        return min(number, len(self.atlas.seen))  # there is no more to ask for

    def seeds(
        self,
        topic: Topic,
        graph: LinkGraph,
        targets: Mapping[str, Fingerprint],
        mode: SeedsMode,
        repeat: int,
    ) -> tuple[str, ...]:
        """The seeds of a crawl: the topic's own, far ones, or home pages.

        Repetitions after the first draw others of the same kind: relevant pages in
        place of the topic's own. Homes are always the same.
        """
        own = tuple(urls.canonical(url) for url in topic.sources.urls)
        if mode is SeedsMode.NEAR and not repeat:
            return own
        if mode is SeedsMode.HOME:
            return tuple(self.homes())
        draw = np.random.default_rng([repeat, urls.fingerprint(topic.name) % 2**32])
        count = max(len(own), 1)
        if mode is SeedsMode.FAR:
            return self.far_away(graph, targets, count, draw)
        others = sorted(set(targets) - set(own))
        return tuple(map(str, draw.permutation(others)[:count]))

    def far_away(
        self,
        graph: LinkGraph,
        targets: Mapping[str, Fingerprint],
        count: int,
        draw: np.random.Generator,
    ) -> tuple[str, ...]:
        """Pages as far as possible from every target that still lead to most of
        them."""
        atlas = self.atlas
        numbers = [atlas.numbers[url] for url in targets]
        away = distances(graph.reversed(), numbers)
        for least in FAR:
            pages = draw.permutation(np.flatnonzero((away >= least) & atlas.is_page))
            leading = (n for n in pages[:TRIED].tolist() if leads(graph, n, numbers))
            found = list(islice(leading, count))
            if len(found) == count:
                return tuple(atlas.seen[number].url for number in found)
        raise BadInput(
            f"the web {self.web.name} has no pages that are far from all relevant ones "
            "and lead to most of them; use --seeds-mode near or home"
        )

    def homes(self) -> list[str]:
        """The home pages of the largest hosts.

        For a host without one, its page that leads to most of the others, the most
        linked one first.
        """
        atlas = self.atlas
        linked = np.bincount(atlas.graph.targets, minlength=len(atlas.seen))
        pages: dict[str, list[int]] = {}
        for number in np.flatnonzero(atlas.is_page).tolist():
            pages.setdefault(urls.host(atlas.seen[number].url), []).append(number)
        largest = sorted(pages, key=lambda host: (-len(pages[host]), host))[:HOMES]
        found = []
        for host in largest:
            ordered = sorted(pages[host], key=lambda page: (-linked[page], page))
            root = [
                page for page in ordered if urlsplit(atlas.seen[page].url).path == "/"
            ]
            fit = (page for page in ordered if leads(atlas.graph, page, ordered))
            found.append(root[0] if root else next(fit, ordered[0]))
        return [atlas.seen[page].url for page in found]


def leads(graph: LinkGraph, page: int, targets: Sequence[int]) -> bool:
    """Can most of the targets be reached from a page?"""
    return bool(reachable(graph, [page])[targets].mean() >= MOST)


def load_course_topic(web: LabWeb, name: str) -> Topic:
    """The topic of that name or file, with its labels; BadInput without them."""
    path = web.topics.get(name, Path(name))
    if not path.is_file():
        known = ", ".join(web.topics)
        raise BadInput(f"there is no topic {name!r} in this web; it has {known}")
    topic = load_topic(path)
    if not topic.evaluation.relevant_labels:
        raise BadInput(
            f"{path} does not say what is relevant; add: "
            "[evaluation] relevant_labels = ['A label of the web']"
        )
    return topic
