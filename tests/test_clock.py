"""The wall clock jumps by a day while a crawl runs: no burst, no stall."""

import asyncio
import os
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from crawling import Crawled
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticAnswer

DAY = 86_400
DELAY = 0.25
PAGES = 10
SLACK = 0.02  # between a client's clock and the moment a server reads the request
# The command with a wall clock that goes as a file says.
FAKED = """
import sys, time
real, path = time.time, sys.argv.pop(1)
time.time = lambda: real() + float(open(path).read() or 0)
from opilio.cli import main
main()
"""


async def started(life: Crawled, clock: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", FAKED, str(clock), *map(str, life.command())),
        stdout=asyncio.subprocess.DEVNULL,
        env=os.environ,
    )


async def requests(life: Crawled, count: int) -> None:
    while len(life.server.requests) < count:
        await asyncio.sleep(0.01)


def jump(clock: Path, by: float) -> None:
    new = clock.with_suffix(".new")
    new.write_text(str(by))
    new.replace(clock)


@pytest.mark.parametrize("days", [1, -1], ids=["forward", "back"])
@pytest.mark.parametrize("killed", [False, True], ids=["while it runs", "between runs"])
async def test_a_clock_that_jumps_neither_hurries_nor_stops_a_crawl(
    crawled, tmp_path: Path, days: int, killed: bool
):
    links = {f"/{n}": "honey" for n in range(PAGES)}
    web = {f"http://seed.test/{n}": page("Bees", f"honey {n}") for n in range(PAGES)}
    web["http://seed.test/"] = page("Bees", "honey", links)
    web["http://seed.test/robots.txt"] = SyntheticAnswer(
        200, (("content-type", "text/plain"),), b"User-agent: *\nDisallow: /private"
    )
    clock = tmp_path / "clock"
    jump(clock, 0)
    life = await crawled(
        SmallWeb(web),
        settings_text=f"[politeness]\ndelay = {DELAY}\n[store]\n"
        "min_free = 0\ncommit_every = 0.05\n",
    )
    process = await started(life, clock)
    await requests(life, 4)
    jump(clock, days * DAY)
    if killed:
        process.kill()
        await process.wait()
        process = await started(life, clock)
    await requests(life, 7)
    jump(clock, 0)
    assert await asyncio.wait_for(process.wait(), 60) == 0  # no stall
    assert life.rows("SELECT count(*) FROM page") == [(PAGES + 1,)]
    seen = [request.at for request in life.server.requests]
    gaps = [after - before for before, after in pairwise(seen)]
    assert min(gaps) >= DELAY - SLACK, gaps
