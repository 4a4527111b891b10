"""Fetches pages for queries while a crawl continues its own work.

Yang's User Priority Queue, section 4.1: it is served before the Website Priority Queue,
which is the crawl's own frontier. The links that may answer a query are chosen as by
`opilio search --expand` on a crawl that does not run (sites/expander.py); here the
frontier leases them first, by the same clocks of hosts as everything else. Several
queries take turns.

The pages of a query are rows of `asked_page`, in the transaction of the page itself. A
query interrupted by a crash continues with the pages it still lacks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

from opilio.crawl import CrawlLoop
from opilio.frontier.frontier import LinkFrontier
from opilio.protocols import Judge
from opilio.records import Lease, Ranked, State
from opilio.sites.evolve_and_expand import query_weights
from opilio.sites.expander import Expander
from opilio.sites.link_interest import Interest, WantedLink
from opilio.sites.wanted_links import WantedLinks
from opilio.storage.database import open_database
from opilio.store.message_log import MessageLog, OpenQuery
from opilio.text import urls

PATIENCE = 10.0  # seconds; hosts that rest longer are not waited for
ENDED = {
    "pages": "{pages} fetched",
    "links": "{pages} fetched; no other waiting link matches the query",
    "time": "{pages} fetched; the time for it was up",
    "paused": "{pages} fetched; the crawl was paused",
}

MakeExpander = Callable[[str], Expander]


@dataclass
class Errand:
    """The state of one query."""

    query: OpenQuery
    expander: Expander
    until: float
    pages: int
    asked: Mapping[str, float]  # terms of the query
    judge: Judge | None  # that knows them; None: the crawl's own
    links: WantedLinks = field(default_factory=WantedLinks)
    interest: Interest | None = None  # None: waiting links were not looked through yet
    is_searching: bool = True
    task: asyncio.Task[None] | None = None  # looks for links
    asking: asyncio.Task[Sequence[str]] | None = None  # search engines
    found: dict[int, list[tuple[int, str, float]]] = field(default_factory=dict)

    def left(self) -> int:
        """Pages still to be fetched."""
        return self.query.ask.pages - self.pages


class UserQueries:
    """The queries that pages are fetched for; hears of all links as a Watcher."""

    def __init__(
        self,
        crawl: CrawlLoop,
        frontier: LinkFrontier,
        log: MessageLog,
        make_expander: MakeExpander,
    ) -> None:
        self.crawl = crawl
        self.frontier = frontier
        self.log = log
        self.make_expander = make_expander
        self.errands: dict[int, Errand] = {}
        self.is_closed = False

    def begin(self, query: OpenQuery) -> None:
        """Serve a query from now on; its links are looked for by `serve`."""
        until = self.crawl.clock() + query.ask.seconds
        expander = self.make_expander(query.ask.query)
        asked = query_weights(expander.query.words, expander.domain.subject.language)
        judges = self.crawl.query_judges
        judge = judges.judge_for(asked) if judges else None
        errand = Errand(query, expander, until, query.pages, asked, judge)
        self.errands[query.id] = errand
        self.frontier.report_to(self)
        self.read_for_all()

    def read_for_all(self) -> None:
        """Let readers count the terms of all queries."""
        if judges := self.crawl.query_judges:
            terms = chain.from_iterable(one.asked for one in self.errands.values())
            self.crawl.readers.renew(judges.also_read(dict.fromkeys(terms)))

    async def serve(self) -> None:
        """Look for the links of new queries, and end those whose time is up."""
        for errand in list(self.errands.values()):
            if errand.task is None:
                errand.task = asyncio.create_task(self.look_for_links(errand))
            elif errand.task.done():
                errand.task.result()  # which may be an error
            if errand.until < self.crawl.clock():
                async with self.crawl.turn():
                    self.end(errand, "time")
        self.prefer()

    def end_all(self, why: str) -> None:
        """End every query, within the caller's turn."""
        for errand in list(self.errands.values()):
            self.end(errand, why)

    async def close(self) -> None:
        """Stop waiting for search engines; open queries continue in the next run."""
        self.is_closed = True
        for errand in list(self.errands.values()):
            if errand.asking:
                errand.asking.cancel()
            if errand.task:  # not cancelled itself: it may be within a turn
                await errand.task

    async def look_for_links(self, errand: Errand) -> None:
        """Find the links that may answer: those that wait, and by search engines."""
        await self.crawl.commit()  # so that a reader sees all links
        interest, wanted = await asyncio.to_thread(self.scan, errand)
        errand.interest = interest
        errand.links.want(wanted)
        self.prefer()  # before engines are asked, which may take long
        most = (errand.left() + 1) // 2
        answers = await self.ask_engines(errand, most)
        entered = await errand.expander.enter(answers, interest, most)
        errand.links.want(entered)
        async with self.crawl.turn():
            errand.is_searching = False
            self.end_if_over(errand)

    async def ask_engines(self, errand: Errand, most: int) -> Sequence[str]:
        """What search engines answer; nothing if the crawl ends meanwhile."""
        if self.is_closed:
            return ()
        seconds = errand.query.ask.seconds / 2
        asking = errand.expander.ask_engines(most, seconds)
        errand.asking = asyncio.create_task(asking)
        await asyncio.wait([errand.asking])
        return () if errand.asking.cancelled() else errand.asking.result()

    def scan(self, errand: Errand) -> tuple[Interest, list[WantedLink]]:
        """The scores of links for the query, and the waiting links; reads all links, so
        it does not run in the thread of the crawl."""
        path = self.crawl.store.folder.database
        with closing(open_database(path, read_only=True)) as db:
            interest = errand.expander.interest(db)
            return interest, list(interest.url_list(db, self.crawl.settings.bounds))

    def found(
        self,
        links: Sequence[Ranked],
        ids: Sequence[int],
        via: Lease | None,
        *,
        redirect: bool,
    ) -> None:
        """Links were found: prefer those that may answer."""
        if via is None:
            return
        for errand in self.errands.values():
            if redirect and via.id in errand.links.ahead:
                for id, ranked in zip(ids, links, strict=True):
                    errand.links.go_for(id, urls.host(ranked.link.url))
            elif errand.interest and not redirect:
                self.want(errand, errand.interest, links, ids, via)

    def want(
        self,
        errand: Errand,
        interest: Interest,
        links: Sequence[Ranked],
        ids: Sequence[int],
        via: Lease,
    ) -> None:
        """Prefer links of a page by their anchors, and by its title once it is
        known."""
        beside = via.id in errand.links.ahead
        for id, ranked in zip(ids, links, strict=True):
            if id and self.frontier.waits(id):
                link = id, urls.host(ranked.link.url), ranked.promise
                score = interest.score(ranked.link.anchor, via.host)
                errand.links.want(interest.want(*link, score))
                if beside:
                    errand.found.setdefault(via.id, []).append(link)

    def ended(self, lease: Lease, state: State, reason: str) -> None:
        """A visit has ended; if it was for a query, count it there."""
        self.crawl.judges.pop(lease.id, None)
        for errand in list(self.errands.values()):
            if not errand.links.leave(lease.id):
                continue
            if state not in (State.UNUSABLE, State.PARKED) and reason != "redirect":
                errand.pages += 1
                self.log.add_page(errand.query.id, lease.id)
                self.look_beside(errand, lease)
            self.end_if_over(errand)
        self.prefer()

    def look_beside(self, errand: Errand, lease: Lease) -> None:
        """Prefer all links of a page that was read, if its title matches."""
        links = errand.found.pop(lease.id, ())
        if not links or not errand.interest:
            return
        rows = self.crawl.store.db.execute(
            "SELECT title FROM page WHERE id = ?", (lease.id,)
        )
        [title] = rows.fetchone() or [""]
        score = errand.interest.score_beside(title or "", lease.host)
        for link in links:
            errand.links.want(errand.interest.want(*link, score))

    def end_if_over(self, errand: Errand) -> None:
        """End a query that has its pages, or for which no link is left."""
        if errand.query.id not in self.errands:
            return
        if errand.left() <= 0:
            self.end(errand, "pages")
        elif not errand.is_searching:
            errand.links.choose(self.rests)
            if errand.links.is_empty:
                self.end(errand, "links")

    def end(self, errand: Errand, why: str) -> None:
        """End a query, within the caller's turn."""
        pages = f"{errand.pages:,} {'page' if errand.pages == 1 else 'pages'}"
        self.log.finish(errand.query.id, why, ENDED[why].format(pages=pages))
        del self.errands[errand.query.id]
        for id in errand.links.ahead:
            self.crawl.judges.pop(id, None)
        self.read_for_all()
        if not self.errands:
            self.frontier.report_to(None)

    def prefer(self) -> None:
        """Tell the frontier which links come first: one of each query in turn."""
        lists = [list(self.choose(errand)) for errand in self.errands.values()]
        turns = chain.from_iterable(zip_longest(*lists))
        self.frontier.prefer([id for id in turns if id])

    def choose(self, errand: Errand) -> Iterator[int]:
        """The links of one query that come next, as many as it still wants."""
        errand.links.choose(self.rests)
        soon = (id for id, host in errand.links.ahead.items() if not self.rests(host))
        for id in islice(soon, errand.left()):
            if errand.judge:
                self.crawl.judges.setdefault(id, errand.judge)
            yield id

    def rests(self, host: str) -> bool:
        """Whether a host rests too long to be waited for."""
        return self.frontier.rest_of(host) > PATIENCE
