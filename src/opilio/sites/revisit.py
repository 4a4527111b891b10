"""Visits a known page again and records whether it changed, moved or is gone.

A visit finds the page 1. unchanged: the visit is noted; 2. changed: it is judged again,
its new links are ranked, and a version is added; 3. gone, moved or a copy of another.
Its versions stay in every case, and it is visited again, but ever more rarely.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from opilio.crawl import CrawlLoop
from opilio.errors import Transient, Unusable
from opilio.read.simhash import distance
from opilio.records import (
    Clock,
    Fingerprint,
    Headers,
    Lease,
    Link,
    Page,
    Ranked,
    Reading,
    Response,
    State,
    Verdict,
)
from opilio.store.stored_responses import StoredResponses
from opilio.store.versions import SeenVersion, Versions
from opilio.store.warc_records import pack_response, pack_revisit
from opilio.text import urls

GONE = frozenset(("http_404", "http_410"))
# A server might always answer "not modified": every eighth time, no validators are
# sent.
TRUSTED = 8
LONGEST_TAG = 1024  # bytes; a longer ETag is not sent back
MOST_URLS = 20  # of new and removed links, listed in a change


class Change(msgspec.Struct, frozen=True):
    """The changes that a visit found at a page."""

    url: str
    what: Mapping[str, Any]


@dataclass
class RevisitResults:
    """The results of visiting pages again."""

    outcomes: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)


class Revisits:
    """Visits the pages of a crawl again, instead of `CrawlLoop.fetch_page`."""

    def __init__(
        self, crawl: CrawlLoop, results: RevisitResults, now: Clock = time.time
    ) -> None:
        self.crawl = crawl
        self.now = now
        self.store = crawl.store
        self.versions = Versions(crawl.store.db)
        self.outcomes = results.outcomes
        self.changes = results.changes

    async def bring(self, lease: Lease) -> int:
        """Ask for a page, if it has changed; returns the number of new pages."""
        seen = self.versions.last(lease.id)
        if seen is None:  # where a page has moved to
            return await self.crawl.fetch_page(lease)
        try:
            response = await self.crawl.fetch.fetch(lease.url, self.validators(seen))
            if response.status == 304:
                return await self.same(lease, seen, response)
            if response.status >= 300:
                target = urls.join(lease.url, response.location)
                return await self.moved(lease, response, target)
            return await self.compare(lease, seen, response)
        except Unusable as error:
            await self.lost(lease, error)
        except Transient as error:
            if error.counted:
                async with self.crawl.turn():
                    self.versions.failed(lease.id, self.now(), error.reason)
            raise
        return 0

    def validators(self, seen: SeenVersion) -> Headers:
        """The validators of our copy for the server; none, now and then."""
        if seen.truncated or not seen.is_there or seen.visits % TRUSTED == 0:
            return ()
        kept = StoredResponses(self.store.folder.warcs).response(*seen.place)
        return validators(kept) if kept else ()

    async def same(self, lease: Lease, seen: SeenVersion, response: Response) -> int:
        """Record an unchanged page, with a WARC revisit record."""
        async with self.crawl.turn():
            self.store.warc.append(pack_revisit(response, lease.url, seen.fetched_at))
            await self.note_same(lease, response)
        return 0

    async def note_same(self, lease: Lease, response: Response) -> None:
        """Note a visit that found nothing new, in a turn."""
        self.versions.same(lease.id, response.fetched_at)
        self.outcomes["unchanged"] += 1
        await self.crawl.frontier.done(lease, State.KEPT)

    async def compare(self, lease: Lease, seen: SeenVersion, response: Response) -> int:
        """Compare a fetched page: same bytes, same words in other bytes, or changed."""
        content = urls.fingerprint(response.body)
        if content == seen.content and seen.is_there:
            return await self.same(lease, seen, response)
        response, reading, content = await self.crawl.read(lease, response)
        page = reading.page
        if page is None:
            raise Unusable(reading.reason, f"{lease.url} can no longer be read")
        if page.refresh and page.refresh != lease.url:
            return await self.moved(lease, response, page.refresh)
        page = (await self.crawl.with_opinion(reading, response)).page or page
        async with self.crawl.turn(lease.fingerprint):
            original = self.store.seen.find(content)
            if original and original != lease.id:
                self.store.warc.append(self.store.revisit(response, original))
                await self.end(lease, State.COPY, "content", "copy", original)
            else:
                await self.renew(lease, seen, response, content, reading, page)
        return 0

    async def renew(
        self,
        lease: Lease,
        seen: SeenVersion,
        response: Response,
        content: Fingerprint,
        reading: Reading,
        page: Page,
    ) -> None:
        """Judge a page again, rank its new links, and store it as a version."""
        verdict = self.crawl.judge.judge(page)
        before = self.versions.links(lease.id)
        links = self.crawl.to_follow(page)
        now = {link.fingerprint for link in links}
        new = [link for link in links if link.fingerprint not in before]
        gone = [id for link, id in before.items() if link not in now]
        change = difference(seen, page, verdict)
        if not seen.is_there:
            change["back"] = seen.trouble
        if not (change or new or gone):  # a token, a date, an advertisement
            if is_worth_its_room(seen, response):
                place = self.store.append(response, reading.record, page, verdict)
                self.versions.recopied(lease.id, response, content, place)
                self.store.seen.add(content, lease.id)
            await self.note_same(lease, response)
            return
        added: list[int] = []
        if new:
            fresh = msgspec.structs.replace(page, links=new)
            added = await self.crawl.rank(fresh, verdict, lease)
        change |= self.tell("links added", added) | self.tell("links gone", gone)
        self.versions.begin(lease.id)
        stayed = [id for link, id in before.items() if link in now]
        self.store.save_page(
            lease,
            response,
            reading.record,
            content,
            page,
            verdict,
            [*stayed, *added],
            again=True,
        )
        if verdict.relevant and not page.noindex:
            self.crawl.extracting().want(lease.id, response, again=True)
        else:
            self.crawl.extracting().forget(lease.id)
        if self.crawl.profiles:
            self.crawl.profiles.keep(lease, response, page, verdict)
        self.versions.changed(lease.id, change)
        self.changes.append(Change(lease.url, change))
        self.outcomes["changed"] += 1
        self.outcomes["relevant"] += verdict.relevant
        state = State.KEPT if verdict.relevant else State.IRRELEVANT
        await self.crawl.frontier.done(lease, state)

    def tell(self, name: str, links: list[int]) -> dict[str, Any]:
        """How many links were added or removed, and the first of them."""
        if not links:
            return {}
        return {
            name: len(links),
            f"{name}, urls": self.versions.urls(links[:MOST_URLS]),
        }

    async def moved(self, lease: Lease, response: Response, target: str) -> int:
        """Record that the page has moved, and queue its new URL."""
        link = Link(target, urls.fingerprint(target))
        if not target or link.fingerprint == lease.fingerprint:
            raise Unusable("bad_redirect", f"{lease.url} redirects to no other page")
        if not self.crawl.scope.allows(target):
            raise Unusable("scope", f"{lease.url} redirects out of scope to {target}")
        async with self.crawl.turn(lease.fingerprint):
            onward = Ranked(link, lease.promise, level=lease.level)
            ids = await self.crawl.frontier.add([onward], via=lease, redirect=True)
            self.store.warc.append(pack_response(response))
            await self.end(lease, State.COPY, "redirect", "moved", ids[0])
        return 0

    async def lost(self, lease: Lease, error: Unusable) -> None:
        """Record that the page is gone or cannot be fetched."""
        async with self.crawl.turn():
            if error.reason in GONE:
                await self.end(lease, State.UNUSABLE, "gone", error.reason)
                return
            self.versions.failed(lease.id, self.now(), error.reason)
            self.outcomes["failed"] += 1
            await self.crawl.frontier.done(
                lease, State.UNUSABLE, error.reason, contacted=error.contacted
            )

    async def end(
        self, lease: Lease, state: State, reason: str, trouble: str, copy_of: int = 0
    ) -> None:
        """Mark a page that is no longer there, in a turn; its versions stay."""
        known = self.versions.last(lease.id)
        self.versions.failed(lease.id, self.now(), trouble)
        self.versions.end(lease.id, state, reason, copy_of)
        if self.crawl.profiles:
            self.crawl.profiles.forget(lease)
        self.outcomes["gone"] += 1
        if known and known.is_there:
            self.changes.append(Change(lease.url, {"gone": trouble}))
        await self.crawl.frontier.done(lease, state, reason)


def difference(seen: SeenVersion, page: Page, verdict: Verdict) -> dict[str, Any]:
    """The differences of a page in title, text and relevance."""
    change: dict[str, Any] = {}
    if page.title != seen.title:
        change["title"] = [seen.title, page.title]
    if bits := distance(page.simhash, seen.simhash):
        change["text"] = bits
    if verdict.relevant != seen.relevant:
        change["relevant"] = verdict.relevant
        change["score"] = [round(seen.score, 4), round(verdict.score, 4)]
    if page.noindex != seen.noindex:
        change["noindex"] = page.noindex
    return change


def is_worth_its_room(seen: SeenVersion, response: Response) -> bool:
    """Whether to store a page again that says the same in other bytes.

    It is worth it if its validators let the server answer "not modified" next time. But
    some pages have other bytes and other validators at every visit: to save space,
    these are stored only after 1, 2, 4, 8, … visits.
    """
    is_of_use = bool(validators(response)) and not response.truncated
    return is_of_use and seen.visits.bit_count() == 1


def validators(response: Response) -> Headers:
    """The header lines that request a page only if it differs from a response.

    Values of the server are used only if they make sense: a tag that is not too long, a
    date that was not in the future then.
    """
    found = []
    tag = response.header("etag")
    if tag and len(tag) <= LONGEST_TAG and tag.isascii() and tag.isprintable():
        found.append(("if-none-match", tag))
    date = response.header("last-modified")
    try:
        at = parsedate_to_datetime(date)
        is_past = at.replace(tzinfo=at.tzinfo or UTC).timestamp() <= response.fetched_at
    except (TypeError, ValueError, OverflowError, IndexError):
        is_past = False  # servers send anything
    if is_past and date.isascii() and date.isprintable():
        found.append(("if-modified-since", date))
    return tuple(found)
