"""Measures what ranking a page of 100 links costs each strategy as links accumulate.

Pages are generated with everything that any strategy reads. It prints CPU microseconds
per page of rank, revise and changes together, while 1,000 to 2,000 links wait and while
1,000,000 to 1,250,000 do. These are means, because work done at growing intervals must
count; beside them is the longest time for one page. Growth beyond 1.5 times is marked.
Run it with `python -m bench.ranking [NAME[,OPTION=VALUE...] ...]`.
"""

from __future__ import annotations

import gc
import random
import statistics
import sys
import time
from collections.abc import Iterator
from itertools import chain

import numpy as np

from bench.table import show
from opilio.assembly.event_loop import RARELY
from opilio.errors import OpilioError
from opilio.protocols import Observer, Remembering, Reviser, Strategy
from opilio.records import (
    Block,
    ClassFeatures,
    Counted,
    Knowledge,
    Lease,
    Link,
    LinkPart,
    LinkTerms,
    Page,
    State,
    Subject,
    Verdict,
)
from opilio.settings import build_section
from opilio.strategies import load_strategy, strategies

LINKS = 100  # a page
KNOWN = 10  # of them, that other pages have as well
FEW, MANY = 1_000, 1_000_000  # links that wait
GROWTH = 1.25  # measured until many have become so many times as many
PARTS = 40  # in which that is done
WANTED = 1.5  # times, at most
TERMS = tuple(f"term{number}" for number in range(20))
KINDS = 500  # of links, beside their URLs
HOSTS = 200
MISSED = 20  # one visit in so many gives no page


class MadeUp:
    """An endless web: every page has links that no other page has."""

    def __init__(self, seed: int = 5) -> None:
        self.rng = random.Random(seed)
        self.kinds = [self.kind() for _ in range(KINDS)]
        self.bodies = [self.body() for _ in range(50)]
        self.found = 1  # links so far; link n has the fingerprint n·ODD

    def counted(self) -> Counted:
        """A few terms."""
        terms = self.rng.sample(TERMS, self.rng.choice((0, 0, 1, 2)))
        return Counted(dict.fromkeys(terms, 1), 3.0) if terms else Counted()

    def kind(self) -> tuple[object, ...]:
        """All of a link but its URL: one in two has terms."""
        rng = self.rng
        terms = LinkTerms(self.counted(), self.counted(), self.counted())
        words = [
            rng.choice(list(LinkPart)) << 29 | rng.getrandbits(11) * 2**18
            for _ in range(12)
        ]
        return (
            "an anchor of words",
            "some words before",
            "and some after it",
            "",
            rng.randrange(8),
            rng.choice(("body/main/ul/li/a", "body/nav/a", "body/div/p/a")),
            terms if rng.random() < 0.5 else None,
            np.array(words, "<u4").tobytes(),
        )

    def body(self) -> Page:
        """All of a page but its links."""
        rng = self.rng
        terms = {term: rng.randint(1, 5) for term in rng.sample(TERMS, 6)}
        blocks = [
            Block("A heading", 2, number - 1, words=80, terms=terms, norm=9.0, most=5)
            for number in range(8)
        ]
        stems = np.unique(np.array([rng.getrandbits(64) for _ in range(300)], "<u8"))
        return Page(
            url="http://host.test/page",
            title="A title",
            language="en",
            charset="utf-8",
            words=600,
            terms=terms,
            norm=20.0,
            simhash=1,
            links=(),
            title_terms=self.counted(),
            url_terms=self.counted(),
            blocks=blocks,
            stems=stems.tobytes(),
            counts=np.ones(len(stems), "<u2").tobytes(),
        )

    def link(self, number: int) -> Link:
        """The link of that number."""
        url = f"http://host{number % HOSTS}.test/folder/page{number}.html"
        return Link(url, fingerprint(number), *self.kinds[number % KINDS])

    def visits(self) -> Iterator[tuple[Page, Verdict, Lease]]:
        """An endless sequence of visits to links found before."""
        rng = self.rng
        while True:
            first, self.found = self.found, self.found + LINKS - KNOWN
            numbers = [rng.randrange(first) for _ in range(KNOWN)]
            numbers += range(first, self.found)
            body = rng.choice(self.bodies)
            links = [self.link(number) for number in dict.fromkeys(numbers)]
            page = Page(*[getattr(body, name) for name in BEFORE], links, *rest(body))
            score = rng.random()
            yield page, Verdict(score, score > 0.7), self.lease(rng.randrange(first))

    def lease(self, number: int) -> Lease:
        """The right to visit the link of that number."""
        host = f"host{number % HOSTS}.test"
        url = f"http://{host}/folder/page{number}.html"
        return Lease(
            number, url, fingerprint(number), host, 0.5, number % 9, number % 3
        )


FIELDS = Page.__struct_fields__
BEFORE = FIELDS[: FIELDS.index("links")]


def rest(page: Page) -> list[object]:
    """What comes after the links in a page."""
    return [getattr(page, name) for name in FIELDS[len(BEFORE) + 1 :]]


def fingerprint(number: int) -> int:
    """Numbers spread over 64 bits, each its own."""
    return (number * 0x9E3779B97F4A7C15 + 2**63) % 2**64 - 2**63


def knowledge(web: MadeUp) -> Knowledge:
    """All that a topic may say."""
    concepts = {term: (term.title(), 0.5) for term in TERMS}
    features = ClassFeatures(representative=TERMS[:5], related=dict.fromkeys(TERMS, 1))
    subject = Subject(
        weights=dict.fromkeys(TERMS, 1.0),
        importance=dict.fromkeys(TERMS, 1.0),
        concepts=concepts,
        classes={"Sought": features, "Other": features},
        targets=("Sought",),
        relevant=web.bodies[:5],
        irrelevant=web.bodies[5:10],
    )
    return Knowledge(subject=subject, seed=1, look_ahead=lambda page, hops: 0.5)


def make(name: str, web: MadeUp) -> Strategy:
    """A new strategy: its name, and options after commas."""
    name, *given = name.split(",")
    made = load_strategy(strategies()[name])
    options = dict(option.split("=") for option in given)
    return made(
        build_section(options, made.Options, name, strict=False), knowledge(web)
    )


class Run:
    """A strategy at work on a web of its own."""

    def __init__(self, name: str) -> None:
        self.web = MadeUp()
        self.visits = self.web.visits()
        self.strategy = make(name, self.web)
        strategy = self.strategy
        self.revise = strategy.revise if isinstance(strategy, Reviser) else tuple
        self.changes = strategy.changes if isinstance(strategy, Remembering) else tuple

    def step(self) -> float:
        """Let it rank a page; returns the CPU seconds of all calls."""
        page, verdict, lease = next(self.visits)
        begun = time.process_time()
        for _ in self.strategy.rank(page, verdict, lease):
            pass
        for _ in chain(self.revise(), self.changes()):
            pass
        took = time.process_time() - begun
        if lease.id % MISSED == 0 and isinstance(self.strategy, Observer):
            self.strategy.missed(self.web.lease(lease.id // 2), State.UNUSABLE)
        return took

    def until(self, links: float) -> list[float]:
        """What each page takes until so many links were found."""
        costs = []
        while self.web.found < links:
            costs.append(self.step())
        return costs


def measure(name: str) -> tuple[list[float], list[float]]:
    """CPU seconds of pages while few and while many links wait, taken in turn, so that
    a busy machine slows both alike."""
    few: list[float] = []
    many: list[float] = []
    run = Run(name)
    run.until(MANY)
    for part in range(1, PARTS + 1):
        many += run.until(MANY * (1 + (GROWTH - 1) * part / PARTS))
        small = Run(name)
        small.until(FEW)
        few += small.until(2 * FEW)
    return few, many


def row(name: str) -> tuple[str, ...]:
    """The figures of a strategy, or the reason why there are none."""
    try:
        few, many = measure(name)
    except OpilioError as error:
        return name, "-", "-", "-", "-", str(error)
    first, last = statistics.mean(few) * 1e6, statistics.mean(many) * 1e6
    growth = last / first
    return (
        name,
        f"{first:.0f}",
        f"{last:.0f}",
        f"{growth:.2f}",
        f"{max(many) * 1e3:.1f}",
        "grows" if growth > WANTED else "",
    )


def main(*names: str) -> None:
    """Measure these strategies, or all of them."""
    gc.freeze()  # as a crawl does
    gc.set_threshold(*RARELY)
    rows = [row(name) for name in names or sorted(strategies())]
    show(
        f"Ranking a page of {LINKS} links, µs of CPU, by how many wait",
        ("", f"{FEW:,}", f"{MANY:,}", "times", "longest, ms", ""),
        rows,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
