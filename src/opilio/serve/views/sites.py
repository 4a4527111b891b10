"""The websites of a crawl: their models, concept coverage and refresh plan."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from opilio.profiles.models import SiteProfile, SubjectConcepts, load_sites
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import PageNumber, View
from opilio.sites.expected_changes import due
from opilio.store.resting_hosts import wishes_of

SIZE = 40
CONCEPTS = 6  # of a site


class SitesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which sites to list, and in what order."""

    find: Annotated[str, Meta(max_length=300)] = ""  # part of the name
    sort: Literal["best", "pages", "refresh"] = "best"
    page: PageNumber = 1


class ConceptShare(msgspec.Struct, frozen=True):
    """The share of a site's pages that are about a concept."""

    concept: str
    share: float


class SiteCard(msgspec.Struct, frozen=True, kw_only=True):
    """A website in the list."""

    host: str
    title: str
    pages: int
    relevant: int
    share: float  # of its pages that are relevant, shrunk while there are few
    kind: str
    definite: bool  # enough is known about it
    concepts: list[ConceptShare]
    changed: float | None
    refresh: float | None  # when a change is expected
    rests_until: float | None
    delay: float


class SiteList(msgspec.Struct, frozen=True):
    """One page of the list of sites."""

    query: SitesRequest
    sites: list[SiteCard]
    total: int
    concepts: list[str]
    has_more: bool


def show_sites_page(crawl: ServedCrawl, asked: SitesRequest) -> SiteList:
    """The sites of the crawl."""
    with crawl.reading() as db:
        plan = crawl.plan
        domain = SubjectConcepts(crawl.subject(db))
        models = load_sites(db, domain, "fixed", plan.topic.sites)
        times = due(db) if len(models) and not plan.replay else {}
        wanted = asked.find.strip().lower()
        found = [site for site in models if wanted in site.host.lower()]
        found.sort(key=lambda site: order_of(site, asked.sort, times))
        start = (asked.page - 1) * SIZE
        cards = []
        for site in found[start : start + SIZE]:
            rest, delay = wishes_of(db, site.host, 0.0)
            cards.append(card_of(site, times.get(site.web_no), rest, delay))
    more = len(found) > start + SIZE
    return SiteList(asked, cards, len(found), list(models.concepts), more)


def order_of(
    site: SiteProfile, sort: str, times: dict[int, float]
) -> tuple[float, ...]:
    """The place of a site in the list."""
    if sort == "pages":
        return (-site.pages,)
    if sort == "refresh":
        return (times.get(site.web_no, float("inf")),)
    return -site.usefulness, -site.relation


def card_of(
    site: SiteProfile, refresh: float | None, rest: object, delay: float
) -> SiteCard:
    """A site in short."""
    best = sorted(site.concept_pages, key=lambda one: -site.proportions[one])
    return SiteCard(
        host=site.host,
        title=site.title,
        pages=site.pages,
        relevant=site.in_domain,
        share=site.relation,
        kind=site.web_type.name.lower(),
        definite=site.definite,
        concepts=[ConceptShare(one, site.proportions[one]) for one in best[:CONCEPTS]],
        changed=site.updated,
        refresh=refresh,
        rests_until=getattr(rest, "until", None),
        delay=delay,
    )


SITES = View(
    name="sites",
    path="sites",
    title="Sites",
    help="The websites of the crawl, the concepts each covers, and when it changes.",
    parameters=SitesRequest,
    result=SiteList,
    show=show_sites_page,
)
