"""Measures a frontier on disk at one and ten million links: calls, memory, reopening.

Each size is filled in one process and reopened in another, so that their memory is
measured separately. Links point to 100,000 hosts by a power law. Times include a commit
every second, as the loop makes it; making the links is not counted. Hosts keep their
delays on a simulated clock, so that nothing waits.

Each take reads a row at a random place of the file. Whether that comes from the disk
depends on the page cache, so visits are measured both right after filling and after the
whole file was read once, with their CPU time and what they read from the disk.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from bench.table import show
from opilio.assembly.event_loop import run_loop
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import Link, Ranked, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import open_database
from opilio.text.urls import fingerprint

SIZES = (1_000_000, 10_000_000)
HOSTS = 100_000
BATCH = 500  # links in one call while filling; 100, those of a page, afterwards
PAGE = 100
NEW = 300_000  # in portions of a page: 64 MB, so that one checkpoint falls among them
LEAST_OLD = 4  # times as many links, at least, wait already
VISITS = 30_000
HELD = 3_000
HASTE = 0.1
SPREAD = 0x9E3779B97F4A7C15
LETTERS = str.maketrans("0123456789", "abcdefghij")  # no digits: no template
Figures = dict[str, float]


def link(number: int, promise: float | None = None) -> Ranked:
    """The link of this number, always the same."""
    chance = (number * SPREAD % 2**64) / 2**64
    host = int(HOSTS**chance)
    slug = str(number).translate(LETTERS)
    url = f"https://www.site-{host}.example/news/2026/{slug}-some-words-of-a-title.html"
    if promise is None:
        promise = (number * SPREAD % 2**61) / 2**61
    found = Link(url, fingerprint(url), "some words of a title")
    return Ranked(found, promise, {"page": 0.5, "anchor": 0.25})


class Stopwatch:
    """Adds up the time and CPU of its blocks, in seconds."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __enter__(self) -> None:
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu += time.process_time()

    def per(self, calls: int) -> Spent:
        """Microseconds a call."""
        return Spent(self.wall / calls * 1e6, self.cpu / calls * 1e6)


class Spent(NamedTuple):
    """Microseconds of wall time and of CPU."""

    wall: float
    cpu: float


class Bench:
    """A frontier with its stopwatch."""

    def __init__(self, folder: Path) -> None:
        self.db: Connection = open_database(folder / "crawl.db")
        self.now = 0.0
        self.watch = Stopwatch()
        self.committed = 0.0
        with self.watch:
            self.frontier = SqliteFrontier(
                self.db, PolitenessSettings(), BoundsSettings(), clock=lambda: self.now
            )
        self.opening = self.watch
        self.now += 1.0
        self.db.execute("BEGIN")

    async def add(self, batch: list[Ranked]) -> None:
        """Add links, timed."""
        with self.watch:
            await self.frontier.add(batch)
            self.commit_if_due()

    async def visit(self) -> None:
        """Take a link and finish it, timed."""
        self.now += 0.001
        with self.watch:
            lease = await self.frontier.take()
            assert lease is not None
            await self.frontier.done(lease, State.KEPT)
            self.commit_if_due()

    async def visit_held(self) -> None:
        """The same while links are held back for better ones, timed."""
        self.now += 0.001
        with self.watch:
            task = asyncio.ensure_future(self.frontier.take())
            await asyncio.sleep(0)
            while not task.done():
                self.now += 0.05
                self.frontier.steer(haste=HASTE)  # looks at the clock
                await asyncio.sleep(0)
            lease = task.result()
            assert lease is not None
            await self.frontier.done(lease, State.KEPT)
            self.commit_if_due()

    def commit_if_due(self) -> None:
        if time.perf_counter() - self.committed > 1.0:
            self.commit()

    def commit(self) -> None:
        self.db.execute("COMMIT")
        self.db.execute("BEGIN")
        self.committed = time.perf_counter()

    async def per_item(
        self, verb: Callable[..., Awaitable[None]], inputs: Iterable[tuple[object, ...]]
    ) -> Spent:
        """The time of a call, the last commit included."""
        self.commit()
        self.watch, calls = Stopwatch(), 0
        for arguments in inputs:
            await verb(*arguments)
            calls += 1
        with self.watch:
            self.commit()
        return self.watch.per(calls)


def new_links(size: int) -> int:
    """How many links are added to this many, page by page."""
    return min(NEW, size // LEAST_OLD)


def visits_at(size: int) -> int:
    """How many links are visited at a time where this many wait."""
    return min(VISITS, size // (2 * LEAST_OLD))


def batches(start: int, stop: int, size: int) -> Iterable[tuple[list[Ranked]]]:
    """New links in the order of their numbers."""
    for first in range(start, stop, size):
        yield ([link(number) for number in range(first, min(first + size, stop))],)


def known_pages(size: int) -> Iterable[tuple[list[Ranked]]]:
    """Pages whose links are all known, from all parts of the frontier."""
    for page in range(2000):
        numbers = ((page * PAGE + i) * 7919 % size for i in range(PAGE))
        yield ([link(number, promise=-1.0) for number in numbers],)


async def fill(folder: Path, size: int) -> Figures:
    """Fill a frontier, then use it at its full size."""
    bench = Bench(folder)
    filling = await bench.per_item(bench.add, batches(0, size, BATCH))
    more = new_links(size)
    new = await bench.per_item(bench.add, batches(size, size + more, PAGE))
    known = await bench.per_item(bench.add, known_pages(size))
    figures = {
        "add, filling (links/s)": BATCH / filling.wall * 1e6,
        "add, filling (µs of CPU/link)": filling.cpu / BATCH,
        "add, 100 new links (µs/link)": new.wall / PAGE,
        "add, 100 new links (µs of CPU/link)": new.cpu / PAGE,
        "add, 100 known links from anywhere (µs/page)": known.wall,
        "add, 100 known links from anywhere (µs of CPU/page)": known.cpu,
    }
    count = visits_at(size)
    figures |= await visits(bench, count, "")
    read_through(folder / "crawl.db")
    figures |= await visits(bench, count, ", file in memory")
    bench.frontier.steer(haste=HASTE)
    held = await bench.per_item(bench.visit_held, [()] * HELD)
    figures["take + done, links held back (µs)"] = held.wall
    figures["take + done, links held back (µs of CPU)"] = held.cpu
    figures["peak memory, filling (MB)"] = peak()
    bench.db.execute("COMMIT")
    bench.db.close()
    figures["file (MB)"] = (folder / "crawl.db").stat().st_size / 1e6
    return figures


async def reopen(folder: Path, size: int) -> Figures:
    """Open a full frontier and continue."""
    bench = Bench(folder)
    left = size + new_links(size) - 2 * visits_at(size) - HELD
    assert bench.frontier.counts().waiting == left
    figures = {
        "reopening (s)": bench.opening.wall,
        "reopening (s of CPU)": bench.opening.cpu,
        "peak memory, reopened (MB)": peak(),
    }
    figures |= await visits(bench, visits_at(size), ", reopened")
    bench.db.close()
    return figures


async def visits(bench: Bench, count: int, when: str) -> Figures:
    """The cost of taking and finishing a link."""
    read = bytes_read()
    spent = await bench.per_item(bench.visit, [()] * count)
    return {
        f"take + done{when} (µs)": spent.wall,
        f"take + done{when} (µs of CPU)": spent.cpu,
        f"take + done{when} (bytes from disk)": (bytes_read() - read) / count,
    }


def read_through(path: Path) -> None:
    """Bring the whole file into the page cache."""
    with path.open("rb") as file:
        while file.read(2**22):
            pass


def bytes_read() -> int:
    """The bytes this process has read from the disk, if the system tells."""
    try:
        counts = Path("/proc/self/io").read_text()
    except OSError:
        return 0
    return int(counts.partition("read_bytes: ")[2].split()[0])


def peak() -> float:
    """The peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(size: int) -> Figures:
    """All figures of one size."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for step in ("fill", "reopen"):
            command = [sys.executable, "-m", "bench.frontier", step, folder, str(size)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            figures |= json.loads(done.stdout)
    return figures


def main(sizes: Iterable[int] = SIZES) -> None:
    """Measure each size and print a table; the last column is the growth of cost."""
    results = {size: measure(size) for size in sizes}
    small, *_, large = results.values() if len(results) > 1 else [*results.values()] * 2
    rows = [
        (
            name,
            *(f"{figures[name]:,.1f}" for figures in results.values()),
            f"{large[name] / small[name]:.2f}" if small[name] else "",
        )
        for name in small
    ]
    header = ("frontier on SQLite", *(f"{size:,}" for size in results), "ratio")
    show("A frontier of many links", header, rows)


if __name__ == "__main__":
    if sys.argv[1:2] in (["fill"], ["reopen"]):
        step = {"fill": fill, "reopen": reopen}[sys.argv[1]]
        print(json.dumps(run_loop(step(Path(sys.argv[2]), int(sys.argv[3])))))
    else:
        main([int(size) for size in sys.argv[1:]] or SIZES)
