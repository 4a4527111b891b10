"""Finds the URLs that a crawl starts from: given ones, search engines, sites, and seed
sources of your own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from opilio import extensions
from opilio.assembly.network import network_of
from opilio.assembly.plan import Plan
from opilio.crawl import CrawlLoop
from opilio.limits.contact import require_contact
from opilio.protocols import SeedRequest, SeedSource
from opilio.records import SEED_PROMISE, Subject
from opilio.text import urls

ASKED = 4  # terms of the topic in a query to search engines


async def find_seeds(
    plan: Plan, subject: Subject, crawl: CrawlLoop, own: Sequence[SeedSource] = ()
) -> dict[str, float]:
    """The seeds with their promises; URLs from sitemaps and feeds have no precedence.

    Seed sources, search engines and sites are asked once; a resumed crawl has their
    answers stored. A replay does not ask search engines and sites, which need the
    network.
    """
    sources, catalogue = plan.topic.sources, crawl.store.catalogue
    listed = dict.fromkeys(map(urls.canonical, sources.urls), SEED_PROMISE)
    if catalogue.has_event("seeds"):
        return listed
    if sources.sources or own:
        listed |= await ask_own_sources(plan, subject, crawl, own)
    asks = sources.search or sources.sitemaps or sources.feeds
    network = network_of(crawl.fetch)
    if not asks or not network:
        if sources.sources or own:
            catalogue.save_event("seeds", found=len(listed))
        return listed
    from opilio.seeds import Visits, gather_seeds
    from opilio.store.seed_origins import note_origins

    visits = Visits(network.egress.get, network.robots, plan.politeness.delay)
    seeds = await gather_seeds(
        sources,
        " ".join(subject.terms[:ASKED]),
        network.egress.get,
        visits,
        pause=plan.politeness.delay,
        language=subject.language,
    )
    catalogue.save_event("seeds", found=len(seeds))
    note_origins(catalogue, [seed for seed in seeds if not seed.listed_by_site])
    found = {
        seed.url: seed.promise + (0 if seed.listed_by_site else SEED_PROMISE)
        for seed in seeds
    }
    found = listed | found
    await crawl.plant(found)  # so that the frontier knows the hosts
    for host, pause in visits.pauses.items():  # hosts that must rest now
        await crawl.frontier.pace(host, rest=pause)
    return found


async def ask_own_sources(
    plan: Plan, subject: Subject, crawl: CrawlLoop, own: Sequence[SeedSource]
) -> dict[str, float]:
    """The URLs of the seed sources that the topic names and the program passes."""
    from opilio.seeds.custom_sources import ask_sources
    from opilio.seeds.service_requests import page_for_source

    sources, network = plan.topic.sources, network_of(crawl.fetch)
    request = SeedRequest(
        query=sources.query or " ".join(subject.terms[:ASKED]),
        language=subject.language,
        limit=sources.limit,
        get=partial(page_for_source, network.egress.get)
        if network
        else crawl.fetch.fetch,
    )
    kind = "seed source"
    named = [
        extensions.make(kind, extensions.find_class(kind, name))
        for name in sources.sources
    ]
    seeds = await ask_sources([*named, *own], request)
    if not plan.is_offline:
        require_contact(plan.fetch, [seed.url for seed in seeds])
    return {seed.url: seed.promise + SEED_PROMISE for seed in seeds}
