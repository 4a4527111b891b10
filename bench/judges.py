"""Measures how well judges recognise relevant pages, by the labels of a real web.

On ../shared/webs/schools it prints the average precision over all pages, and precision,
recall and F1 at the judge's own threshold; `off` is how far its scores are from
probabilities. Judges never see labels.

A judge that learns is shown all pages once, in a shuffled order. `at first sight` are
the verdicts it gave then, as a crawl would get them; `in the end` are its verdicts on
the same pages afterwards. Example pages and the order are drawn at random for each
seed, examples from the relevant pages; they are neither shown nor ranked.

Run it with `python -m bench.judges`, or with `more` for 36 other topics (see
judge_topics.py), and the number of seeds.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from bench.judge_topics import MORE
from bench.read import load
from bench.table import show
from opilio.judge import JUDGES, Learning, Linear, Svm
from opilio.lab.webs import open_web
from opilio.protocols import Judge
from opilio.records import Page, ReaderSetup, Subject, Verdict
from opilio.subject.compile import compile_topic
from opilio.subject.page_reader import make_reader
from opilio.topic import Topic, load_topic
from opilio.topic.file import Evaluation, OntologyFiles

SHARED = Path(__file__).resolve().parents[2] / "shared"
WEB = SHARED / "webs/schools"
THESAURUS = SHARED / "data/unesco-thesaurus.ttl"
WITH_ONTOLOGY = ("association", "ontoclassifier")
EXAMPLES = (5, 20)
SEEDS = 5


class Task(NamedTuple):
    """A topic, and which of all pages are relevant to it."""

    name: str
    subject: Subject
    relevant: frozenset[int]  # by number


class Quality(NamedTuple):
    """How good the verdicts on a set of pages are."""

    average_precision: float
    precision: float
    recall: float
    f1: float
    off: float  # how far scores are from the share of relevant pages: ECE, ten bins


def topics(more: bool) -> Iterator[Topic]:
    """The topics of the web, or the other ones."""
    if more:
        for label, keywords in MORE.items():
            evaluation = Evaluation(relevant_labels=(label,))
            yield Topic(name=label, keywords=tuple(keywords), evaluation=evaluation)
    else:
        yield from map(load_topic, open_web(WEB).topics.values())


def subject_of(topic: Topic) -> Subject:
    """The subject that judges receive; with the thesaurus for those that use one."""
    if THESAURUS.exists():
        files = OntologyFiles(files=(str(THESAURUS),))
        topic = msgspec.structs.replace(topic, ontology=files)
    return compile_topic(topic)


def read_pages(terms: Sequence[str]) -> list[Page]:
    """All pages, read with everything that any judge asks for, for all topics at
    once."""
    setup = ReaderSetup(tuple(terms), "en", blocks=True, vector=True, overlapping=True)
    reader = make_reader(setup)
    warcs = open_web(WEB).warcs  # -1: all of their pages
    responses = (response for warc in warcs for response in load(warc, -1))
    read = map(reader.read, responses)
    return [msgspec.structs.replace(page, links=()) for page in read]


def read_labels() -> dict[str, list[str]]:
    """The labels of each URL."""
    labels: dict[str, list[str]] = {}
    for line in open_web(WEB).labels.read_text(encoding="utf-8").splitlines():
        url, label = line.split("\t")
        labels.setdefault(url, []).append(label)
    return labels


def is_one_of(label: str, wanted: Sequence[str]) -> bool:
    """Whether a label is wanted, or below one that is."""
    return any(label == name or label.startswith(f"{name}.") for name in wanted)


def tasks(chosen: Sequence[Topic]) -> tuple[list[Page], list[Task]]:
    """All pages, and what is sought among them."""
    subjects = [subject_of(topic) for topic in chosen]
    pages = read_pages(
        list(dict.fromkeys(t for subject in subjects for t in subject.terms))
    )
    labels = read_labels()
    found = []
    for topic, subject in zip(chosen, subjects, strict=True):
        wanted = topic.evaluation.relevant_labels
        relevant = frozenset(
            number
            for number, page in enumerate(pages)
            if any(is_one_of(label, wanted) for label in labels.get(page.url, ()))
        )
        found.append(Task(topic.name, subject, relevant))
    return pages, found


def quality(verdicts: Mapping[int, Verdict], relevant: frozenset[int]) -> Quality:
    """Of verdicts on pages, by number; equal scores in the order of the numbers."""
    sought = relevant & verdicts.keys()
    ranking = sorted(verdicts, key=lambda number: (-verdicts[number].score, number))
    places = [place for place, number in enumerate(ranking, 1) if number in sought]
    average = statistics.mean(found / place for found, place in enumerate(places, 1))
    kept = {number for number, verdict in verdicts.items() if verdict.relevant}
    hits = len(kept & sought)
    f1 = 2 * hits / (len(kept) + len(sought))
    precision = hits / max(len(kept), 1)
    off = calibration_error(verdicts, relevant)
    return Quality(average, precision, hits / len(sought), f1, off)


def calibration_error(
    verdicts: Mapping[int, Verdict], relevant: frozenset[int]
) -> float:
    """The mean distance of scores from the share of relevant pages with such scores:
    the expected calibration error over ten bins of equal width."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(10)]
    for number, verdict in verdicts.items():
        place = min(int(verdict.score * 10), 9)
        bins[place].append((verdict.score, number in relevant))
    off = (
        abs(sum(score for score, _ in some) - sum(is_one for _, is_one in some))
        for some in bins
    )
    return sum(off) / max(len(verdicts), 1)


def judge_all(
    judge: Judge, pages: Sequence[Page], left_out: set[int], seed: int
) -> tuple[dict[int, Verdict], dict[int, Verdict]]:
    """The verdicts at first sight and in the end."""
    order = np.random.default_rng(1000 + seed).permutation(len(pages)).tolist()
    at_first = {
        number: judge.judge(pages[number]) for number in order if number not in left_out
    }
    if isinstance(judge, Learning):
        return at_first, {number: judge.look(pages[number]) for number in at_first}
    return at_first, at_first


def from_keywords(
    name: str, seeds: int, pages: Sequence[Page], task: Task
) -> tuple[Quality, Quality]:
    """How good a judge is that knows the keywords alone."""
    subject = task.subject
    if name not in WITH_ONTOLOGY:
        subject = Subject(weights=subject.weights)
    first, last = [], []
    for seed in range(seeds if name == "bootstrapped" else 1):
        verdicts = judge_all(JUDGES[name](subject), pages, set(), seed)
        first.append(quality(verdicts[0], task.relevant))
        last.append(quality(verdicts[1], task.relevant))
    return mean(first), mean(last)


def from_examples(
    kind: type[Linear], count: int, seeds: int, pages: Sequence[Page], task: Task
) -> tuple[Quality, Quality]:
    """How good a judge is with keywords and so many examples."""
    first, last = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        # Of a small topic at least half is left to be found.
        size = min(count, len(task.relevant) // 2)
        chosen = rng.choice(sorted(task.relevant), size, replace=False).tolist()
        examples = [pages[number] for number in chosen]
        judge = kind(Subject(weights=task.subject.weights, relevant=examples))
        at_first, in_the_end = judge_all(judge, pages, set(chosen), seed)
        first.append(quality(at_first, task.relevant))
        last.append(quality(in_the_end, task.relevant))
    return mean(first), mean(last)


def mean(qualities: Sequence[Quality]) -> Quality:
    """The mean of each figure."""
    return Quality(*map(statistics.mean, zip(*qualities, strict=True)))


Rows = dict[str, list[Quality]]


def measure(
    pages: Sequence[Page], sought: Sequence[Task], seeds: int, progress: bool
) -> Rows:
    """The quality of each judge, topic by topic."""
    rows: Rows = {}

    def add(row: str, found: tuple[Quality, Quality], learns: bool) -> None:
        if learns:
            rows.setdefault(f"{row}, at first sight", []).append(found[0])
            rows.setdefault(f"{row}, in the end", []).append(found[1])
        else:
            rows.setdefault(row, []).append(found[0])

    for task in sought:
        if progress:
            print(task.name, file=sys.stderr)
        for name in JUDGES:
            if (
                name in ("linear", "svm", "embedding", "llm") or "," in name
            ):  # elsewhere
                continue
            if name in WITH_ONTOLOGY and not THESAURUS.exists():
                continue
            if name in WITH_ONTOLOGY and not task.subject.concepts:
                nothing = Quality(len(task.relevant) / len(pages), 0.0, 0.0, 0.0, 0.0)
                add(name, (nothing, nothing), learns=False)
                continue
            found = from_keywords(name, seeds, pages, task)
            add(name, found, learns=name == "bootstrapped")
        for kind in (Linear, Svm):
            for count in EXAMPLES:
                found = from_examples(kind, count, seeds, pages, task)
                add(f"{kind.name}, {count} examples", found, learns=True)
    return rows


def cells(values: Sequence[Quality], of: Callable[[Quality], float]) -> list[str]:
    """A figure of each topic, and the mean."""
    figures = [of(value) for value in values]
    return [f"{value:.3f}" for value in (*figures, statistics.mean(figures))]


def main(which: str = "", seeds: str = "") -> None:
    """Measure all judges and print the tables."""
    more = which == "more"
    pages, sought = tasks(list(topics(more)))
    print(f"\n{len(pages)} pages, {len(sought)} topics")
    rows = measure(pages, sought, int(seeds or (1 if more else SEEDS)), progress=True)
    if not more:
        names = [f"{task.name} ({len(task.relevant)})" for task in sought]
        show(
            "Average precision",
            ("judge", *names, "mean"),
            [(row, *cells(values, lambda q: q[0])) for row, values in rows.items()],
        )
    show(
        "In the mean over topics; the last three at the judge's own threshold",
        ("judge", "average precision", "precision", "recall", "F1", "off"),
        [(row, *(f"{v:.3f}" for v in mean(values))) for row, values in rows.items()],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
