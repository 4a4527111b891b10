"""Chooses the waiting links to fetch next in each of Yang's phases.

Section 4.3, equations in opilio/equations/site_model.py; S is the site of the page with
link U, in phase 1 also the site that U leads to:

    1  fill in      U in S, S well profiled          (3)
    2  complete     S is indefinite                  (5)
    3  follow       any                              (6)

`paper`: exactly as published; ties in the order found. `fixed`: (3) over all concepts
of D, so that a site gains by those it lacks; anchors by count/√words, so that long ones
do not win; ties by anchor, then by the promise of the crawl's strategy, then in the
order found (papers.md C.5, 4, 5 and 10). In both, a site without any page of the domain
is not completed: its R is 0 except for smoothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import IntEnum
from functools import lru_cache

import msgspec
import numpy as np

from opilio.equations.site_model import Profile, SiteCounts
from opilio.profiles.models import SiteModels
from opilio.sites.waiting_links import Integers, Numbers, WaitingLinks


class Phase(IntEnum):
    """The phases of the evolver, in order."""

    FILL = 1
    COMPLETE = 2
    FOLLOW = 3
    REFRESH = 4


class Chosen(msgspec.Struct, frozen=True):
    """A link or page to visit, and why."""

    id: int
    url: str
    score: float  # S_2


class Choice:
    """Scores waiting links by the models as they are now."""

    def __init__(
        self,
        models: SiteModels,
        links: WaitingLinks,
        spent: Collection[int] = (),
        deep: Collection[int] = (),
    ) -> None:
        """`spent` are hosts and `deep` links that are not visited, by number."""
        self.models = models
        self.links = links
        self.literal = models.mode == "paper"
        self.sites = {row.web_no: row for row in models.rows.values()}
        last = max((0, *self.sites, *spent, int(links.hosts.max())))
        self.may = np.ones(last + 1, np.bool_)  # by the id of the host
        self.may[list(spent)] = False
        self.deep = np.isin(links.id, np.array(list(deep), np.int64))
        self.standing = lru_cache(None)(self.stand)
        self.score: dict[Phase, Callable[[], Numbers]] = {
            Phase.FILL: self.fill,
            Phase.COMPLETE: self.complete,
            Phase.FOLLOW: self.follow,
        }

    def best(self, phase: Phase, most: int) -> list[Chosen]:
        """The links of a phase with S_2 > 0, best first, at most `most`."""
        links, query = self.links, "SELECT url, state FROM link WHERE id = ?"
        scores = self.score[phase]()
        keys = [scores] if self.literal else [scores, self.named(), links.promise]
        while True:
            may = links.open & self.may[links.host] & (scores > 0) & ~self.deep
            rows = foremost(keys, np.flatnonzero(may), most)
            found = [
                (id, *self.models.db.execute(query, (id,)).fetchone(), score)
                for id, score in zip(
                    links.id[rows].tolist(), scores[rows].tolist(), strict=True
                )
            ]
            over = [id for id, _, state, _ in found if state != "waiting"]
            if not over:
                return [Chosen(id, url, score) for id, url, _, score in found]
            links.close(over)  # visited meanwhile through a redirect

    def fill(self) -> Numbers:
        """(3)"""
        gaps = np.zeros(len(self.may))
        everything = None if self.literal else len(self.models.concepts)
        for host, site in self.sites.items():
            if site.is_definite and site.counts.in_domain:
                gaps[host] = self.standing(host).gap(everything)
        return gaps[self.links.host]

    def complete(self) -> Numbers:
        """(5)"""
        known = [host for host, site in self.sites.items() if site.is_definite]
        hardly = np.ones(len(self.may), np.bool_)
        hardly[[0, *known]] = False
        return np.where(hardly[self.links.origin], self.named(), 0.0)

    def follow(self) -> Numbers:
        """(6)"""
        links, scale = self.links, self.scale()
        rows = np.flatnonzero((links.anchor > 0) & (links.origin > 0) & links.open)
        both = links.origin[rows].astype(np.int64) << 32 | links.anchor[rows]
        pairs, place = np.unique(both, return_inverse=True)
        values = np.array(
            [
                self.standing(pair >> 32).outbound(links.concepts[pair & 0xFFFFFFFF])
                for pair in pairs.tolist()
            ]
        )
        scores = np.zeros(len(links.id))
        scores[rows] = values[place] * scale[links.anchor[rows]]
        return scores

    def stand(self, host: int) -> Profile:
        """R and P of a host, by its id."""
        site = self.sites.get(host)
        return self.models.standing(site.counts if site else SiteCounts())

    def named(self) -> Numbers:
        """Anchor(U,D) of each link, by the mode."""
        counts = [sum(concepts.values()) for concepts in self.links.concepts]
        values = np.array(counts, np.float64) * self.scale()
        return values[self.links.anchor]

    def scale(self) -> Numbers:
        """The weight of a term in each anchor."""
        words = np.array(self.links.words, np.float64)
        return np.ones(len(words)) if self.literal else 1 / np.sqrt(words)


def foremost(keys: Sequence[Numbers], rows: Integers, most: int) -> Integers:
    """The `most` greatest of some ascending rows by the first key, ties by the next
    keys, then the first ones; sorted, without sorting all rows."""
    chosen = []
    for key in keys:
        if len(rows) <= most:
            break
        values = key[rows]
        cut = np.partition(values, len(values) - most)[len(values) - most]
        chosen.append(rows[values > cut])
        most -= len(chosen[-1])
        rows = rows[values == cut]
    best = np.concatenate((*chosen, rows[:most]))
    return best[np.lexsort((best, *(-key[best] for key in reversed(keys))))]
