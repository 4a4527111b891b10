"""Crawls a synthetic web beside hostile hosts, is killed at random, and loses nothing.

    python -m bench.soak_hostile [PAGES [KILLS [FOLDER [MINUTES]]]]

One in twenty hosts plays an attack of `opilio.lab.hostile`, with links to it from pages
of the web. The same pages are crawled twice: without hostile hosts and kills, and with
both. Shown are memory, CPU and open files of the second crawl at each tenth, and then
what was lost or fetched twice, and how many relevant pages of the web both have found.

With FOLDER, a soak can be made in pieces: each ends after MINUTES (by one more kill),
and the same command continues it. Its figures so far are shown each time.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from warcio.archiveiterator import ArchiveIterator

from bench.soak import cpu_of, resident
from bench.soak_web import SoakServer, served
from bench.table import show
from opilio.lab.synthetic.dials import Dials

OPILIO = str(Path(sys.executable).with_name("opilio"))
IN_FLIGHT = 32
SAVED_EVERY = 60.0  # seconds
SETTINGS = f"""
[crawl]
in_flight = {IN_FLIGHT}
[politeness]
delay = 0.0
ip_delay = 0.0
per_host = 4
max_delay = 0.0
max_rest = 5.0
[fetch]
timeout = 20.0
[store]
min_free = 0
"""


class Sample(NamedTuple):
    """The state of a crawl at one time."""

    pages: int
    seconds: float
    loop_mb: float
    readers_mb: float
    files: int
    cpu: float  # seconds so far, of all processes and lives
    opening: float  # of these, before the first page of each life


class SoakCrawl:
    """A crawl that is killed when the server was asked so often.

    What the server and the processes did is kept in soak.json, beside the crawl.
    """

    def __init__(self, home: Path, server: SoakServer, pages: int, kills: int) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.folder = home / "crawl"
        self.notes = home / "soak.json"
        self.server = server
        self.pages = pages
        self.topic, self.settings = home / "soak.toml", home / "settings.toml"
        self.topic.write_text(server.web.topic_file(server.web.topics[0]))
        self.settings.write_text(SETTINGS)
        rng = random.Random(pages)
        self.kills = sorted(rng.uniform(0.01, 1.0) * pages for _ in range(kills))
        self.killed = 0  # as planned
        self.pieces = 0  # kills at the end of a piece
        self.ended = False
        self.samples: list[Sample] = []
        self.earlier_cpu = self.cpu = self.opening = self.earlier = 0.0
        self.restore()
        self.began = self.saved = time.monotonic()

    def restore(self) -> None:
        """Continue with what was noted."""
        if not self.notes.exists():
            return
        told = json.loads(self.notes.read_text())
        self.samples = [Sample(*row) for row in told["samples"]]
        self.killed, self.pieces = told["killed"], told["pieces"]
        self.ended, self.opening = told["ended"], told["opening"]
        self.earlier_cpu, self.earlier = told["cpu"], told["seconds"]
        self.server.fetched.update(told["fetched"])
        self.server.attempts.update(told["attempts"])
        self.server.requests.update(told["requests"])

    def save(self) -> None:
        """Note what happened so far."""
        told = {
            "samples": self.samples,
            "killed": self.killed,
            "pieces": self.pieces,
            "ended": self.ended,
            "opening": self.opening,
            "cpu": self.earlier_cpu + self.cpu,
            "seconds": self.seconds,
            "fetched": self.server.fetched,
            "attempts": self.server.attempts,
            "requests": self.server.requests,
        }
        fresh = self.notes.with_suffix(".new")
        fresh.write_text(json.dumps(told))
        fresh.replace(self.notes)
        self.saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has run, in all pieces."""
        return self.earlier + time.monotonic() - self.began

    @property
    def asked(self) -> int:
        """How many pages of the web were asked for."""
        return len(self.server.fetched)

    async def run(self, until: float) -> None:
        """Crawl until it ends by itself, or the time is over."""
        while not self.ended and time.monotonic() < until:
            self.ended = await self.live(until)
            self.earlier_cpu += self.cpu
            self.cpu = 0.0
            self.save()

    async def live(self, until: float) -> bool:
        """One life; whether it ended by itself."""
        known = (self.folder / "crawl.toml").exists()
        before, opening = sum(self.server.fetched.values()), 0.0
        process = await asyncio.create_subprocess_exec(
            *(OPILIO, "crawl", str(self.topic), "-o", str(self.folder), "-q"),
            *(() if known else ("--settings", str(self.settings))),
            *("--proxy", f"http://127.0.0.1:{self.server.port}"),
            *("--max-pages", str(self.pages)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        ending = asyncio.create_task(process.communicate())
        while not ending.done():
            await asyncio.wait((ending,), timeout=0.5)
            with suppress(OSError, IndexError):
                self.sample(process.pid)
            if sum(self.server.fetched.values()) == before:
                self.opening += self.cpu - opening
                opening = self.cpu
            if time.monotonic() > self.saved + SAVED_EVERY:
                self.save()
            due = self.killed < len(self.kills) and self.asked > self.kills[self.killed]
            if due or time.monotonic() > until:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
                await ending
                self.killed += due
                self.pieces += not due
                return False
        _, said = await ending
        if process.returncode or b"Traceback" in said:
            raise SystemExit(f"the crawl failed: {said.decode(errors='replace')}")
        return True

    def sample(self, pid: int) -> None:
        """Note memory, CPU and open files."""
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        pids = [pid, *map(int, children)]
        self.cpu = max(self.cpu, sum(map(cpu_of, pids)))
        self.samples.append(
            Sample(
                self.asked,
                round(self.seconds, 1),
                round(resident(pid), 1),
                round(sum(map(resident, pids[1:])), 1),
                sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
                round(self.earlier_cpu + self.cpu, 2),
                round(self.opening, 2),
            )
        )

    def kept(self) -> list[int]:
        """The numbers of the relevant pages of the web, in the order of the crawl."""
        query = "SELECT url, number FROM page JOIN link USING (id) WHERE state = 'kept'"
        return [int(number) for url, number in self.rows(query) if not is_hostile(url)]

    def last(self) -> int:
        """How many pages were visited."""
        [[number]] = self.rows("SELECT max(number) FROM page")
        return int(number)

    def hostile_pages(self) -> int:
        """How many pages of hostile hosts were visited."""
        urls = self.rows("SELECT url FROM page JOIN link USING (id)")
        return sum(is_hostile(url) for (url,) in urls)

    def rows(self, query: str) -> list[tuple[str, ...]]:
        """The rows of a query of crawl.db."""
        with closing(sqlite3.connect(self.folder / "crawl.db")) as db:
            return db.execute(query).fetchall()

    def faults(self) -> dict[str, object]:
        """What was lost, and what is there twice."""
        records: Counter[tuple[str, str]] = Counter()
        for path in (self.folder / "warc").iterdir():
            with path.open("rb") as file:
                for record in ArchiveIterator(file, check_digests=False):
                    url = record.rec_headers["WARC-Target-URI"]
                    records[url, record.rec_type] += 1
        doctor = subprocess.run([OPILIO, "doctor", str(self.folder)], check=False)
        urls = [url for (url,) in self.rows("SELECT url FROM link")]
        stored = "SELECT url FROM page JOIN link USING (id) WHERE warc IS NOT NULL"
        answered = {url for url, kind in records if kind in ("response", "revisit")}
        no_reason = (
            "SELECT url FROM link WHERE reason IS NULL "
            "AND state NOT IN ('kept', 'irrelevant', 'waiting')"
        )
        return {
            "doctor's exit code": doctor.returncode,
            "links twice": len(urls) - len(set(urls)),
            "records twice": sum(count > 1 for count in records.values()),
            "pages without a record": len({u for (u,) in self.rows(stored)} - answered),
            "links without state or reason": len(self.rows(no_reason)),
            "pages fetched again": sum(self.server.fetched.values()) - self.asked,
            "in flight at the kills": (self.killed + self.pieces) * IN_FLIGHT,
        }


def is_hostile(url: str) -> bool:
    """Whether a URL is of a hostile host."""
    return any(name in url for name in (".hostile/", ".farm.test/", ".many-hosts.test"))


def show_tenths(samples: list[Sample], pages: int) -> None:
    """Memory, CPU and open files at each tenth of the pages."""
    rows, before = [], Sample(0, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
    for tenth in range(1, 11):
        found = [one for one in samples if one.pages >= pages * tenth / 10]
        near = found[0] if found else samples[-1]
        since = [one for one in samples if before.pages < one.pages <= near.pages]
        if not since or near.pages == before.pages:
            continue
        crawling = (near.cpu - near.opening) - (before.cpu - before.opening)
        count = near.pages - before.pages
        rows.append(
            (
                f"{near.pages:,}",
                f"{near.seconds:,.0f}",
                f"{crawling / count * 1000:.2f}",
                f"{(near.opening - before.opening) / count * 1000:.2f}",
                f"{max(one.loop_mb for one in since):,.0f}",
                f"{median(one.readers_mb for one in since):,.0f}",
                f"{max(one.readers_mb for one in since):,.0f}",
                max(one.files for one in since),
            )
        )
        before = near
    columns = (
        *("pages", "s", "CPU ms/page", "to open", "loop MB"),
        *("readers MB", "at most", "open files"),
    )
    show("With hostile hosts and kills", columns, rows)


async def main(pages: int, kills: int, home: Path, minutes: float) -> None:
    """Crawl both, each for half of the time at most, and compare as far as both are."""
    dials = Dials(pages=2 * pages, hosts=max(60, pages // 20))
    began = time.monotonic()
    found, visited = {}, pages
    for hostile in (False, True):
        name = "hostile" if hostile else "plain"
        async with served(dials, hostile) as server:
            crawl = SoakCrawl(home / name, server, pages, kills if hostile else 0)
            await crawl.run(began + 60 * minutes * (1.0 if hostile else 0.45))
            found[name] = crawl.kept()
            visited = min(visited, crawl.last())
            cases = Counter(server.requests)
        print(
            f"{name}: {crawl.asked:,} asked for, {len(found[name]):,} relevant, "
            f"{crawl.killed} kills, {crawl.pieces} pieces ended, "
            f"{crawl.samples[-1].seconds:,.0f} s",
            flush=True,
        )
        if not crawl.ended:
            print("not ended; the same command continues it")
    show_tenths(crawl.samples, pages)
    print(json.dumps(crawl.faults(), indent=2))
    print(f"hostile requests: {sum(cases.values()):,} to {len(cases)} cases")
    print(f"hostile pages visited: {crawl.hostile_pages():,}")
    for tenth in range(1, 11):
        upto = visited * tenth // 10
        plain, beside = (
            sum(number <= upto for number in found[name]) for name in found
        )
        print(
            f"relevant among the first {upto:,}: {beside:,} beside hostile hosts, "
            f"{plain:,} without: {beside / plain:.3f}"
        )


if __name__ == "__main__":
    pages, kills, place, minutes, *_ = (*sys.argv[1:], *("30000", "40", "", "inf")[
        len(sys.argv) - 1 :
    ])  # fmt: skip
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(place or temporary)
        asyncio.run(main(int(pages), int(kills), home, float(minutes)))
