"""Fetches pages that may answer a query into a crawl.

Yang's User-Oriented Webpage Expander, section 4.2 and figure 5. The user queue takes

    F = 1   the query itself, to the search engines of the topic   ULScore = 3·100
    F = 2   a link U of a stored page of site S                    ULScore = 2·S_F(U)

and is served before all else: nothing else is fetched meanwhile. S_F is in
link_interest.py, AnE_Score in query_expansion.py. Ties are resolved by the promise of
links in the crawl.

`fixed`: R smoothed, AnE_Score by √length; results of engines come first, for at most
half of the pages; then also links on pages about the query. `paper`: exactly as
published; results of engines are F = 3 and new, ULScore 1.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from opilio.crawl import CrawlLoop
from opilio.equations.site_model import NEW_SCORE, SEARCH_SCORE, Source, ul_score
from opilio.profiles.models import load_sites
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.records import Link, Mode, Ranked, State
from opilio.search.query import Query
from opilio.sites.chosen_links import crawl_of_chosen, state_of
from opilio.sites.link_interest import BESIDE, Interest, WantedLink
from opilio.sites.query_expansion import AnchorScore, expand_query
from opilio.sites.user_queue import UserQueue
from opilio.text import urls

FETCHED = """
    SELECT url FROM page JOIN link USING (id)
    WHERE number > ? AND state IN ('kept', 'irrelevant') ORDER BY number
"""
COUNTED = """
    SELECT coalesce(sum(state = 'irrelevant'), 0), coalesce(sum(state = 'copy'), 0),
        coalesce(sum(state = 'unusable'), 0),
        coalesce(sum(state = 'kept' AND noindex), 0)
    FROM page JOIN link USING (id)
    WHERE number > ? AND status BETWEEN 200 AND 299
"""
ENDED = {"budget": "pages", "exhausted": "links"}

Ask = Callable[[str, int], Awaitable[Sequence[str]]]
"""Asks search engines; returns at most so many URLs, best first."""


class Expansion(msgspec.Struct, frozen=True, kw_only=True):
    """The result of fetching pages for a query."""

    terms: Mapping[str, float]  # of the expanded query
    pages: int  # fetched
    kept: int  # this and the next four add up to `pages`
    irrelevant: int
    copies: int
    unread: int
    noindex: int  # relevant, but marked noindex
    failed: int  # links that led to no page
    urls: Sequence[str]  # of the pages that are new and no copies, kept or not
    ended: str  # why: pages, links (there are no more), time, interrupted


class Expander:
    """Fetches pages for a query into an assembled crawl."""

    def __init__(
        self,
        crawl: CrawlLoop,
        domain: SubjectConcepts,
        query: Query,
        *,
        mode: Mode = "fixed",
        ask: Ask | None = None,
    ) -> None:
        self.crawl = crawl
        self.domain = domain
        self.query = query
        self.mode: Mode = mode
        self.ask = ask
        self.terms = expand_query(query, domain.subject, mode)
        self.running: CrawlLoop | None = None
        self.stopped = ""

    async def expand(self, pages: int, seconds: float) -> Expansion:
        """Fetch at most `pages` pages, for about `seconds` seconds."""
        await self.crawl.commit()  # so that the models know all pages
        db, settings = self.crawl.store.db, self.crawl.settings
        [before] = db.execute("SELECT coalesce(max(number), 0) FROM page").fetchone()
        interest = self.interest(db)
        queue = UserQueue(self.crawl.frontier, db, settings, interest)
        running = self.running = crawl_of_chosen(self.crawl, queue, pages)
        timer = asyncio.get_running_loop().call_later(seconds, self.stop, "time")
        try:
            most = (pages + 1) // 2
            answers = await self.ask_engines(most, seconds / 2)
            queue.want(await self.enter(answers, interest, most))
            queue.want(interest.url_list(db, settings.bounds))
            await queue.refill()
            ended = await running.run({})
        finally:
            timer.cancel()
            self.running = None
        tally = running.tally
        told = {"pages": tally.pages, "kept": tally.kept}
        self.crawl.store.catalogue.save_event("expanded", **told)
        await self.crawl.commit()
        irrelevant, copies, unread, hidden = db.execute(COUNTED, (before,)).fetchone()
        return Expansion(
            terms={" ".join(key): near for key, near in self.terms.items()},
            **told,
            irrelevant=irrelevant,
            copies=copies,
            unread=unread,
            noindex=hidden,
            failed=queue.failed,
            urls=[url for (url,) in db.execute(FETCHED, (before,))],
            ended=ENDED.get(ended, ended),
        )

    def interest(self, db: sqlite3.Connection) -> Interest:
        """What links are worth to whoever asked, by the models in crawl.db."""
        models = load_sites(db, self.domain, self.mode)
        score = AnchorScore(
            self.terms, self.domain.subject.language, self.mode, self.query.without
        )
        return Interest(
            score,
            lambda host: models.profile(host).relation,
            sites=self.query.sites,
            beside=0.0 if self.mode == "paper" else BESIDE,
            which=score.which,
        )

    async def ask_engines(self, most: int, seconds: float) -> Sequence[str]:
        """The results of search engines, if they arrive in time."""
        if self.ask is None:
            return ()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.ask(" ".join(self.query.words), most)
        return ()

    async def enter(
        self, answers: Sequence[str], interest: Interest, most: int
    ) -> list[WantedLink]:
        """Queue URLs in the crawl; returns the new ones, in their order."""
        allows = self.crawl.scope.allows
        found = [
            Ranked(Link(url, urls.fingerprint(url)), 1 / rank, {"asked for": 1.0})
            for rank, url in enumerate(answers, 1)
            if allows(url) and interest.is_asked(urls.host(url))
        ][:most]
        if not found:
            return []
        async with self.crawl.turn():
            ids = await self.crawl.frontier.add(found)
        await self.crawl.commit()
        value = ul_score(Source.SEARCH, SEARCH_SCORE)
        if self.mode == "paper":
            value = ul_score(Source.EXTRACTED, NEW_SCORE)
        return [
            WantedLink(id, urls.host(new.link.url), value, new.promise)
            for id, new in zip(ids, found, strict=True)
            if id and state_of(self.crawl.store.db, id) == State.WAITING
        ]

    def stop(self, reason: str = "interrupted") -> None:
        """Stop after the visits under way; the second time, cancel them."""
        again, self.stopped = self.stopped, reason
        if self.running and again:
            self.running.stop_now()
        elif self.running:
            self.running.stop_soon(reason)
