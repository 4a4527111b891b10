"""Links that wait and what is asked for in; what each link is worth to who asked, out.

    S_F(U) = R_S,D · AnE_Score(U,Q)                   figure 5; the list carries S_F,
                                                      not the raw score: C.5-1
    fixed    max(that, β · R_S,D · AnE_Score(p,Q))    β = 0.1

S is the site that U stands on, p a page with U whose title stands for an anchor: where
no anchor names what is sought, links of pages that are about it may lead there. The
paper stops there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from opilio.site_model import Source, ul_score

BESIDE = 0.1  # β
ANCHORS = """
    SELECT link.id, host.name, link.promise, link.anchor, origin.name
    FROM link JOIN host ON host.id = link.host
    JOIN link AS place ON place.id = link.found_on
    JOIN host AS origin ON origin.id = place.host
    WHERE link.state = 'waiting' AND link.anchor <> '' AND (?1 = 0 OR host.taken < ?1)
"""
TITLES = """
    SELECT page.id, title, host.name
    FROM page JOIN link USING (id) JOIN host ON host.id = link.host
    WHERE score IS NOT NULL AND title <> ''
"""
BESIDES = """
    SELECT link.id, host.name, link.promise, edge.page
    FROM edge CROSS JOIN link ON link.id = edge.link
    JOIN host ON host.id = link.host
    WHERE edge.page IN (SELECT value FROM json_each(?2))
      AND link.state = 'waiting' AND (?1 = 0 OR host.taken < ?1)
"""


class Wanted(NamedTuple):
    """A link that may answer a query."""

    id: int
    host: str
    value: float  # ULScore
    promise: float  # to the crawl


class Interest:
    """Scores links, given AnE_Score of a text and R_S,D of a host."""

    def __init__(
        self,
        terms_in: Callable[[str], float],
        relation: Callable[[str], float],
        *,
        sites: Sequence[str] = (),
        beside: float = BESIDE,
    ) -> None:
        self.terms_in = lru_cache(2**16)(terms_in)
        self.relation = lru_cache(None)(relation)
        self.sites = sites  # that the query is limited to
        self.beside = beside

    def score(self, anchor: str, origin: str) -> float:
        """S_F(U), for a link on the site `origin`."""
        found = self.terms_in(anchor)
        return self.relation(origin) * found if found else 0.0

    def score_beside(self, title: str, origin: str) -> float:
        """S_F(U) of any link on a page with this title."""
        return self.beside * self.score(title, origin)

    def want(
        self, id: int, host: str, promise: float, score: float
    ) -> Iterator[Wanted]:
        """The link as it is wanted, if it is."""
        if score > 0 and self.is_asked(host):
            yield Wanted(id, host, ul_score(Source.MODEL, score), promise)

    def is_asked(self, host: str) -> bool:
        """May a page of this host answer?"""
        return not self.sites or any(f".{host}".endswith(f".{s}") for s in self.sites)

    def url_list(self, db: sqlite3.Connection, per_host: int = 0) -> Iterator[Wanted]:
        """Webpage_Expand_Strategy(Q, D): the outbound links of stored pages that wait
        and are wanted, but for those of hosts whose budget is spent."""
        for id, host, promise, anchor, origin in db.execute(ANCHORS, (per_host,)):
            yield from self.want(id, host, promise, self.score(anchor, origin))
        pages = {
            page: score
            for page, title, origin in (db.execute(TITLES) if self.beside else ())
            if (score := self.score_beside(title, origin))
        }
        about = msgspec.json.encode(list(pages)).decode()
        for id, host, promise, page in db.execute(BESIDES, (per_host, about)):
            yield from self.want(id, host, promise, pages[page])
