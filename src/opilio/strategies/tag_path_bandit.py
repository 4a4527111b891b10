"""Tag-path bandit: after SB-CLASSIFIER, Gauquier, Manolescu & Senellart, 2024-26
(arXiv 2602.11874).

Links in similar places of similar pages tend to lead to similar pages. An arm a of the
bandit is a group of similar tag paths; pulling it means visiting one of its links:

    promise(v) = R̄(a) + α·√(ln(t + 1) / (N(a) + 1)) + P(v)

Symbols: N(a) visits of links of a, R̄(a) the share of them that were relevant, t all
visits, α exploration; P(v) the probability by a logistic regression over pairs of
characters of the URL. An arm without waiting links sleeps.

An arm's part of the promise changes with every visit, a link's own part does not. So
only the HEADS best links of each arm have the arm's part and are revised; all others
wait below them, at P(v) - 1000, and move up as these are visited. The cost of a page
grows with the number of arms, 200 at most, however many links wait.

We differ: the reward is the page's own relevance, not the number of files it links to;
a group's centre is the path that founded it, and our paths have no ids or classes; the
counts are not hashed; P orders the links of an arm, where the paper draws one and lets
P tell pages from files; the regression is fitted again at 1.3·n + 5 visits instead of
after every ten.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from math import log, sqrt
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from opilio.records import (
    TIER,
    Fingerprint,
    Knowledge,
    Lease,
    Link,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    State,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.linear_model import Floats, LinearModel
from opilio.strategies.shared.link_examples import Experience, SeenLink
from opilio.strategies.shared.link_features import FIRST, to_rows
from opilio.strategies.shared.notes import Notes
from opilio.strategies.shared.tag_paths import TagPathGroups

MOST_ARMS = 200
HEADS = 3
BELOW = -1000.0
PAIRS = 2**12  # columns for pairs of characters


class BanditOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the bandit groups and explores."""

    exploration: Annotated[float, msgspec.Meta(ge=0)] = 2 * sqrt(2)  # α
    similarity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75  # θ


class Arm(NamedTuple):
    """A group of tag paths, and the results of its links."""

    founder: str  # the path that founded it
    visits: int = 0  # N(a)
    relevant: int = 0

    @property
    def mean(self) -> float:
        """R̄(a)"""
        return self.relevant / self.visits if self.visits else 0.0


class TagPathBandit:
    """Learns from which places of pages links are worth following."""

    Options = BanditOptions
    reads = Reads(context=True)

    def __init__(self, options: BanditOptions, knowledge: Knowledge) -> None:
        self.exploration = options.exploration
        self.groups = TagPathGroups(options.similarity, MOST_ARMS)
        self.arms: Notes[Arm] = Notes(Arm)
        self.experience = Experience(knowledge.seed)  # the value of a link is its arm
        self.model = LinearModel(PAIRS + FIRST)
        self._queues: dict[int, list[tuple[float, Fingerprint]]] = {}
        self._heads: set[tuple[float, Fingerprint]] = set()
        self._new = False  # the model, since the last dump
        self._t = 0

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link at the end of its arm's queue; `revise` raises the first ones."""
        self.settle(lease.fingerprint, verdict.relevant)
        if self.experience.waiting >= self.experience.most_waiting:
            self.experience.make_room(self.score)
            self.queue_up()
        if self.experience.due(self.model.age):
            self.learn()
        found = [SeenLink(pairs_of(link.url), self.arm(link)) for link in page.links]
        chances = self.score(found)
        for place, link in enumerate(page.links):
            if link.fingerprint not in self.experience.notes:
                self.enqueue(found[place], float(chances[place]), link.fingerprint)
        self.experience.expect(page.links, found, chances, self.score)
        level = lease.level_after(verdict)
        for link, p in zip(page.links, chances.tolist(), strict=True):
            yield Ranked(link, p + BELOW, below(p), level)

    def arm(self, link: Link) -> int:
        """The number of the arm that a link belongs to."""
        number = self.groups.group(link.path)
        if number not in self.arms:
            self.arms[number] = Arm(link.path)
        return number

    def bound(self, number: int) -> tuple[float, float]:
        """The mean reward of an arm, and its exploration bonus."""
        arm = self.arms[number]
        explored = self.exploration * sqrt(log(self._t + 1) / (arm.visits + 1))
        return arm.mean, explored

    def score(self, seen: Sequence[SeenLink]) -> Floats:
        """P of each link; ½ until something was learnt."""
        if not self.model.age or not seen:
            return np.full(len(seen), 0.5)
        rows = to_rows([one.features for one in seen], np.zeros(len(seen)))
        return self.model.predict(rows)

    def settle(self, fingerprint: Fingerprint, relevant: bool) -> None:
        """Record the outcome of a link for its arm and the regression."""
        known = self.experience.notes.get(fingerprint)
        if known and known.is_waiting:
            number = int(known.value)
            arm = self.arms[number]
            self.arms[number] = Arm(
                arm.founder, arm.visits + 1, arm.relevant + relevant
            )
            self._t += 1
            self.dequeue(number, float(self.score([known])[0]), fingerprint)
        self.experience.settle(fingerprint, relevant, 0.0)

    def enqueue(self, seen: SeenLink, p: float, fingerprint: Fingerprint) -> None:
        """Add a link to its arm's queue."""
        insort(self._queues.setdefault(int(seen.value), []), (-p, fingerprint))

    def dequeue(self, number: int, p: float, fingerprint: Fingerprint) -> None:
        """Remove a link from its arm's queue."""
        queue = self._queues.get(number, [])
        place = bisect_left(queue, (-p, fingerprint))
        if place < len(queue) and queue[place] == (-p, fingerprint):
            del queue[place]
        self._heads.discard((-p, fingerprint))

    def queue_up(self) -> None:
        """Rebuild the queues of all waiting links."""
        self._queues = {}
        fingerprints, seen = self.experience.all_waiting()
        chances = self.score(seen).tolist()
        for one, p, fingerprint in zip(seen, chances, fingerprints, strict=True):
            queue = self._queues.setdefault(int(one.value), [])
            queue.append((-p, fingerprint))
        for queue in self._queues.values():
            queue.sort()

    def learn(self) -> None:
        """Fit the regression to all visits."""
        if not all(self.experience.counts()):
            return
        examples = self.experience.examples()
        rows = to_rows([one.features for one in examples], np.zeros(len(examples)))
        labels = np.array([one.relevant for one in examples], np.float64)
        self.model.fit(rows, labels, self.experience.visits)
        self.queue_up()
        self._new = True

    def revise(self) -> Iterable[Revision]:
        """Raise the heads of all arms, and lower those that no longer are."""
        heads: set[tuple[float, Fingerprint]] = set()
        revised: dict[Fingerprint, Parts] = {}
        for number, queue in self._queues.items():
            mean, explored = self.bound(number)
            for head in queue[:HEADS]:
                heads.add(head)
                revised[head[1]] = {"R̄(a)": mean, "UCB": explored, "P": -head[0]}
        for cost, fingerprint in self._heads - heads:
            revised.setdefault(fingerprint, below(-cost))
        self._heads = heads
        return ((link, sum(parts.values()), parts) for link, parts in revised.items())

    def missed(self, lease: Lease, state: State) -> None:
        """Count a visit without a page as irrelevant."""
        self.settle(lease.fingerprint, relevant=False)

    def dump(self) -> bytes | None:
        """The regression, if it is new."""
        new, self._new = self._new, False
        return self.model.dump() if new else None

    def load(self, learnt: bytes) -> None:
        """Restore the regression."""
        self.model.load(learnt)

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on arms, by number, and on links that changed."""
        yield from self.arms.changes()
        yield from self.experience.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on arms and links."""
        every = list(notes)
        self.arms.recall(note for note in every if 0 <= note[0] < MOST_ARMS)
        self.experience.recall(note for note in every if not 0 <= note[0] < MOST_ARMS)
        self.groups.found([self.arms[key].founder for key in range(len(self.arms))])
        self._t = sum(arm.visits for arm in self.arms.values())
        self.queue_up()
        self._heads = {
            head for queue in self._queues.values() for head in queue[:HEADS]
        }


def below(p: float) -> Parts:
    """The parts of a link that is not among the best of its arm."""
    return {"P": p, f"{TIER}behind the best of its arm": BELOW}


def pairs_of(url: str) -> bytes:
    """The columns of the pairs of neighbouring characters in a URL."""
    data = np.frombuffer(url.partition("://")[2].encode(), np.uint8).astype(np.uint32)
    codes = (data[:-1] * np.uint32(257) + data[1:]) * np.uint32(2654435761)
    columns = (codes >> np.uint32(20)) + np.uint32(FIRST)
    return np.unique(columns).astype("<u4").tobytes()
