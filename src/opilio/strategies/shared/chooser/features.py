"""Computes the features of waiting links, and standardises them.

With word vectors: meaning, taught, address, words, host, parents, section,
siblings, link_words.
Without: anchor and around (keywords in them) take the place of meaning and taught.

    z = (x − mean)/spread, within ±4; mean and spread over a sample of what waits

Means over pages change with every page. Else links that were found before and after a
page could not be compared, so after each page the means follow those of some links that
wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from opilio.strategies.shared.chooser.groups import Groups
from opilio.strategies.shared.chooser.lessons import LinkWords, Taught, WordValues
from opilio.strategies.shared.chooser.loops import moved, raw, weigh
from opilio.strategies.shared.chooser.places import Slots
from opilio.strategies.shared.chooser.plain_rows import LIMIT
from opilio.strategies.shared.chooser.waiting import Waiting
from opilio.text.meaning import KeywordVectors, Rarity

if TYPE_CHECKING:
    from opilio.strategies.shared.chooser.plain_scores import Evidence

Floats = npt.NDArray[np.float32]

COMMON = (
    *("address", "words", "host", "parents", "section", "siblings"),
    "link_words",
)
WITH_VECTORS = ("meaning", "taught", *COMMON)
WITHOUT_VECTORS = ("anchor", "around", *COMMON)
SAMPLE = 4096  # links over which means and spreads are taken
FOLLOWED = 256  # links, about, whose means are followed from page to page
ORDINARY = 8  # links; with fewer, no spread is known
NARROWEST = 0.01  # spread: where all links are alike, none shall stand out


class Features:
    """Works the numbers out for links that wait."""

    def __init__(
        self,
        keywords: KeywordVectors,
        rarity: Rarity,
        waiting: Waiting,
        groups: Groups,
    ) -> None:
        self.keywords = keywords
        self.has_changed = False  # the keywords: some links know only those before
        self.waiting = waiting
        self.groups = groups
        self.taught = Taught(waiting.dimensions)
        self._direction = self.taught.direction  # that links were compared with
        self.words = WordValues(rarity.table)
        self.link_words = LinkWords(self.words.rare)
        self.names = WITH_VECTORS if waiting.dimensions else WITHOUT_VECTORS
        self.mean = np.zeros(len(self.names), np.float32)
        self.spread = np.ones(len(self.names), np.float32)
        # Some slots, their links, and the numbers of these when scales were taken.
        self._followed: Slots = np.zeros(0, np.int64)
        self._links = self._followed
        self._then = np.zeros((0, len(self.names)), np.float32)
        self._mean = self.mean  # at that time

    def seek(self, keywords: KeywordVectors) -> None:
        """Compare with other keywords from now on."""
        self.keywords = keywords
        self.has_changed = True

    def raw(self, slots: Slots) -> Floats:
        """A row of numbers for each link."""
        found = np.empty((len(slots), len(self.names)), np.float32)
        raw(slots, *self.evidence(), found)
        return found

    def evidence(self) -> Evidence:
        """What the numbers are worked out from, for `raw`."""
        waiting, groups, taught = self.waiting, self.groups, self.taught
        if taught.direction is not self._direction:
            self._direction = taught.direction
            waiting.taught[:] = np.nan
        return (
            waiting.columns,
            groups.columns,
            groups.base,
            groups.square,
            taught.tables,
            self.words.sums,
            self.link_words.table,
        )

    def standard(self, slots: Slots) -> Floats:
        """The same on their scales."""
        z = (self.raw(slots) - self.mean) / self.spread
        return np.clip(z, -LIMIT, LIMIT, out=z)

    def weigh(
        self, slots: Slots, weights: Floats, explore: float, bias: float
    ) -> tuple[Floats, Floats, Floats]:
        """The same, what each adds to the logits of links with these weights, at last
        how new their hosts are, and the chances of the links."""
        rows = self.raw(slots)
        added = np.empty((len(slots), len(self.names) + 1), np.float32)
        promises = np.empty(len(slots), np.float32)
        weigh(
            slots,
            rows,
            (self.mean, self.spread, weights),
            (self.waiting.host, self.groups.host_count.values),
            explore,
            bias,
            added,
            promises,
        )
        return rows, added, promises

    def rescale(self, slots: Slots) -> None:
        """Take means and spreads from a sample of the links that wait."""
        if len(slots) < ORDINARY:
            return
        chosen = slots[:: max(1, len(slots) // SAMPLE)].copy()
        rows = self.raw(chosen)
        self.mean = rows.mean(axis=0)
        self.spread = np.maximum(rows.std(axis=0), np.float32(NARROWEST))
        self._mean = self.mean
        self._followed = slots[:: max(1, len(slots) // FOLLOWED)].copy()
        self._links = self.waiting.link[self._followed]
        self._then = self.raw(self._followed)

    def follow(self) -> None:
        """Move the means by as much as those of the followed links that still wait have
        moved since the scales were taken."""
        waiting = self.waiting
        total = np.zeros(len(self.names), np.float32)
        count = moved(
            self._followed,
            self._links,
            self._then,
            (waiting.link, waiting.told),
            self.evidence(),
            total,
        )
        if count >= ORDINARY:
            self.mean = self._mean + total / np.float32(count)
