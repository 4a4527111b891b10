"""Measures what a page costs a bounded queue with 10⁴, 10⁵ and 10⁶ links parked on
disk.

The queue holds 1,000 links. For each page one link is visited, 5 new and 45 known links
are found, and 10 or 50 known links, nearly all of them parked, get a new promise; 5 of
these promise more than all others and enter the queue, so 5 others are displaced. A
commit is made every half second, as the crawl loop does, and at the end. As many pages
are visited, 1,000 at least, as it takes to revise each parked link once on average, so
that also what is put off is done. Each size has a process of its own. Run it with
`python -m bench.capacity`.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.frontier import link
from bench.table import show
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import open_database

SIZES = (10_000, 100_000, 1_000_000)
CAPACITY = 1_000
BATCH = 500
FEWEST_PAGES = 1_000
NEW = 5
REVISED = (10, 50)
WARM_UP = 100
COMMIT_SECONDS = 0.5


async def measure(folder: Path, parked: int, revised: int) -> dict[str, float]:
    """Fill a frontier until this many links are parked, then visit pages."""
    db = open_database(folder / "crawl.db")
    now = 0.0
    bounds = BoundsSettings(capacity=CAPACITY)
    frontier = SqliteFrontier(db, PolitenessSettings(), bounds, clock=lambda: now)
    db.execute("BEGIN")
    count = parked + CAPACITY
    for first in range(0, count, BATCH):
        await frontier.add([link(number) for number in range(first, first + BATCH)])
    db.execute("COMMIT")
    db.execute("BEGIN")
    chance = random.Random(7)
    pages = max(FEWEST_PAGES, parked // revised)
    cpu, wall, committed = 0.0, 0.0, time.perf_counter()
    for page in range(WARM_UP + pages):
        known = [chance.randrange(count) for _ in range(95)]
        found = [link(count + i) for i in range(NEW)] + [
            link(number, -1.0) for number in known[:45]
        ]
        count += NEW
        news = [
            (link(number).link.fingerprint, chance.random() + (place < NEW) * page)
            for place, number in enumerate(known[45 : 45 + revised])
        ]
        now += 1.0
        begun_cpu, begun = time.process_time(), time.perf_counter()
        lease = await frontier.take()
        assert lease is not None
        await frontier.add(found, lease)
        await frontier.revise(news)
        await frontier.done(lease, State.KEPT)
        if time.perf_counter() - committed > COMMIT_SECONDS:
            await frontier.flush()
            db.execute("COMMIT")
            db.execute("BEGIN")
            committed = time.perf_counter()
        if page >= WARM_UP:
            cpu += time.process_time() - begun_cpu
            wall += time.perf_counter() - begun
    begun_cpu, begun = time.process_time(), time.perf_counter()
    await frontier.flush()
    db.execute("COMMIT")
    cpu += time.process_time() - begun_cpu
    wall += time.perf_counter() - begun
    counts = frontier.counts()
    assert counts.waiting == CAPACITY
    agenda = frontier._agenda
    backlogs = [host.backlog for host in agenda.hosts]
    return {
        "parked": counts.ended[State.PARKED, "capacity"],
        "cpu": cpu / pages * 1e6,
        "wall": wall / pages * 1e6,
        "entries": sum(len(one._near) + len(one._far or ()) for one in backlogs),
    }


def main() -> None:
    """Measure each size in a process of its own."""
    for revised in REVISED:
        figures = []
        for size in SIZES:
            command = [sys.executable, "-m", "bench.capacity", str(size), str(revised)]
            ended = subprocess.run(command, capture_output=True, text=True, check=True)
            figures.append(json.loads(ended.stdout))
        report(revised, figures)


def report(revised: int, figures: list[dict[str, float]]) -> None:
    """Print the figures of all sizes."""
    first = figures[0]
    show(
        f"A queue of {CAPACITY:,} links, {revised} promises revised, per page",
        ["links parked", "CPU µs", "ratio", "wall µs", "entries in the queue"],
        [
            [
                f"{each['parked']:,}",
                f"{each['cpu']:,.0f}",
                f"{each['cpu'] / first['cpu']:.2f}",
                f"{each['wall']:,.0f}",
                f"{each['entries']:,}",
            ]
            for each in figures
        ],
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as place:
            measured = asyncio.run(measure(Path(place), *map(int, sys.argv[1:])))
            print(json.dumps(measured))
    else:
        main()
