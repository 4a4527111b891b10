"""Leases the links that may answer a query, the best first, and no others.

Yang's User Priority Queue, for a crawl that does nothing else meanwhile. (In a crawl
that runs, steering/user_queries.py does the same.)
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from opilio.records import Lease, Ranked, State
from opilio.settings import Settings
from opilio.sites.chosen_links import ChosenLinks
from opilio.sites.link_interest import Interest, WantedLink
from opilio.sites.wanted_links import WantedLinks
from opilio.stage_protocols import Frontier
from opilio.text import urls


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
        self.links = WantedLinks()
        self.found: dict[int, list[tuple[int, str, float]]] = {}  # on pages just read

    def want(self, links: Iterable[WantedLink]) -> None:
        """Queue links by their values; of two values the greater counts.

        `refill` must follow.
        """
        self.links.want(links)

    async def refill(self) -> None:
        """Choose the best links for which there is room."""
        await self.choose(self.links.choose(self.rests))

    async def refuse(self, id: int, turn: Lease) -> None:
        """Skip a link, after choosing the next one, as in `done`."""
        self.links.leave(id)
        await self.refill()
        await super().refuse(id, turn)

    async def leave(self, id: int, turn: Lease, *, contacted: bool = False) -> None:
        """Give a link back, after choosing the next one, as in `done`."""
        self.links.leave(id)
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
        self.links.leave(lease.id)
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
            self.links.leave(lease.id)
        return again
