"""A Frontier for a query: leases the best waiting links, also those found meanwhile.

Yang's User Priority Queue. Only a few links are chosen ahead, so that better ones found
meanwhile come first, and few of one host, so that a slow host does not delay the
others.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush

from opilio.protocols import Frontier
from opilio.records import Lease, Ranked, State
from opilio.settings import Settings
from opilio.sites.chosen_links import ChosenLinks
from opilio.sites.link_interest import Interest, WantedLink
from opilio.text import urls

AHEAD = 32  # links chosen and not yet visited
OF_A_HOST = 4


Place = tuple[float, float, int]


def place(link: WantedLink) -> Place:
    """The sort key of a link: the best first, ties by promise, then FIFO."""
    return -link.value, -link.promise, link.id


class UserQueue(ChosenLinks):
    """Replaces the frontier of a crawl while pages are fetched for a query."""

    def __init__(
        self,
        frontier: Frontier,
        db: sqlite3.Connection,
        settings: Settings,
        interest: Interest,
    ) -> None:
        super().__init__(frontier, db, settings)
        self.interest = interest
        self.best: dict[str, list[Place]] = {}  # a heap per host, with outdated entries
        self.found: dict[int, list[tuple[int, str, float]]] = {}  # on pages just read
        self.wanted: dict[int, WantedLink] = {}
        self.ahead: dict[int, str] = {}  # id -> host
        self.tried: set[int] = set()

    def want(self, links: Iterable[WantedLink]) -> None:
        """Queue links by their values; of two values the greater counts.

        `refill` must follow.
        """
        for link in links:
            known = self.wanted.get(link.id)
            if link.id not in self.tried and (not known or place(link) < place(known)):
                self.wanted[link.id] = link
                heappush(self.best.setdefault(link.host, []), place(link))

    async def refill(self) -> None:
        """Choose the best links for which there is room."""
        busy = Counter(self.ahead.values())
        chosen: dict[int, float] = {}
        while len(self.ahead) < AHEAD:
            hosts = [
                host
                for host in self.best
                if busy[host] < OF_A_HOST and not self.rests(host)
            ]
            if not hosts:
                break
            host = min(hosts, key=lambda host: self.best[host][0])
            at = heappop(self.best[host])
            if not self.best[host]:
                del self.best[host]
            link = self.wanted.get(at[-1])
            if link is None or place(link) != at:
                continue
            del self.wanted[link.id]
            self.tried.add(link.id)
            busy[host] += 1
            self.ahead[link.id] = host
            chosen[link.id] = link.value
        await self.choose(chosen)

    async def refuse(self, id: int, turn: Lease) -> None:
        """Skip a link, after choosing the next one, as in `done`."""
        self.ahead.pop(id, None)
        await self.refill()
        await super().refuse(id, turn)

    async def leave(self, id: int, turn: Lease, *, contacted: bool = False) -> None:
        """Give a link back, after choosing the next one, as in `done`."""
        self.ahead.pop(id, None)
        await self.refill()
        await super().leave(id, turn, contacted=contacted)

    async def add(
        self,
        found: Iterable[Ranked],
        via: Lease | None = None,
        *,
        redirect: bool = False,
    ) -> list[int]:
        """Queue links in the crawl, and here if they may answer the query."""
        batch = list(found)
        ids = await super().add(batch, via, redirect=redirect)
        if via and not redirect:
            links = self.found[via.id] = []
            for id, ranked in zip(ids, batch, strict=True):
                if id and self.state(id) == State.WAITING:
                    link = id, urls.host(ranked.link.url), ranked.promise
                    links.append(link)
                    score = self.interest.score(ranked.link.anchor, via.host)
                    self.want(self.interest.want(*link, score))
        return ids

    async def done(
        self,
        lease: Lease,
        state: State,
        reason: str = "",
        *,
        contacted: bool = True,
        likeness: str = "",
    ) -> None:
        """End a lease, after choosing the next link, since an empty queue ends all."""
        self.ahead.pop(lease.id, None)
        self.look_beside(lease)
        await self.refill()
        await super().done(lease, state, reason, contacted=contacted, likeness=likeness)

    def look_beside(self, lease: Lease) -> None:
        """Queue all links of a page that was read, if its title matches."""
        links = self.found.pop(lease.id, ())
        row = self.db.execute("SELECT title FROM page WHERE id = ?", (lease.id,))
        [title] = row.fetchone() or [""]
        score = self.interest.score_beside(title or "", lease.host)
        for link in links:
            self.want(self.interest.want(*link, score))

    async def retry(
        self,
        lease: Lease,
        after: float,
        reason: str,
        *,
        counted: bool = True,
        contacted: bool = True,
    ) -> bool:
        """Queue the link again; False, and it is unusable, after too many attempts."""
        await self.refill()
        again = await super().retry(
            lease, after, reason, counted=counted, contacted=contacted
        )
        if not again:
            self.ahead.pop(lease.id, None)
        return again
