"""A server keeps its pause under each way to write its address, from the first request
on."""

from itertools import pairwise
from pathlib import Path

import pytest

from crawling import note_visits
from fetch.hostile_server import Connection, answer, serve
from fetch.local_egress import LOOPBACK
from opilio import Topic, settings
from opilio.assembly.build import assemble
from opilio.assembly.plan import Plan, begin_crawl
from opilio.records import SEED_PROMISE
from opilio.store.folder import CrawlFolder

IP_DELAY = 0.1
ROUNDING = 1e-6


@pytest.mark.parametrize("known_first", [True, False])
async def test_a_mapped_address_waits_for_its_server(tmp_path: Path, known_first: bool):
    began: dict[str, float] = {}  # host -> when its last request did, for the crawl
    starts: list[tuple[float, str]] = []  # of the requests that arrived

    async def script(connection: Connection) -> None:
        host = connection.request.split(b"\r\n")[1].removeprefix(b"Host: ").decode()
        starts.append((began[host], host))
        path = connection.path.encode()
        links = b"".join(b'<a href="%s">honey</a>' % url.encode() for url in onward)
        await connection.send(answer(b"<p>honey on " + path + b"</p>" + links))

    async with serve(script) as server:
        plain, mapped = server.url("/a"), server.url("/b", "[::ffff:7f00:1]")
        seeds = [plain] if known_first else [plain, mapped]
        onward = [mapped] if known_first else []
        plan = Plan(
            topic=Topic(name="bees", keywords=("honey",), seeds=tuple(seeds)),
            politeness=settings.PolitenessSettings(delay=0.0, ip_delay=IP_DELAY),
            fetch=settings.FetchSettings(allow_networks=LOOPBACK),
            store=settings.StoreSettings(min_free=0, commit_every=0.02),
        )
        folder = CrawlFolder(tmp_path / "crawl")
        begin_crawl(plan, folder)
        async with assemble(plan, folder) as crawl:
            note_visits(crawl, began)
            await crawl.run(dict.fromkeys(seeds, SEED_PROMISE))
    assert len(starts) == 4  # of each host robots.txt, and a page
    assert len({host for _, host in starts}) == 2
    gaps = [after - before for (before, _), (after, _) in pairwise(starts)]
    assert min(gaps) >= IP_DELAY - ROUNDING, gaps
