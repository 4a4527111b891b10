"""Keeps the profiles of pages and sites up to date while a crawl runs.

Everything stays in the caller's transaction. Counts of sites are collected in memory
and written by `flush`, once per commit instead of once per page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from opilio.equations.site_model import THW, SiteCounts, main_concepts
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.records import Lease, Page, Response, State, Subject, Verdict
from opilio.storage.database import Database

_ROOTS = """
    SELECT link.id, url, host.name, state
    FROM link JOIN host ON host.id = link.host
    WHERE url GLOB '*/' AND state IN ('copy', 'unusable') ORDER BY link.id
"""
_PROFILE = "INSERT INTO page_profile VALUES (?, ?, ?, ?, ?, ?)"

encode = msgspec.json.Encoder().encode
# The standard date format, which is five times as fast to read as any other.
DATE = re.compile(
    r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) ([1-9]\d{3}) (\d\d):(\d\d):(\d\d) GMT",
    re.ASCII,
)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
MONTHS += ["Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass
class KeptSite:
    """The counts of a site in memory."""

    counts: SiteCounts = field(default_factory=SiteCounts)
    modified: float | None = None
    entry: int = 0  # 0: no page of it was read yet
    root: int | None = None


class SiteKeeper:
    """Keeps the models of all websites up to date while a crawl runs."""

    def __init__(self, db: Database, subject: Subject) -> None:
        self.db = db
        self.sites: dict[str, KeptSite] = {}  # those that changed since the last flush
        self.follow(subject)

    def follow(self, subject: Subject) -> None:
        """Count the concepts of this subject from now on."""
        self.domain = SubjectConcepts(subject)

    def keep(
        self,
        lease: Lease,
        response: Response,
        page: Page,
        verdict: Verdict,
        *,
        again: bool = True,
    ) -> None:
        """Profile a page that was judged; `again`: it may replace an older profile."""
        if not again:
            self.profile(lease, response, page, verdict, changed=False)
            return
        has_profile, changed = self.db.execute(
            "SELECT EXISTS (SELECT 1 FROM page_profile WHERE id = ?), "
            "EXISTS (SELECT 1 FROM version WHERE page = ?)",
            (lease.id, lease.id),
        ).fetchone()
        if has_profile:
            self.forget(lease)
        self.profile(lease, response, page, verdict, changed=bool(changed))

    def profile(
        self,
        lease: Lease,
        response: Response,
        page: Page,
        verdict: Verdict,
        *,
        changed: bool,
    ) -> None:
        """Add the profile of a page that is new or has changed."""
        concepts = self.domain.count(page.terms)
        named = main_concepts(concepts, len(concepts))  # the most frequent first
        modified = last_modified(response)
        if changed and modified is None:
            modified = response.fetched_at
        self.db.later(
            _PROFILE,
            (
                lease.id,
                modified,
                int(verdict.relevant),
                encode({concept: concepts[concept] for concept in named}).decode(),
                self.domain.classify(page.terms) or None,
                encode(page.headings).decode(),
            ),
        )
        site = self.enter(lease)
        site.counts.add(verdict.relevant, named[:THW])
        if modified:
            site.modified = max(modified, site.modified or 0.0)
        if is_root(lease.url):
            self.came_to_root(site, lease.id)

    def enter(self, lease: Lease) -> KeptSite:
        """The site of a page; its first page is the entry."""
        site = self.site(lease.host)
        site.entry = site.entry or lease.id
        return site

    def forget(self, lease: Lease) -> None:
        """Delete the profile of a page that has changed or is gone."""
        row = self.db.execute(
            "SELECT in_domain, concepts FROM page_profile WHERE id = ?", (lease.id,)
        ).fetchone()
        if row is None:
            return
        named = msgspec.json.decode(row[1], type=dict[str, int])
        self.site(lease.host).counts.remove(row[0], main_concepts(named, THW))
        self.db.execute("DELETE FROM page_profile WHERE id = ?", (lease.id,))

    def missed(self, lease: Lease, state: State) -> None:
        """Note a visit without a new page: a site's homepage may be a copy."""
        if is_root(lease.url) and state is not State.PARKED:
            self.came_to_root(self.site(lease.host), lease.id)

    def miss_roots(self) -> None:
        """Note all homepages whose visits brought no page."""
        for id, url, host, state in self.db.execute(_ROOTS).fetchall():
            self.missed(Lease(id, url, 0, host, 0.0), State(state))

    def came_to_root(self, site: KeptSite, link: int) -> None:
        """Choose the one of http://host/ and https://host/ that has a page."""
        if site.root is None:
            site.root = link
        elif site.root != link:
            site.root = min(site.root, link, key=lambda one: (-self.rank(one), one))

    def rank(self, link: int) -> int:
        """2: a page; 1: redirects to one; 0: none."""
        row = self.db.execute(
            "SELECT score IS NOT NULL FROM page WHERE id = ?", (link,)
        ).fetchone()
        return 1 + row[0] if row else 0

    def site(self, host: str) -> KeptSite:
        """What is kept of a host, to be changed and written with the next flush."""
        if known := self.sites.get(host):
            return known
        site = self.sites[host] = KeptSite()
        row = self.db.execute_at_once(  # sites and the names of hosts are never late
            "SELECT pages, in_domain, concepts, modified, entry, root "
            "FROM site JOIN host ON host.id = site.host WHERE name = ?",
            (host,),
        ).fetchone()
        if row:
            site.counts.pages, site.counts.in_domain, concepts, *others = row
            site.counts.concepts = Counter(
                msgspec.json.decode(concepts, type=dict[str, int])
            )
            site.modified, site.entry, site.root = others
        return site

    def flush(self) -> None:
        """Write the counts to the transaction, which must have the hosts by now."""
        self.db.executemany(
            "INSERT OR REPLACE INTO site "
            "SELECT id, ?, ?, ?, ?, ?, ? FROM host WHERE name = ?",
            self.rows(),
        )
        self.sites.clear()

    def rows(self) -> Iterable[tuple[object, ...]]:
        """The rows of the changed sites."""
        for host, site in self.sites.items():
            counts = site.counts
            yield (
                counts.pages,
                counts.in_domain,
                encode(dict(sorted(counts.concepts.items()))).decode(),
                site.modified,
                site.entry,
                site.root,
                host,
            )


def is_root(url: str) -> bool:
    """Whether this is the root URL of a host.

    >>> is_root("http://a.test/"), is_root("http://a.test/b/")
    (True, False)
    """
    return url[-1] == "/" and url.count("/") == 3


def last_modified(response: Response) -> float | None:
    """When the page last changed, as its server says; not later than now."""
    for name, value in response.headers:
        if name == "last-modified":
            at = moment_of(value)
            return min(at, response.fetched_at) if at > 0 else None
    return None


@lru_cache  # pages that were written together have the same date
def moment_of(text: str) -> float:
    """The date of a header line as seconds since 1970; 0.0 if it is none."""
    try:
        date = read_date(text)
        return date.replace(tzinfo=date.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return 0.0  # servers send anything


def read_date(text: str) -> datetime:
    """The date of a header line; ValueError or worse if it is not a date."""
    parts = DATE.fullmatch(text)
    if not parts or parts[2] not in MONTHS:
        from email.utils import parsedate_to_datetime  # takes long, and is rarely used

        return parsedate_to_datetime(text)
    month = MONTHS.index(parts[2]) + 1
    day, year, hour, minute, second = map(int, parts.group(1, 3, 4, 5, 6))
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
