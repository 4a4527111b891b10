"""Takes one link through the stages: it alone knows their order.

Many visits are under way at a time. Each fetches a page, has it read, and records it in
a turn of its own (recording.py). A crash repeats visits; it never loses one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from opilio.crawl.recording import PageRecorder
from opilio.crawl.slow_lane import SlowLane
from opilio.crawl.stages import Stages
from opilio.errors import Transient, Unusable
from opilio.fetch.expected_redirects import ExpectedRedirects
from opilio.records import (
    Fingerprint,
    Lease,
    Link,
    Page,
    Ranked,
    Reading,
    Response,
    State,
)
from opilio.settings import Settings
from opilio.text import urls

if TYPE_CHECKING:
    from opilio.crawl.second_opinions import SecondOpinions

HEAVY_REST = 20  # times as long a host rests as its page kept a reader busy
DEAD = frozenset(("http_404", "http_410"))  # reasons of links that lead nowhere
MOVED = "moved"  # reason of a link parked because its redirect can be predicted
Bring = Callable[[Lease], Awaitable[int]]
"""Visits a link; returns the number of pages it brought: 1 or 0."""


class PageVisits(PageRecorder):
    """The visits of a crawl."""

    lane: SlowLane

    def __init__(self, settings: Settings, stages: Stages) -> None:
        super().__init__(settings, stages)
        self.fetch = stages.fetch
        self.adviser = stages.adviser
        self.opinions: SecondOpinions | None = None
        if self.adviser:
            from opilio.crawl.second_opinions import SecondOpinions

            self.opinions = SecondOpinions(self.adviser, self.readers)
            if counts := self.store.learnt("opinions"):
                self.opinions.load(counts)
        self.redirects = ExpectedRedirects()
        if learnt := self.store.learnt("redirects"):
            self.redirects.load(learnt)
        self.bring: Bring = self.fetch_page

    async def visit(self, lease: Lease) -> int:
        """Visit one link; returns the number of pages it brought: 1 or 0."""
        try:
            if self.store.in_hand.is_deadly(lease.fingerprint):
                raise Unusable(
                    "poison",
                    f"the process crashed repeatedly while processing {lease.url}",
                    contacted=False,
                )
            return await self.bring(lease)
        except Transient as error:
            await self.postpone(lease, error)
        except Unusable as error:
            # A host that is silent now may answer later: its links are tried again.
            silent = error.reason in ("dead_host", "offline")
            state = State.PARKED if silent else State.UNUSABLE
            async with self.turn():
                self.missed(lease, state, dead=error.reason in DEAD)
                await self.frontier.done(
                    lease, state, error.reason, contacted=error.contacted
                )
                if lease.redirects:
                    # The redirect may have been predicted wrongly: fetch the original.
                    original = await self.frontier.reopen(lease.found_on, MOVED)
                    if original:
                        self.redirects.doubt(original)
        return 0

    async def fetch_page(self, lease: Lease) -> int:
        """Fetch a link and keep its page, or queue the target of its redirect."""
        if expected := self.expected_target(lease):
            await self.move_on(lease, expected)
            return 0
        response = await self.lane.watch(lease, self.fetch.fetch(lease.url))
        if 300 <= response.status < 400:
            target = urls.join(lease.url, response.location)
            if target:
                self.redirects.note(lease.url, target)
            return await self.redirect(lease, response, target)
        self.redirects.note_page(lease.url)
        return await self.keep(lease, response)

    def expected_target(self, lease: Lease) -> str:
        """The predicted redirect target, from others of its host; "": not known."""
        target = self.redirects.expect(lease.url, lease.fingerprint)
        if lease.redirects >= self.settings.fetch.max_redirects:
            return ""
        return target if target and self.scope.allows(target) else ""

    async def move_on(self, lease: Lease, target: str) -> None:
        """Queue a predicted redirect target instead of the link, without a request."""
        async with self.turn():
            onward = Ranked(
                Link(target, urls.fingerprint(target)), lease.promise, level=lease.level
            )
            await self.frontier.add([onward], via=lease, redirect=True)
            self.missed(lease, State.COPY)
            await self.frontier.done(lease, State.PARKED, MOVED, contacted=False)

    async def keep(self, lease: Lease, response: Response) -> int:
        """Read a page, unless its content was seen before, and record it."""
        content = urls.fingerprint(response.content)
        reading = Reading(None)
        is_shell = self.rendering is not None and self.rendering.may_build(response)
        if is_shell or not self.store.seen.find(content):
            if self.extractions:
                await self.extractions.room()
            response, reading, content = await self.read(lease, response)
            if heavy := getattr(self.readers, "heavy", None):
                await self.rest_heavy(heavy)
            page = reading.page
            if page and page.refresh and page.refresh != lease.url:
                return await self.redirect(lease, response, page.refresh)
            if self.opinions and page and self.wants_opinion(lease, page):
                reading = await self.with_opinion(reading, response)
        async with self.turn(lease.fingerprint):
            return await self.record(lease, response, content, reading)

    def wants_opinion(self, lease: Lease, page: Page) -> bool:
        """Whether a page may be worth a second opinion: not if it is a near copy, or is
        judged by a query, too."""
        return lease.id not in self.judges and not self.near_copy(page)

    async def with_opinion(self, reading: Reading, response: Response) -> Reading:
        """The reading, with a second opinion on its page if the judge is unsure."""
        if not self.opinions:
            return reading
        return await self.opinions.ask(self.judge, reading, response)

    async def read(
        self, lease: Lease, response: Response
    ) -> tuple[Response, Reading, Fingerprint]:
        """Read a page, and render it first if it needs that; returns the fingerprint of
        its content, too."""
        reading = await self.readers.read(response)
        is_shell = False
        if self.rendering:
            rendered = await self.rendering.read(lease, response, reading)
            response, reading, is_shell = rendered
        # What scripts should have filled is no copy of another page.
        name = response.url.encode() if is_shell else b""
        return response, reading, urls.fingerprint(response.content + name)

    async def rest_heavy(self, heavy: dict[str, float]) -> None:
        """Let hosts rest whose pages take readers long, so that others get their
        share."""
        hosts = dict(heavy)
        heavy.clear()
        for host, seconds in hosts.items():
            await self.frontier.pace(host, rest=HEAVY_REST * seconds, why="heavy")

    async def redirect(self, lease: Lease, response: Response, target: str) -> int:
        """Queue the target of a redirect in the frontier."""
        if not target:
            raise Unusable("bad_redirect", f"{lease.url} redirects to an invalid URL")
        if not self.scope.allows(target):
            raise Unusable("scope", f"{lease.url} redirects out of scope to {target}")
        if lease.redirects >= self.settings.fetch.max_redirects:
            raise Unusable(
                "redirects",
                f"{lease.url} is redirect number {lease.redirects} in a row; the limit "
                f"is {self.settings.fetch.max_redirects} (fetch.max_redirects)",
            )
        link = Link(target, urls.fingerprint(target))
        if link.fingerprint == lease.fingerprint:
            raise Unusable("redirect_loop", f"{lease.url} redirects to itself")
        async with self.turn(lease.fingerprint):
            if await self.is_recorded(lease):
                return 0
            onward = Ranked(link, lease.promise, level=lease.level)
            [original] = await self.frontier.add([onward], via=lease, redirect=True)
            self.store.save_redirect(lease, response, original or None)
            self.missed(lease, State.COPY)
            await self.frontier.done(
                lease, State.COPY, "redirect", contacted=not response.replayed
            )
            if response.status < 300:  # a page with <meta http-equiv=refresh>
                self.tally.count(False)
        return int(response.status < 300)

    async def postpone(self, lease: Lease, error: Transient) -> None:
        """Queue a link to be retried later."""
        if error.reason == "robots_first":
            # Commit the rules of robots.txt before the host is visited again, so that
            # its delay is kept even across a crash.
            await self.committed.wait()
        async with self.turn():
            if error.host_rests:
                await self.frontier.pace(lease.host, rest=error.after, why=error.reason)
            await self.frontier.retry(
                lease,
                error.after,
                error.reason,
                counted=error.counted,
                contacted=error.contacted,
            )
