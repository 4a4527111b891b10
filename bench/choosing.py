"""Measures the default judge and strategy together, by the number of waiting links.

Made-up pages of 80 links with word vectors, 10 of them known from other pages, decoded
from what a reader sends just before they are judged, as in a crawl. Figures
are CPU milliseconds a page of `judge`, `rank`, `revise` and the notes together, means
over a stretch in which the waiting links grow by a quarter, so that periodic learning
counts as often as it happens. Beside them: the bytes that the strategy holds for each
waiting link. Run it with `python -m bench.choosing [LINKS ...]`.
"""

from __future__ import annotations

import gc
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `opilio` does

import msgspec
import numpy as np
import numpy.typing as npt

from bench.ranking import fingerprint
from bench.table import show
from opilio.assembly.event_loop import RARELY
from opilio.judge.opilio import Opilio as Judge
from opilio.records import (
    Counted,
    Knowledge,
    Lease,
    Link,
    LinkPart,
    LinkTerms,
    Page,
    Subject,
)
from opilio.strategies.opilio import Opilio, OpilioOptions
from opilio.vectors.words import DIMENSIONS

LINKS, KNOWN = 80, 10  # of a page; of them, that other pages have as well
WAITING = (10_000, 100_000, 1_000_000)
GROWTH = 1.25  # measured until so many times as many wait
COMMIT = 16  # pages between two commits, when what the judge learnt is kept
KEYWORDS = tuple(f"keyword{number}" for number in range(12))
KINDS, BODIES, HOSTS, WORDS = 5000, 400, 300, 300
INVERSE = pow(0x9E3779B97F4A7C15, -1, 2**64)  # of what spreads fingerprints
ENCODE, DECODE = msgspec.msgpack.encode, msgspec.msgpack.Decoder(Page).decode
ALLOWED_MS, ALLOWED_GROWTH, ALLOWED_BYTES = 0.6, 1.2, 150


class Web:
    """An endless web: every page has links that no other page has."""

    def __init__(self, seed: int = 5) -> None:
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.words = self.numbers.integers(0, 2**64, 20_000, np.uint64)
        self.kinds = [self.kind() for _ in range(KINDS)]
        self.bodies = [self.body() for _ in range(BODIES)]
        self.found = 1  # links so far
        self.choose: Callable[[int], int] = self.rng.randrange

    def units(self, count: int) -> npt.NDArray[np.float64]:
        """Random unit vectors."""
        rows = self.numbers.normal(size=(count, DIMENSIONS))
        return rows / np.linalg.norm(rows, axis=1)[:, None]

    def packed(self, count: int) -> bytes:
        """The same as pages and links have them."""
        return np.rint(self.units(count) * 127).astype(np.int8).tobytes()

    def counted(self) -> Counted:
        """One keyword or none."""
        chosen = self.rng.random() < 0.2
        return Counted({self.rng.choice(KEYWORDS): 1}, 3.0) if chosen else Counted()

    def kind(self) -> Link:
        """All of a link but its address."""
        rng = self.rng
        words = [
            rng.choice(list(LinkPart)) << 29 | int(rng.choice(self.words)) >> 35
            for _ in range(25)
        ]
        terms = LinkTerms(self.counted(), self.counted(), self.counted())
        return Link(
            "",
            0,
            "an anchor of words",
            path=rng.choice(("body/main/ul/li/a", "body/nav/a", "body/div/p/a")),
            terms=None if terms == LinkTerms() else terms,
            words=np.array(words, "<u4").tobytes(),
            vector=self.packed(1),
        )

    def body(self) -> Page:
        """All of a page but its links."""
        rng = self.rng
        terms = {key: rng.randint(1, 5) for key in rng.sample(KEYWORDS, 4)}
        stems = np.sort(self.numbers.choice(self.words, WORDS, replace=False))
        counts = self.numbers.geometric(0.5, WORDS)
        return Page(
            url="",
            title="A title",
            language="en",
            charset="utf-8",
            words=600,
            terms=terms,
            norm=20.0,
            simhash=1,
            links=(),
            title_terms=self.counted(),
            stems=stems.astype("<u8").tobytes(),
            counts=counts.astype("<u2").tobytes(),
            vectors=self.packed(3),
        )

    def host(self, number: int) -> str:
        """Links that were found together lead to a handful of hosts."""
        return f"host{number // 16 % HOSTS}.test"

    def url(self, number: int) -> str:
        """The address of a link."""
        return f"http://{self.host(number)}/folder/page{number}.html"

    def link(self, number: int) -> Link:
        """The link of that number."""
        kind = self.kinds[number * 7919 % KINDS]
        return msgspec.structs.replace(
            kind, url=self.url(number), fingerprint=fingerprint(number)
        )

    def visits(self) -> Iterator[tuple[Page, Lease]]:
        """An endless sequence of visits to the chosen links."""
        rng = self.rng
        while True:
            first, self.found = self.found, self.found + LINKS - KNOWN
            numbers = [rng.randrange(first) for _ in range(KNOWN)]
            numbers += range(first, self.found)
            links = [self.link(number) for number in dict.fromkeys(numbers)]
            number = self.choose(first)
            url = self.url(number)
            body = rng.choice(self.bodies)
            page = DECODE(ENCODE(msgspec.structs.replace(body, url=url, links=links)))
            lease = Lease(number, url, fingerprint(number), self.host(number), 0.5)
            yield page, lease

    def subject(self) -> Subject:
        """Keywords with vectors."""
        vectors = self.units(len(KEYWORDS)).astype("<f4")
        return Subject(
            weights=dict.fromkeys(KEYWORDS, 1.0),
            vectors={
                key: row.tobytes() for key, row in zip(KEYWORDS, vectors, strict=True)
            },
        )


class Run:
    """Judge and strategy at work on a web of their own."""

    def __init__(self) -> None:
        self.pages = 0
        self.web = Web()
        self.visits = self.web.visits()
        subject = self.web.subject()
        self.judge = Judge(subject)
        self.strategy = Opilio(OpilioOptions(), Knowledge(subject=subject))
        self.web.choose = self.choose

    def choose(self, found: int) -> int:
        """The number of the best link, as a crawl would take it."""
        strategy = self.strategy
        head = strategy.pool.head
        if not len(head):
            return 0
        best = head[strategy.waiting.told[head].argmax()]
        print_ = int(strategy.waiting.link[best])
        return print_ * INVERSE % 2**64

    def step(self) -> tuple[float, float]:
        """One page; returns the CPU seconds of judging and of choosing."""
        page, lease = next(self.visits)
        begun = time.process_time()
        verdict = self.judge.judge(page)
        self.pages += 1
        if self.pages % COMMIT == 0:
            for part in self.judge.learners().values():
                part.dump()
        judged = time.process_time()
        for _ in self.strategy.rank(page, verdict, lease):
            pass
        for _ in chain(self.strategy.revise(), self.strategy.changes()):
            pass
        return judged - begun, time.process_time() - judged

    def until(self, links: float) -> list[tuple[float, float]]:
        """The cost of each page until this many links wait."""
        costs = []
        while self.strategy.waiting.count < links:
            costs.append(self.step())
        return costs

    @property
    def bytes_a_link(self) -> float:
        """Memory of the strategy's columns and tables for each waiting link."""
        waiting = self.strategy.waiting
        return waiting.bytes / waiting.count


def main(*wanted: str) -> None:
    """Measure it with so many links."""
    gc.freeze()  # as a crawl does
    gc.set_threshold(*RARELY)
    run = Run()
    rows, first = [], 0.0
    for links in map(int, wanted or WAITING):
        run.until(links)
        costs = run.until(GROWTH * links)
        judging = statistics.mean(cost[0] for cost in costs) * 1e3
        choosing = statistics.mean(cost[1] for cost in costs) * 1e3
        both = judging + choosing
        first = first or both
        misses = [
            name
            for name, value, allowed in (
                ("slow", both, ALLOWED_MS),
                ("grows", both / first, ALLOWED_GROWTH),
                ("big", run.bytes_a_link, ALLOWED_BYTES),
            )
            if value > allowed
        ]
        rows.append(
            (
                f"{links:,}",
                f"{judging:.3f}",
                f"{choosing:.3f}",
                f"{both:.3f}",
                f"{both / first:.2f}",
                f"{max(map(sum, costs)) * 1e3:.0f}",
                f"{run.bytes_a_link:.0f}",
                ", ".join(misses),
            )
        )
    show(
        f"Judging and choosing, ms of CPU for a page of {LINKS} links",
        ("wait", "judge", "choose", "both", "times", "longest", "bytes", ""),
        rows,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
