"""Finds the pages that a topic is built from: asks search engines, fetches the results.

Two subsystems of Aastha's thesis (2.5.1, 2.5.2): seed pages are the top N < 500 results
of search engines, and the keywords come from them. Everything leaves by the guarded
egress; sites are visited as a crawl visits them, robots.txt first, one request at a
time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple

from opilio.errors import BadInput, FetchError
from opilio.fetch.egress import Egress
from opilio.limits.contact import require_contact
from opilio.records import Response
from opilio.seeds import Seed, Visits, gather_seeds
from opilio.settings import FetchSettings, PolitenessSettings
from opilio.stage_protocols import Fetch
from opilio.subject.class_rules import network
from opilio.text import content, urls
from opilio.topic.file import Sources, Topic, where_to
from opilio.topic.linked_pages import HOSTS, Pace, follow

log = logging.getLogger(__name__)


class FoundPages(NamedTuple):
    """What engines found for a query: seeds by falling promise, and their pages."""

    seeds: list[Seed]
    pages: list[Response]


async def find_pages(
    query: str,
    engines: Sequence[str],
    most: int,
    language: str,
    fetch: FetchSettings,
    delay: float,
) -> FoundPages:
    """Ask the engines, then fetch the pages of the seeds; BadInput without any."""
    sources = Sources(search=tuple(engines), query=query, limit=most)
    require_contact(fetch, where_to(Topic(name=query, seeds=sources)))
    politeness = PolitenessSettings(delay=delay)
    pace = Pace(delay)
    web = network(Egress(fetch), politeness, fetch, pace)
    try:
        visits = Visits(web.egress.get, web.robots, delay)
        get = web.egress.get
        seeds = await gather_seeds(
            sources, query, get, visits, language=language, pause=delay
        )
        require_contact(fetch, [seed.url for seed in seeds])
        pages = await fetch_all([seed.url for seed in seeds], web, pace)
    finally:
        await web.close()
    if not pages:
        raise BadInput(
            f"the engines found {len(seeds)} pages for {query!r}, and none of them "
            "can be read; ask for something else, or name another engine with --engine"
        )
    return FoundPages(seeds, pages)


async def fetch_all(addresses: Sequence[str], web: Fetch, pace: Pace) -> list[Response]:
    """The pages at these addresses, in their order; what cannot be had is left out."""
    found: dict[str, Response] = {}
    by_host: dict[str, list[str]] = {}
    for url in addresses:
        by_host.setdefault(urls.host(url), []).append(url)
    places = asyncio.Semaphore(HOSTS)

    async def visit(some: Sequence[str]) -> None:
        async with places:
            for url in some:
                try:
                    response = await follow(url, web, pace)
                except FetchError as error:
                    log.warning("%s is left out: %s", url, error)
                    continue
                if response.status == 200 and not content.looks_binary(response.body):
                    found[url] = response

    async with asyncio.TaskGroup() as group:
        for some in by_host.values():
            group.create_task(visit(some))
    return [found[url] for url in addresses if url in found]
