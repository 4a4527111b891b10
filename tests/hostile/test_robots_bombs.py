"""robots.txt as a weapon: huge files, and redirects to somebody else."""

from __future__ import annotations

import asyncio
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from crawling import Crawled
from opilio.fetch.robots import Robots
from opilio.frontier.memory import MemoryFrontier
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import SyntheticAnswer
from opilio.records import Link, Ranked, Response
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import open_database
from opilio.store.robots import SqliteRobots
from opilio.text import urls

TEXT = (("content-type", "text/plain"),)
HOSTS = 24
PAGES = 6


def rules(host: int) -> SyntheticAnswer:
    lines = b"".join(b"Disallow: /forbidden/%d/%d\n" % (host, n) for n in range(20_000))
    return SyntheticAnswer(200, TEXT, b"User-agent: *\n" + lines[: 520 * 1024])


def peak_memory(pid: int) -> int:
    """In MB, of one process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@pytest.mark.timeout(120)
async def test_many_huge_files_cost_little_memory_and_stop_nothing(crawled) -> None:
    hosts = [f"http://h{n}.test" for n in range(HOSTS)]
    web = {f"{host}/robots.txt": rules(n) for n, host in enumerate(hosts)}
    for host in hosts:
        links = {f"{host}/{n}": "honey" for n in range(PAGES)}
        web[f"{host}/"] = page("Bees", f"honey of {host}", links)
        web |= {url: page("Honey", f"the bees {url}") for url in links}
    starts = {f"{host}/": "bees" for host in hosts}
    web["http://seed.test/"] = page("Bees", "honey hive", starts)
    life: Crawled = await crawled(SmallWeb(web))
    process = await life.start("--max-pages", 1 + HOSTS * (PAGES + 1))
    peak = 0
    while process.returncode is None:
        await asyncio.sleep(0.1)
        try:
            peak = max(peak, peak_memory(process.pid))
        except (OSError, IndexError):
            break
    assert await process.wait() == 0
    assert len(life.rows("SELECT 1 FROM page")) == 1 + HOSTS * (PAGES + 1)
    assert peak < 400, f"{peak} MB"
    [(stored,)] = life.rows("SELECT max(length(body)) FROM robots")
    assert stored < 300_000


@pytest.mark.timeout(120)
async def test_a_crawl_of_huge_files_stops_when_it_is_told_to(crawled) -> None:
    hosts = [f"http://h{n}.test" for n in range(200)]
    web = {f"{host}/robots.txt": rules(n) for n, host in enumerate(hosts)}
    web |= {f"{host}/": page("Bees", f"honey of {host}") for host in hosts}
    starts = {f"{host}/": "bees" for host in hosts}
    web["http://seed.test/"] = page("Bees", "honey hive", starts)
    life: Crawled = await crawled(SmallWeb(web))
    process = await life.start()
    while not (life.server and len(life.server.requests) > 20):
        await asyncio.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 100) in (0, 130, 143)


class Redirecting:
    """Hosts whose robots.txt leads through a chain of files on one other host."""

    def __init__(self) -> None:
        self.arrivals: dict[str, list[float]] = {}

    async def get(self, url: str, *, max_bytes: int) -> Response:
        now = asyncio.get_running_loop().time()
        self.arrivals.setdefault(urls.host(url), []).append(now)
        await asyncio.sleep(0.001)
        host = urls.host(url)
        target = f"http://victim.test/{host}/1"
        if host == "victim.test":
            _, _, _, name, step = url.split("/")
            target = f"http://victim.test/{name}/{int(step) + 1}"
        return Response(url, 302, [("location", target)], b"", now)


async def test_redirects_wait_for_the_host_that_they_lead_to(tmp_path: Path) -> None:
    delay = 0.1
    frontier = MemoryFrontier(
        PolitenessSettings(delay=delay, ip_delay=0.0), BoundsSettings()
    )
    victim = "http://victim.test/page"
    await frontier.add([Ranked(Link(victim, urls.fingerprint(victim)), 1.0)])
    web = Redirecting()
    db = open_database(tmp_path / "crawl.db")
    robots = Robots(web.get, SqliteRobots(db), "opilio", pause=delay, turns=frontier)
    origins = [f"http://h{n}.test" for n in range(30)]
    lease = await frontier.take()  # the victim is visited for its own page, too
    assert lease and lease.host == "victim.test"
    calls = (robots.rules(origin) for origin in origins)
    asking = asyncio.gather(*calls, return_exceptions=True)
    await asyncio.sleep(delay / 2)
    assert "victim.test" not in web.arrivals  # it is being visited
    await frontier.retry(lease, 0.0, "x", counted=False)
    await asking
    db.close()
    gaps = [b - a for a, b in pairwise(web.arrivals["victim.test"])]
    assert len(gaps) >= 4
    assert min(gaps) >= delay * 0.99, gaps


async def test_hosts_that_redirect_to_one_file_cost_it_one_request(crawled) -> None:
    hosts = [f"http://h{n}.test" for n in range(20)]
    shared = "http://rules.test/shared.txt"
    web = {f"{host}/robots.txt": redirect(shared) for host in hosts}
    web |= {f"{host}/": page("Bees", f"honey of {host}") for host in hosts}
    web[shared] = SyntheticAnswer(200, TEXT, b"User-agent: *\nDisallow: /x\n")
    starts = {f"{host}/": "bees" for host in hosts}
    web["http://seed.test/"] = page("Bees", "honey hive", starts)
    life: Crawled = await crawled(SmallWeb(web))
    ended = await life.crawl("--max-time", 20)
    assert ended.code == 0, ended.err
    assert life.server
    asked = [one for one in life.server.requests if one.url == shared]
    assert len(asked) == 1
    assert len(life.rows("SELECT 1 FROM page")) == 1 + len(hosts)
