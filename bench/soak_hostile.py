"""Crawls a synthetic web beside hostile hosts, is killed at random, and loses nothing.

    python -m bench.soak_hostile [PAGES [KILLS [FOLDER]]]

One in twenty hosts plays an attack of `opilio.lab.hostile`, with links to it from pages
of the web. The same pages are crawled twice: without hostile hosts and kills, and with
both. Shown are memory, CPU and open files of the second crawl at each tenth, and then
what was lost or fetched twice, and how many relevant pages of the web both have found.
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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import NamedTuple

from warcio.archiveiterator import ArchiveIterator

from bench.soak import cpu_of, resident
from bench.table import show
from opilio.lab.hostile.cases import CASES
from opilio.lab.hostile.server import LONGEST_REQUEST, HostileServer, HostileVisit
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import REASONS
from opilio.lab.synthetic.web import SyntheticWeb

OPILIO = str(Path(sys.executable).with_name("opilio"))
HOSTILE = 0.05  # share of hosts
SPONSORS = 2  # hosts of the web that link to a hostile one
LINKING = 0.5  # share of their pages that do
ANCHOR = "honey bee hive"  # as the topic asks for
IN_FLIGHT = 32
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


class SoakServer(HostileServer):
    """A synthetic web and hostile hosts behind one proxy."""

    def __init__(self, web: SyntheticWeb, hostile: list[str]) -> None:
        super().__init__(CASES)
        self.web = web
        rng = random.Random(len(hostile))
        self.linked: dict[str, list[str]] = {}  # host of the web -> hostile ones
        good = web.hosts[: len(web.hosts) // 3]  # the largest: those are visited
        for name in hostile:
            for sponsor in rng.sample(good, SPONSORS):
                self.linked.setdefault(sponsor, []).append(name)
        self.fetched: Counter[str] = Counter()  # pages of the web, by URL
        self.attempts: Counter[str] = Counter()

    async def play(self, visit: HostileVisit) -> None:
        """Answer for a host of the web, or play the case of a hostile one."""
        if visit.host.endswith((".hostile", ".farm.test")):
            await super().play(visit)
            return
        url = f"http://{visit.host}{visit.path}"
        answer = self.web.respond(url, self.attempts[url])
        if answer.status >= 500:
            self.attempts[url] += 1
        if visit.path != "/robots.txt":
            self.fetched[url] += 1
        if answer.delay:
            await asyncio.sleep(answer.delay)
        body = answer.body
        rng = random.Random(url)
        hostile = self.linked.get(visit.host)
        if hostile and rng.random() < LINKING and b"</body>" in body:
            link = f'<a href="http://{rng.choice(hostile)}/">{ANCHOR}</a>'
            body = body.replace(b"</body>", link.encode() + b"</body>", 1)
        lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, '')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        lines += [f"content-length: {len(body)}", "", ""]
        visit.kept = True
        await visit.send("\r\n".join(lines).encode("latin-1") + body)


class Tenth(NamedTuple):
    """The state of a crawl at one time."""

    pages: int
    seconds: float
    loop_mb: float
    readers_mb: float
    files: int
    cpu: float  # seconds so far, of all processes and lives


class SoakCrawl:
    """A crawl that is killed when the server was asked so often."""

    def __init__(self, home: Path, server: SoakServer, pages: int, kills: int) -> None:
        self.folder = home / "crawl"
        self.server = server
        self.pages = pages
        self.topic, self.settings = home / "soak.toml", home / "settings.toml"
        self.topic.write_text(server.web.topic_file(server.web.topics[0]))
        self.settings.write_text(SETTINGS)
        rng = random.Random(pages)
        self.kills = sorted(rng.uniform(0.01, 1.0) * pages for _ in range(kills))
        self.killed = 0
        self.samples: list[Tenth] = []
        self.earlier_cpu = self.cpu = 0.0
        self.began = time.monotonic()

    async def run(self) -> None:
        """Crawl until it ends by itself."""
        while not await self.live():
            self.killed += 1
            self.earlier_cpu += self.cpu
            self.cpu = 0.0

    async def live(self) -> bool:
        """One life; whether it ended by itself."""
        known = (self.folder / "crawl.toml").exists()
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
            if self.killed < len(self.kills) and self.asked > self.kills[self.killed]:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
                await ending
                return False
        _, said = await ending
        if process.returncode or b"Traceback" in said:
            raise SystemExit(f"the crawl failed: {said.decode(errors='replace')}")
        return True

    @property
    def asked(self) -> int:
        """How many pages of the web were asked for."""
        return len(self.server.fetched)

    def sample(self, pid: int) -> None:
        """Note memory, CPU and open files."""
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        pids = [pid, *map(int, children)]
        self.cpu = max(self.cpu, sum(map(cpu_of, pids)))
        self.samples.append(
            Tenth(
                self.asked,
                time.monotonic() - self.began,
                resident(pid),
                sum(map(resident, pids[1:])),
                sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
                self.earlier_cpu + self.cpu,
            )
        )

    def kept(self) -> set[str]:
        """The relevant pages of the web that were found."""
        query = "SELECT url FROM page JOIN link USING (id) WHERE state = 'kept'"
        hostile = (".hostile/", ".farm.test/")
        found = {url for (url,) in self.rows(query)}
        return {url for url in found if not any(name in url for name in hostile)}

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
            "in flight at the kills": self.killed * IN_FLIGHT,
        }


@asynccontextmanager
async def served(dials: Dials, hostile: bool) -> AsyncIterator[SoakServer]:
    """The web, with or without hostile hosts."""
    count = round(dials.hosts * HOSTILE)
    names = list(CASES)
    random.Random(0).shuffle(names)
    hosts = [f"{names[n % len(names)]}.{n}.hostile" for n in range(count)]
    server = SoakServer(SyntheticWeb(dials), hosts if hostile else [])
    listener = await asyncio.start_server(
        server.meet, "127.0.0.1", 0, limit=LONGEST_REQUEST
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.close()


def show_tenths(samples: list[Tenth], pages: int) -> None:
    """Memory, CPU and open files at each tenth of the pages."""
    rows, before = [], Tenth(0, 0.0, 0.0, 0.0, 0, 0.0)
    for tenth in range(1, 11):
        found = [one for one in samples if one.pages >= pages * tenth / 10]
        near = found[0] if found else samples[-1]
        since = [one for one in samples if before.pages < one.pages <= near.pages]
        if not since or near.pages == before.pages:
            continue
        cpu = (near.cpu - before.cpu) / (near.pages - before.pages) * 1000
        rows.append(
            (
                f"{near.pages:,}",
                f"{near.seconds:,.0f}",
                f"{cpu:.2f}",
                f"{max(one.loop_mb for one in since):,.0f}",
                f"{max(one.readers_mb for one in since):,.0f}",
                max(one.files for one in since),
            )
        )
        before = near
    columns = ("pages", "s", "CPU ms/page", "loop MB", "readers MB", "open files")
    show("With hostile hosts and kills", columns, rows)


async def main(pages: int = 30_000, kills: int = 40, place: str = "") -> None:
    """Crawl both and compare."""
    dials = Dials(pages=2 * pages, hosts=max(60, pages // 20))
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(place or temporary)
        found = {}
        for hostile in (False, True):
            own = home / ("hostile" if hostile else "plain")
            own.mkdir(parents=True)
            async with served(dials, hostile) as server:
                crawl = SoakCrawl(own, server, pages, kills if hostile else 0)
                await crawl.run()
                found[hostile] = crawl.kept()
                cases = Counter(server.requests)
            print(f"{'hostile' if hostile else 'plain'}: {crawl.asked:,} asked for, "
                  f"{len(found[hostile]):,} relevant, {crawl.killed} kills, "
                  f"{crawl.samples[-1].seconds:,.0f} s", flush=True)  # fmt: skip
        show_tenths(crawl.samples, pages)
        print(json.dumps(crawl.faults(), indent=2))
        print(f"hostile requests: {sum(cases.values()):,} to {len(cases)} cases")
    share = len(found[True]) / len(found[False])
    print(f"relevant pages beside hostile hosts: {share:.3f} of those without")


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3]), *sys.argv[3:4]))
