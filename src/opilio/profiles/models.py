"""Reads the models of websites from crawl.db: profiles of sites and of their pages.

Yang, A Website Model-Supported Focused Crawler for Search Agents, section 3 and
figure 2; the equations are in opilio/equations/site_model.py. A website is a host.

`paper` computes R_S,D and P_S,D(C) exactly as published, 0 where they divide by 0;
`fixed` shrinks them to the shares of all pages of the crawl while a site has few pages
(papers.md C.5-12).
A profile is definite if the homepage was collected and N_S ≥ 3 (C.5-7).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from opilio.equations.site_model import (
    Profile,
    SiteCounts,
    WebType,
    literal_profile,
    smoothed_profile,
    web_type,
)
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.records import Mode
from opilio.text import urls
from opilio.topic.file import SiteSettings

__all__ = ["PageProfile", "SiteModels", "SiteProfile", "SubjectConcepts", "load_sites"]

WELL_PROFILED = 3  # pages of a definite profile; C.5-7
MOST_HOPS = 8  # of a homepage that redirects


class Outbound(msgspec.Struct, frozen=True, gc=False):
    """A link of a page, with the anchor that gave it its promise."""

    url: str
    anchor: str = ""


class PageProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The webpage profile of figure 2: basic, statistics and ontology section."""

    doc_no: int  # link.id
    location: str  # WARC file, and the offset in it
    url: str
    web_type: WebType
    web_no: int  # host.id
    updated: float | None  # when it last changed, seconds since 1970, if known
    title: str
    outbound: Sequence[Outbound]  # Anchors and Outbound_URLs
    headings: Sequence[str]
    domain_mark: bool  # relevant, so of the domain
    score: float
    concepts: Mapping[str, int]  # concept -> times it is named, most first
    onto_class: str  # by OntoClassifier; "": none, or the topic has no ontology


class SiteProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The website profile of figure 2, and the relation of the site to the domain."""

    host: str
    web_no: int  # host.id; 0: no page of it was read
    title: str  # of its homepage; "" while that was not collected
    start_url: str
    web_type: WebType
    tree_level_limit: int
    updated: float | None  # the latest of its pages
    pages: int  # N_S
    in_domain: int  # N_S,D
    concept_pages: Mapping[str, int]  # N_S,C
    relation: float  # R_S,D
    proportions: Mapping[str, float]  # P_S,D(C)
    definite: bool

    @property
    def standing(self) -> Profile:
        """R and P with the equations that are made of them."""
        return Profile(self.relation, self.proportions)

    @property
    def usefulness(self) -> float:
        """R_S,D·N_S,D: high for sites with many pages of the domain and few others."""
        return self.relation * self.in_domain


class Home(NamedTuple):
    """The homepage of a website."""

    url: str
    title: str = ""
    is_collected: bool = False


class SiteRow(NamedTuple):
    """A row of the table `site`."""

    web_no: int
    counts: SiteCounts
    updated: float | None
    home: Home

    @property
    def is_definite(self) -> bool:
        """Whether the profile is definite."""
        return self.home.is_collected and self.counts.pages >= WELL_PROFILED


class SiteModels:
    """The profiles of all websites of a crawl, computed on request."""

    def __init__(
        self,
        db: sqlite3.Connection,
        rows: Mapping[str, SiteRow],
        concepts: Sequence[str],
        mode: Mode,
        limits: SiteSettings,
    ) -> None:
        self.db = db
        self.limits = limits
        self.rows = rows
        self.concepts = concepts  # of D
        self.mode = mode
        self.everything = SiteCounts()
        for row in rows.values():
            self.everything.pages += row.counts.pages
            self.everything.in_domain += row.counts.in_domain
            self.everything.concepts.update(row.counts.concepts)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SiteProfile]:
        """Every site of which a page was read, in the order they were found in."""
        return map(self.profile, self.rows)

    def __contains__(self, host: str) -> bool:
        return host in self.rows

    def profile(self, host: str) -> SiteProfile:
        """The profile of a host, also of one without pages."""
        start = Home(f"http://{host}/")
        row = self.rows.get(host) or SiteRow(0, SiteCounts(), None, start)
        counts = row.counts
        standing = self.standing(counts)
        return SiteProfile(
            host=host,
            web_no=row.web_no,
            title=row.home.title,
            start_url=row.home.url,
            web_type=web_type(host),
            tree_level_limit=self.limits.limit_of(host),
            updated=row.updated,
            pages=counts.pages,
            in_domain=counts.in_domain,
            concept_pages=dict(counts.concepts.most_common()),
            relation=standing.relation,
            proportions=standing.proportions,
            definite=row.is_definite,
        )

    def standing(self, counts: SiteCounts) -> Profile:
        """R and P by the mode."""
        if self.mode == "paper":
            return literal_profile(counts)
        return smoothed_profile(counts, self.everything, self.concepts)

    def page_profiles(self, host: str, limit: int | None = None) -> list[PageProfile]:
        """The profiles of the pages of a host, best first."""
        row = self.rows.get(host)
        if row is None:
            return []
        found = self.db.execute(
            # CROSS: there are far fewer profiles than links, and none has an index
            "SELECT id, warc, warc_offset, url, modified, title, headings, in_domain, "
            "score, concepts, class FROM page_profile CROSS JOIN link USING (id) "
            "CROSS JOIN page USING (id) WHERE link.host = ? "
            "ORDER BY in_domain DESC, score DESC, number LIMIT ?",
            (row.web_no, -1 if limit is None else limit),
        ).fetchall()
        outbound = self.outbound([id for id, *_ in found])
        return [
            PageProfile(
                doc_no=id,
                location=f"{warc}:{offset}" if warc else "",
                url=url,
                web_type=web_type(host),
                web_no=row.web_no,
                updated=modified,
                title=title or "",
                outbound=outbound.get(id, ()),
                headings=msgspec.json.decode(headings),
                domain_mark=bool(in_domain),
                score=score,
                concepts=msgspec.json.decode(concepts),
                onto_class=name or "",
            )
            for id, warc, offset, url, modified, title, headings, in_domain, score, (
                concepts
            ), name in found
        ]

    def outbound(self, pages: Sequence[int]) -> dict[int, list[Outbound]]:
        """The links of pages, by the page's id, in one pass over all edges."""
        links: dict[int, list[Outbound]] = {}
        rows = self.db.execute(
            "SELECT edge.page, link.url, link.anchor FROM edge CROSS JOIN link "
            "ON link.id = edge.link "
            "WHERE edge.page IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(pages).decode(),),
        )
        for page, url, anchor in rows:
            links.setdefault(page, []).append(Outbound(url, anchor or ""))
        return links

    def unprofiled(self) -> int:
        """The number of pages that were judged before profiles existed."""
        query = (
            "SELECT count(*) FROM page JOIN link USING (id) WHERE score IS NOT NULL "
            "AND warc IS NOT NULL AND state IN ('kept', 'irrelevant') "
            "AND (page.id NOT IN (SELECT id FROM page_profile) "
            "OR NOT EXISTS (SELECT 1 FROM site))"
        )
        return int(self.db.execute(query).fetchone()[0])


def load_sites(
    db: sqlite3.Connection,
    domain: SubjectConcepts | None = None,
    mode: Mode = "fixed",
    limits: SiteSettings | None = None,
) -> SiteModels:
    """The models of a crawl as of its last commit.

    Without `domain`, D is the concepts that appear on some page.
    """
    rows: dict[str, SiteRow] = {}
    found = db.execute(
        # CROSS: there are far fewer sites than hosts
        "SELECT host, name, pages, in_domain, concepts, modified, entry, root FROM "
        "site CROSS JOIN host ON host.id = site.host WHERE pages ORDER BY site.host"
    ).fetchall()
    for web_no, host, pages, in_domain, concepts, modified, entry, root in found:
        counts = SiteCounts()
        counts.pages, counts.in_domain = pages, in_domain
        counts.concepts = Counter(msgspec.json.decode(concepts, type=dict[str, int]))
        home = home_of(db, web_no, entry, root)
        rows[host] = SiteRow(web_no, counts, modified, home)
    named = {concept for row in rows.values() for concept in row.counts.concepts}
    concepts = domain.concepts if domain else sorted(named)
    return SiteModels(db, rows, concepts, mode, limits or SiteSettings())


def home_of(db: sqlite3.Connection, host: int, entry: int, root: int | None) -> Home:
    """The homepage of a site: 1. the page that its root is or redirects to, 2. its
    entry if that is a seed, 3. its entry if the root has no page. Otherwise it is the
    root, which was not collected yet."""
    first = page_of(db, entry)
    is_over = root is not None
    if root is not None:
        link = root
        for _ in range(MOST_HOPS):
            page = page_of(db, link)
            if page.is_read:
                if page.host == host:
                    return Home(page_of(db, root).url, page.title, True)
                break
            if page.copy_of is None:
                is_over = page.state not in ("waiting", "leased", "parked")
                break
            link = page.copy_of
    if is_over or first.found_on == 0:
        return Home(first.url, first.title, True)
    return Home(f"{urls.origin(first.url)}/")


class KnownLink(NamedTuple):
    """What crawl.db has about a URL."""

    url: str
    host: int
    state: str
    found_on: int  # 0: a seed
    title: str
    copy_of: int | None
    is_read: bool


def page_of(db: sqlite3.Connection, link: int) -> KnownLink:
    """A link, and its page if it has one."""
    url, host, state, found_on, title, copy_of, score = db.execute(
        "SELECT url, host, state, found_on, title, copy_of, score FROM link "
        "LEFT JOIN page USING (id) WHERE link.id = ?",
        (link,),
    ).fetchone()
    return KnownLink(
        url, host, state, found_on, title or "", copy_of, score is not None
    )
