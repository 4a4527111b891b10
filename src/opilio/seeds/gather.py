"""Collects all seeds of a crawl, as the table [seeds] of its topic asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import chain, zip_longest

from opilio.errors import BadInput
from opilio.seeds.feeds import read_feeds
from opilio.seeds.given_urls import canonical_given
from opilio.seeds.priority import choose_seeds, spread
from opilio.seeds.search import make_engines, search_all
from opilio.seeds.seed import (
    FEED,
    GIVEN,
    SITEMAP,
    Get,
    Priority,
    Seed,
    SeedSettings,
    Site,
)
from opilio.seeds.sitemaps import read_sitemaps
from opilio.text import urls

PER_SITE = 1000  # seeds from the sitemaps of a site, or from the feeds of a page
AT_A_TIME = 4  # sites; each may send a large file


async def gather_seeds(
    sources: SeedSettings,
    query: str,
    get: Get,
    site: Site,
    *,
    language: str = "en",
    pause: float = 1.0,
    per_site: int = PER_SITE,
) -> list[Seed]:
    """All seeds, each URL once, by falling promise.

    `query` is sent to search engines unless the table has another. Engines are
    requested by `get`; sites are visited by `site`, which checks robots.txt first. The
    failure of one source is logged; OpilioError if no engine answers.
    """
    given = canonical_given(sources.urls)
    seeds = [Seed(url, Priority.HIGH, 1.0, (GIVEN,)) for url in given]
    if (sources.sitemaps or sources.feeds) and not given:
        raise BadInput(
            "seeds.sitemaps and seeds.feeds are about given pages; add some to "
            "seeds.urls"
        )
    if sources.search:
        engines = make_engines(sources.search, get, pause, sources.engines)
        question = sources.query or query
        found = await search_all(engines, question, sources.limit, language)
        seeds += choose_seeds(found, sources.limit, common=sources.common)
    lists: list[tuple[str, list[str]]] = []
    if sources.feeds:
        reads = [partial(read_feeds, page, site, per_site) for page in given]
        lists += [(FEED, found) for found in await few_at_a_time(reads)]
    if sources.sitemaps:
        origins = dict.fromkeys(map(urls.origin, given))
        reads = [partial(read_sitemaps, one, site, per_site) for one in origins]
        lists += [(SITEMAP, found) for found in await few_at_a_time(reads)]
    return merged([*seeds, *listed_by_sites(lists)])


async def few_at_a_time(
    reads: Iterable[Callable[[], Awaitable[list[str]]]],
) -> list[list[str]]:
    """The results, in order."""
    room = asyncio.Semaphore(AT_A_TIME)

    async def with_room(read: Callable[[], Awaitable[list[str]]]) -> list[str]:
        async with room:
            return await read()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(with_room(read)) for read in reads]
    return [task.result() for task in tasks]


def listed_by_sites(lists: Sequence[tuple[str, Sequence[str]]]) -> list[Seed]:
    """The URLs from sitemaps and feeds, as Low seeds behind all others.

    The best of every site comes first, then the second of every site, and so on.
    """
    named = [[(url, source) for url in found] for source, found in lists]
    turns = chain.from_iterable(zip_longest(*named))
    sources: dict[str, tuple[str, ...]] = {}
    for turn in turns:
        if turn is not None:
            url, source = turn
            known = sources.get(url, ())
            sources[url] = known if source in known else (*known, source)
    return [
        Seed(url, Priority.LOW, promise, sources[url])
        for url, promise in spread(list(sources), 0.0)
    ]


def merged(seeds: Iterable[Seed]) -> list[Seed]:
    """Each URL once, with its best promise and all its sources, by falling promise."""
    found: dict[str, Seed] = {}
    for seed in seeds:
        known = found.get(seed.url, seed)
        best = max(known, seed, key=lambda one: one.promise)
        sources = tuple(dict.fromkeys(known.sources + seed.sources))
        ranks = {**known.ranks, **seed.ranks}
        found[seed.url] = Seed(seed.url, best.priority, best.promise, sources, ranks)
    return sorted(found.values(), key=lambda seed: -seed.promise)
