"""Measures the CPU of a visit to one host as more and more links wait for it.

The cost must not grow with the number of waiting links: of a million links only the
best are looked at. Run it with `python -m bench.big_host`.
"""

from __future__ import annotations

import random
import time

from bench.table import show
from opilio.assembly.event_loop import run_loop
from opilio.frontier.memory import MemoryFrontier
from opilio.records import Link, Ranked, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.text.urls import fingerprint

SIZES = (20_000, 200_000, 1_000_000)
NEW = (0, 20)  # links of a page that were not known
VISITS = 2_000


async def measure(size: int) -> list[float]:
    """CPU microseconds of a visit, for each number of new links."""
    rng = random.Random(size)
    frontier = MemoryFrontier(
        PolitenessSettings(delay=0, ip_delay=0),
        BoundsSettings(per_template=0, novelty=0),
    )
    known = 0

    async def find(count: int) -> None:
        nonlocal known
        found = []
        for number in range(known, known + count):
            url = f"http://big.example/{number}"
            found.append(Ranked(Link(url, fingerprint(url)), rng.random()))
        known += count
        await frontier.add(found)

    for _ in range(0, size, 1000):
        await find(1000)
    costs = []
    for new in NEW:
        start = time.process_time()
        for _ in range(VISITS):
            lease = await frontier.take()
            assert lease
            await find(new)
            await frontier.done(lease, State.KEPT)
        costs.append((time.process_time() - start) / VISITS * 1e6)
    return costs


def main() -> None:
    """Print a row for each number of links."""
    rows = [
        [f"{size:,}", *(f"{cost:.0f}" for cost in run_loop(measure(size)))]
        for size in SIZES
    ]
    header = ["links that wait", *(f"{new} new links" for new in NEW)]
    show("One host: CPU of a visit, microseconds", header, rows)


if __name__ == "__main__":
    main()
