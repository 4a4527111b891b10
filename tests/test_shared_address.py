"""Hosts that share an address share its delay, from their first request on."""

from itertools import pairwise
from pathlib import Path

from crawling import note_visits
from fetch.local_egress import LOOPBACK, Names
from opilio import settings
from opilio.assembly.build import Ways, assemble
from opilio.assembly.plan import Plan, begin_crawl
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.fetch.robots import Robots
from opilio.lab.synthetic.server import Request, serve
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.records import SEED_PROMISE
from opilio.store.folder import CrawlFolder
from opilio.store.robots import SqliteRobots
from opilio.topic import Topic

HOSTS = 6
IP_DELAY = 0.1
ROUNDING = 1e-6


async def test_new_hosts_at_one_address_are_not_asked_close_together(tmp_path: Path):
    seeds = [f"http://bees-{number}.test/" for number in range(HOSTS)]
    web = SmallWeb({seed: page("Bees", f"honey {seed}") for seed in seeds})
    plan = Plan(
        topic=Topic(name="bees", keywords=["bee", "honey"], seeds=seeds),
        politeness=settings.PolitenessSettings(delay=0.0, ip_delay=IP_DELAY),
        fetch=settings.FetchSettings(allow_networks=LOOPBACK),
        store=settings.StoreSettings(min_free=0, commit_every=0.02),
    )
    folder = CrawlFolder(tmp_path / "crawl")
    begin_crawl(plan, folder)
    began: dict[str, float] = {}  # host -> when its last request did, for the crawl
    seen: list[tuple[float, float]] = []  # when a request began, and when it arrived

    def arrived(request: Request) -> None:
        seen.append((began[request.host], request.at))

    async with serve(web, log=arrived) as server:
        names = Names(lambda host: [f"127.0.0.1:{server.port}"])

        def fetch(plan: Plan, store, frontier) -> HttpFetch:
            egress = Egress(plan.fetch, names)
            robots = Robots(egress.get, SqliteRobots(store.db), "opilio")
            return HttpFetch(egress, robots, plan.politeness, plan.fetch, frontier.pace)

        async with assemble(plan, folder, ways=Ways(fetch=fetch)) as crawl:
            note_visits(crawl, began)
            await crawl.run(dict.fromkeys(seeds, SEED_PROMISE))
            assert crawl.tally.pages == HOSTS
    # The time that a request takes to arrive is none that the next one waits.
    gaps = [after - before for (before, _), (_, after) in pairwise(seen)]
    assert len(seen) == 2 * HOSTS  # robots.txt, and a page
    assert min(gaps) >= IP_DELAY - ROUNDING, gaps
