"""Website models and links that wait in; which to fetch next, by Yang's phases, out.

Section 4.3, equations in opilio/site_model.py; S is the site that a link U stands on,
in phase 1 also the site that it leads to:

    1  fill in      U in S, S well profiled          (3)
    2  complete     S is indefinite                  (5)
    3  follow       any                              (6)

`paper`: to the letter; links that are equal in the order they were found in. `fixed`:
(3) over all concepts of D, so that a site gains by those it lacks; anchors by
count/√words, so that long ones do not win; links that are equal by their anchor, then
by what the crawl's strategy thinks of them, then as they were found (papers.md C.5, 4,
5 and 10). In both, a site without any page of the
domain is not filled in: its R is 0 but for smoothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from enum import IntEnum
from functools import lru_cache
from heapq import nsmallest
from math import sqrt
from typing import NamedTuple

import msgspec

from opilio.sites.domain import Domain
from opilio.sites.models import SiteModels, SiteProfile

WAITING = """
    SELECT link.id, link.url, host.name, link.anchor, origin.name, link.promise
    FROM link JOIN host ON host.id = link.host
    LEFT JOIN link AS place ON place.id = link.found_on
    LEFT JOIN host AS origin ON origin.id = place.host
    WHERE link.state = 'waiting' AND (? = 0 OR host.taken < ?)
"""


class Phase(IntEnum):
    """What the evolver does, in this order."""

    FILL = 1
    COMPLETE = 2
    FOLLOW = 3
    REFRESH = 4


class Chosen(msgspec.Struct, frozen=True):
    """A link or page to visit, and why."""

    id: int
    url: str
    score: float  # S_2


class Waiting(NamedTuple):
    """A link that waits in the frontier."""

    id: int
    url: str
    host: str
    anchor: str
    origin: str  # host of the page it was found on; "": it is a seed
    promise: float = 0.0  # by the crawl's own strategy


def waiting(db: sqlite3.Connection, per_host: int = 0) -> Iterator[Waiting]:
    """The links that wait, but for those of hosts whose budget is spent."""
    rows = db.execute(WAITING, (per_host, per_host))
    for id, url, host, anchor, origin, promise in rows:
        yield Waiting(id, url, host, anchor or "", origin or "", promise)


class Choice:
    """Scores waiting links by the models as they are now."""

    def __init__(self, models: SiteModels, domain: Domain) -> None:
        self.models = models
        self.domain = domain
        self.literal = models.mode == "paper"
        self.profile = lru_cache(None)(models.profile)
        self.concepts = lru_cache(2**16)(domain.concepts_of_anchor)
        self.score: dict[Phase, Callable[[Waiting], float]] = {
            Phase.FILL: self.fill,
            Phase.COMPLETE: self.complete,
            Phase.FOLLOW: self.follow,
        }

    def best(
        self,
        phase: Phase,
        links: Iterator[Waiting],
        most: int,
        without: Collection[int] = (),
    ) -> list[Chosen]:
        """The links of a phase with S_2 > 0, best first, at most so many."""
        score = self.score[phase]
        found = (
            (value, link)
            for link in links
            if link.id not in without and (value := score(link)) > 0
        )
        best = nsmallest(most, found, key=self.place)
        return [Chosen(link.id, link.url, value) for value, link in best]

    def place(self, scored: tuple[float, Waiting]) -> tuple[float, float, float, int]:
        """Where a link stands: best first, of equal ones by anchor, promise, age."""
        value, link = scored
        if self.literal:
            return -value, 0.0, 0.0, link.id
        return -value, -self.named(link.anchor), -link.promise, link.id

    def fill(self, link: Waiting) -> float:
        """(3)"""
        site = self.profile(link.host)
        return self.gap(site) if site.definite and site.in_domain else 0.0

    def complete(self, link: Waiting) -> float:
        """(5)"""
        if not link.origin or self.profile(link.origin).definite:
            return 0.0
        return self.named(link.anchor)

    def follow(self, link: Waiting) -> float:
        """(6)"""
        if not link.origin:
            return 0.0
        anchor = self.concepts(link.anchor)
        if not anchor:
            return 0.0
        scale = self.scale(link.anchor)
        return self.profile(link.origin).standing.outbound(anchor) * scale

    def gap(self, site: SiteProfile) -> float:
        """(3), by the mode."""
        return site.standing.gap(None if self.literal else len(self.models.concepts))

    def named(self, anchor: str) -> float:
        """Anchor(U,D), by the mode."""
        return sum(self.concepts(anchor).values()) * self.scale(anchor)

    def scale(self, anchor: str) -> float:
        """What a term in an anchor counts for."""
        return 1.0 if self.literal else 1 / sqrt(len(anchor.split()) or 1)
