"""Nothing is lost: a crawl is killed at random moments and resumes each time.

The invariants I1 to I6 are those of docs/architecture.md.
"""

import asyncio
import json
import random
import signal
import sqlite3
from collections import Counter, defaultdict
from contextlib import AsyncExitStack, closing, suppress
from itertools import pairwise
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawling import Process, listening, start_opilio
from opilio.assembly.search import open_search
from opilio.equations.site_model import THW, SiteCounts, main_concepts
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import Server, serve
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import read_record

CRAWLS = 5  # at the same time
KILLS = 10  # of each
DELAY = 0.1
IN_FLIGHT = 16
SLACK = 0.02  # between a client's clock and the moment a server reads the request
WEB = Dials(
    seed=7,
    pages=260,
    hosts=6,
    topics=4,
    purity=0.5,
    # What depends on the order of the crawl, or never ends, would make two complete
    # crawls differ without anything being lost.
    calendars=0.0,
    sessions=0.0,
    near_copies=0.0,
    failing_hosts=0.0,
    slow_hosts=0.0,
    robots_failing=0,
    crawl_delays=0.2,
    crawl_delay=0.2,
)
# What a judge that learns keeps depends on the order in which pages come, and with
# many in flight no two crawls have the same; the restarts of such judges and
# strategies have tests of their own.
SETTINGS = f"""
[crawl]
strategy = "weight-table"
judge = "cosine"
in_flight = {IN_FLIGHT}
near_copies = false
[politeness]
delay = {DELAY}
[store]
commit_every = 0.05
min_free = 0
"""


class Life:
    """A crawl's folder and the commands to crawl it."""

    def __init__(self, folder: Path, web: SyntheticWeb, server: Server) -> None:
        folder.mkdir(exist_ok=True)
        self.topic = folder / "topic.toml"
        self.topic.write_text(web.topic_file(web.topics[0]))
        self.settings = folder / "settings.toml"
        self.settings.write_text(SETTINGS)
        self.folder = folder / "crawl"
        self.server = server

    async def start(self) -> Process:
        """Start the crawl, or resume it."""
        new = not (self.folder / "crawl.toml").exists()
        return await start_opilio(
            *("crawl", self.topic, "-o", self.folder, "--quiet"),
            *("--max-pages", "0", "--proxy", self.server.proxy_url),
            *(("--settings", self.settings) if new else ()),
            stdout=asyncio.subprocess.DEVNULL,
        )

    async def run(self, until: float | None = None) -> bool:
        """Crawl to the end, or until it is killed; True: it ended by itself."""
        process = await self.start()
        try:
            _, errors = await asyncio.wait_for(process.communicate(), until)
        except TimeoutError:
            with suppress(ProcessLookupError):  # it ended in this very moment
                process.send_signal(signal.SIGKILL)
            await process.communicate()
            await asyncio.sleep(0.02)  # the server reads what was sent to the last
            return False
        assert process.returncode == 0, errors.decode()
        return True

    def forgive_pages(self) -> None:
        """Let no page be given up as one that crashes the crawl: on a busy machine the
        first one may well be in hand at three of the kills."""
        if not (self.folder / "crawl.db").exists():
            return
        with suppress(sqlite3.OperationalError):  # it has no tables yet
            if self.rows("SELECT 1 FROM suspect WHERE deaths > 1"):
                with closing(sqlite3.connect(self.folder / "crawl.db")) as db, db:
                    db.execute("DELETE FROM suspect")

    def rows(self, query: str) -> list[tuple]:
        with (
            closing(
                sqlite3.connect(f"file:{self.folder}/crawl.db?mode=ro", uri=True)
            ) as db,
            db,
        ):
            return db.execute(query).fetchall()


def check_nothing_is_left_open(life: Life) -> None:
    """I1 and I3: every link has reached a final state, each URL exists once."""
    states = Counter(dict(life.rows("SELECT state, count(*) FROM link GROUP BY state")))
    assert not states["waiting"] and not states["leased"], states
    urls = [url for (url,) in life.rows("SELECT url FROM link")]
    assert len(urls) == len(set(urls))


def check_every_page_can_be_read(life: Life) -> None:
    """I2: a page has its record, everything else a reason; the files open whole."""
    for state, reason in life.rows("SELECT state, reason FROM link"):
        assert state in ("kept", "irrelevant") or reason, (state, reason)
    places = life.rows(
        "SELECT url, warc, warc_offset, warc_length, content FROM page "
        "JOIN link USING (id)"
    )
    for url, name, offset, length, _ in places:
        assert read_record(life.folder / "warc", name, offset, length).url == url
    answered = Counter()
    for path in (life.folder / "warc").iterdir():
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                answered[record.rec_headers["WARC-Target-URI"], record.rec_type] += 1
    written = {url for url, kind in answered if kind in ("response", "revisit")}
    assert written == {url for url, *_ in places}
    twice = [key for key, n in answered.items() if n > 1]
    assert not twice, twice  # recorded effectively once


def check_hosts_were_never_hurried(server: Server, web: SyntheticWeb) -> None:
    """I4: as the server saw it, over all lives of the crawl."""
    arrivals = defaultdict(list)
    for request in server.requests:
        arrivals[request.host].append((request.at, request.url))
    for host, seen in arrivals.items():
        own = web.host(host).crawl_delay or 0.0
        known = False  # what robots.txt says, once it has been answered
        for (before, _), (now, url) in pairwise(seen):
            known = known or not url.endswith("/robots.txt")
            least = max(DELAY, own if known else 0.0) - SLACK
            assert now - before >= least, f"{url} {now - before:.3f} s after the last"


@pytest.mark.timeout(400)
async def test_a_crawl_killed_at_fifty_random_moments_loses_nothing(tmp_path: Path):
    web = SyntheticWeb(WEB)
    async with AsyncExitStack() as servers:
        lives = [
            Life(tmp_path / name, web, await servers.enter_async_context(serve(web)))
            for name in ("whole", *(f"killed-{n}" for n in range(CRAWLS)))
        ]
        whole, *killed = lives
        await asyncio.gather(
            run_to_the_end(whole, kills=0, seed=0),
            *(run_to_the_end(life, KILLS, seed) for seed, life in enumerate(killed, 1)),
        )
    expected = page_urls(whole)
    assert len(expected) > 200
    entries, models, answers = searchable(whole), profiles(whole), found(whole)
    assert len(entries) > 20 and len(models) > 200 and answers > 20
    for life in killed:
        check_nothing_is_left_open(life)
        check_every_page_can_be_read(life)
        check_hosts_were_never_hurried(life.server, web)
        assert page_urls(life) == expected  # I5
        assert searchable(life) == entries
        assert profiles(life) == models
        assert found(life) == answers
        check_sites_count_their_pages(life)
        check_few_were_fetched_twice(life.server, KILLS)


async def run_to_the_end(life: Life, kills: int, seed: int) -> None:
    """Kill the crawl so often, then let it end."""
    rng = random.Random(seed)
    for _ in range(kills):
        assert not await life.run(until=rng.uniform(0.05, 0.9))
        life.forgive_pages()
    assert await life.run()


def searchable(life: Life) -> Counter:
    """What the index has of each page, whichever of two copies came first."""
    return Counter(
        life.rows(
            "SELECT content, indexed.words, features FROM indexed "
            "JOIN page ON page.id = indexed.page"
        )
    )


def profiles(life: Life) -> Counter:
    """The profiles of pages, likewise."""
    return Counter(
        life.rows(
            "SELECT content, in_domain, concepts, class, headings FROM page_profile "
            "JOIN page USING (id)"
        )
    )


def check_sites_count_their_pages(life: Life) -> None:
    """N_S, N_S,D and N_S,C of each site are what the profiles of its pages say."""
    counted = defaultdict(SiteCounts)
    for host, in_domain, concepts in life.rows(
        "SELECT host, in_domain, concepts FROM page_profile JOIN link USING (id)"
    ):
        counted[host].add(in_domain, main_concepts(json.loads(concepts), THW))
    kept = {
        host: (pages, in_domain, json.loads(concepts))
        for host, pages, in_domain, concepts in life.rows(
            "SELECT host, pages, in_domain, concepts FROM site WHERE pages"
        )
    }
    assert kept == {
        host: (site.pages, site.in_domain, dict(site.concepts))
        for host, site in counted.items()
    }


def found(life: Life) -> int:
    """How many pages a search finds; none was crawled without getting into the index,
    and no segment is damaged, or somebody would be told."""
    with listening() as told, open_search(CrawlFolder(life.folder)) as searcher:
        total = searcher.search("a the of and").total
    assert told == []
    return total


def page_urls(life: Life) -> set[str]:
    return {url for (url,) in life.rows("SELECT url FROM page JOIN link USING (id)")}


def check_few_were_fetched_twice(server: Server, kills: int) -> None:
    """I6: at most those in flight, once a crash."""
    fetched = Counter(
        request.url
        for request in server.requests
        if not request.url.endswith("/robots.txt")
    )
    again = sum(count - 1 for count in fetched.values())
    assert again <= kills * IN_FLIGHT, (again, kills)


@pytest.mark.parametrize("requests", [1, 2, 3], ids=["robots.txt", "a page", "later"])
async def test_a_host_rests_across_a_crash_longer_than_a_restart_takes(
    crawled, requests: int
):
    delay = 2.5
    links = {f"/{n}": f"page {n}" for n in range(9)}
    web = {f"http://seed.test/{n}": page(f"Bee {n}", f"honey {n}") for n in range(9)}
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", "honey", links), **web}),
        settings_text=f"[politeness]\ndelay = {delay}\n[store]\n"
        "min_free = 0\ncommit_every = 0.05\n",
    )
    for wanted in (requests, requests + 1):
        process = await life.start()
        while len(life.server.requests) < wanted:
            await asyncio.sleep(0.005)
        process.kill()
        await process.wait()
    times = [request.at for request in life.server.requests]
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= delay - SLACK, gaps
