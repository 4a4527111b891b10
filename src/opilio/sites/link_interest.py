"""Scores waiting links by how well they match a query.

    S_F(U) = R_S,D · AnE_Score(U,Q)                   figure 5; the list carries S_F,
                                                      not the raw score: C.5-1
    fixed    max(that, β · R_S,D · AnE_Score(p,Q))    β = 0.1

S is the site of the page with U, p a page with U whose title is used like an anchor:
where no anchor matches, links on pages about the query may lead to answers. The paper
has only the first line.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from opilio.equations.site_model import Source, ul_score
from opilio.settings import BoundsSettings
from opilio.sites.host_budgets import SPENT, limits

BESIDE = 0.1  # β
AT_ONCE = 2**14  # rows
ANCHORS = "SELECT id, anchor FROM link WHERE state = 'waiting' AND anchor <> ''"
TITLES = "SELECT id, title FROM page WHERE score IS NOT NULL AND title <> ''"
PLACES = """
    SELECT link.id, link.host, host.name, link.promise, origin.name
    FROM json_each(?) CROSS JOIN link ON link.id = value
    JOIN host ON host.id = link.host
    LEFT JOIN link AS place ON place.id = link.found_on
    LEFT JOIN host AS origin ON origin.id = place.host
"""
BESIDES = """
    SELECT link.id, link.host, host.name, link.promise, edge.page
    FROM edge CROSS JOIN link ON link.id = edge.link
    JOIN host ON host.id = link.host
    WHERE edge.page IN (SELECT value FROM json_each(?)) AND link.state = 'waiting'
"""


class WantedLink(NamedTuple):
    """A link that may answer a query."""

    id: int
    host: str
    value: float  # ULScore
    promise: float  # in the crawl


def all_of(texts: Sequence[str]) -> Iterable[int]:
    """The numbers of all of them."""
    return range(len(texts))


class Interest:
    """Scores links, given AnE_Score of a text and R_S,D of a host."""

    def __init__(
        self,
        terms_in: Callable[[str], float],
        relation: Callable[[str], float],
        *,
        sites: Sequence[str] = (),
        beside: float = BESIDE,
        which: Callable[[Sequence[str]], Iterable[int]] = all_of,
    ) -> None:
        self.terms_in = lru_cache(2**16)(terms_in)
        self.relation = lru_cache(None)(relation)
        self.sites = sites  # that the query is limited to
        self.beside = beside
        self.which = which  # returns the numbers of texts that may contain a term

    def score(self, anchor: str, origin: str) -> float:
        """S_F(U), for a link on the site `origin`."""
        found = self.terms_in(anchor)
        return self.relation(origin) * found if found else 0.0

    def score_beside(self, title: str, origin: str) -> float:
        """S_F(U) of any link on a page with this title."""
        return self.beside * self.score(title, origin)

    def want(
        self, id: int, host: str, promise: float, score: float
    ) -> Iterator[WantedLink]:
        """The link with its score, if it is wanted."""
        if score > 0 and self.is_asked(host):
            yield WantedLink(id, host, ul_score(Source.MODEL, score), promise)

    def is_asked(self, host: str) -> bool:
        """Whether a page of this host may answer."""
        return not self.sites or any(f".{host}".endswith(f".{s}") for s in self.sites)

    def url_list(
        self, db: sqlite3.Connection, bounds: BoundsSettings | None = None
    ) -> Iterator[WantedLink]:
        """Webpage_Expand_Strategy(Q, D): the waiting outbound links of stored pages
        that are wanted, except those of hosts whose budget is used up."""
        spent = {
            host for (host,) in db.execute(SPENT, limits(bounds or BoundsSettings()))
        }
        for id, number, host, promise, origin, anchor in self.naming(db, ANCHORS):
            if number not in spent and origin:
                yield from self.want(id, host, promise, self.score(anchor, origin))
        pages = {
            page: score
            for page, _, host, _, _, title in (
                self.naming(db, TITLES) if self.beside else ()
            )
            if (score := self.score_beside(title, host))
        }
        for id, number, host, promise, page in db.execute(BESIDES, (ids(pages),)):
            if number not in spent:
                yield from self.want(id, host, promise, pages[page])

    def naming(self, db: sqlite3.Connection, query: str) -> Iterator[Any]:
        """The links whose text may match, with the text; `query` selects ids and texts.
        Few match, so only these are looked up."""
        cursor = db.execute(query)
        while rows := cursor.fetchmany(AT_ONCE):
            which = self.which([text for _, text in rows])
            texts = dict(rows[number] for number in which)
            for row in db.execute(PLACES, (ids(texts),)).fetchall():
                yield *row, texts[row[0]]


def ids(found: Iterable[int]) -> str:
    """Ids for json_each."""
    return msgspec.json.encode(list(found)).decode()
