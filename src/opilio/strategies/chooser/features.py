"""The numbers by which links that wait are compared, and their scales.

With word vectors: meaning, taught, address, words, host, parents, path, siblings.
Without: anchor and around (keywords in them) take the place of meaning and taught.

    z = (x − mean)/spread, within ±4; mean and spread over a sample of what waits
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.strategies.chooser.groups import Groups
from opilio.strategies.chooser.lessons import Taught, WordValues
from opilio.strategies.chooser.waiting import Slots, Waiting
from opilio.types import Subject

Floats = npt.NDArray[np.float32]

COMMON = ("address", "words", "host", "parents", "path", "siblings")
WITH_VECTORS = ("meaning", "taught", *COMMON)
WITHOUT_VECTORS = ("anchor", "around", *COMMON)
LIMIT = 4.0
SAMPLE = 4096  # links over which means and spreads are taken
ORDINARY = 8  # links; with fewer, no spread is known
MOST_KEYWORDS = 64
NARROWEST = 0.01  # spread: where all links are alike, none shall stand out


class Meaning:
    """How similar vectors are to the keywords: half to the two most similar, half to
    all of them together."""

    def __init__(self, subject: Subject) -> None:
        weights = subject.weights
        heaviest = sorted(weights, key=lambda key: -weights[key])
        known = [subject.vectors[key] for key in heaviest if key in subject.vectors]
        rows = [np.frombuffer(each, "<f4") for each in known[:MOST_KEYWORDS]]
        rows = [row for row in rows if row.any()]
        self.size = len(rows[0]) if rows else 0
        self.keywords = np.array(rows, np.float32).reshape(len(rows), self.size)
        middle = self.keywords.sum(axis=0)
        length = float(np.linalg.norm(middle))
        self.middle = middle / np.float32(length) if length else middle

    def of(self, vectors: Floats) -> Floats:
        """The similarity of each row, a unit vector."""
        each = vectors @ self.keywords.T
        if each.shape[1] > 2:
            each = np.partition(each, each.shape[1] - 2, axis=1)[:, -2:]
        found: Floats = 0.5 * each.mean(axis=1) + 0.5 * (vectors @ self.middle)
        return found


class Features:
    """Works the numbers out for links that wait."""

    def __init__(
        self, subject: Subject, rarity: Floats, waiting: Waiting, groups: Groups
    ) -> None:
        self.meaning = Meaning(subject)
        self.waiting = waiting
        self.groups = groups
        self.taught = Taught(waiting.dimensions)
        self.words = WordValues(rarity)
        self.names = WITH_VECTORS if waiting.dimensions else WITHOUT_VECTORS
        self.mean = np.zeros(len(self.names), np.float32)
        self.spread = np.ones(len(self.names), np.float32)

    def seek(self, subject: Subject) -> None:
        """Compare with other keywords from now on."""
        meaning = Meaning(subject)
        if meaning.size == self.waiting.dimensions:
            self.meaning = meaning

    def raw(self, slots: Slots) -> Floats:
        """A row of numbers for each link."""
        waiting, groups = self.waiting, self.groups
        found = np.empty((len(slots), len(self.names)), np.float32)
        terms = waiting.terms[slots]
        if waiting.dimensions:
            vectors = waiting.vector[slots] * np.float32(1 / 127)
            found[:, 0] = self.meaning.of(vectors)
            found[:, 1] = vectors @ self.taught.direction
        else:
            found[:, :2] = terms[:, 1:]
        found[:, 2] = terms[:, 0]
        anchors = waiting.anchor[slots]
        used = anchors != 0
        values = self.words.of(anchors, groups.base)
        values = np.where(used, values, np.float32(0)).sum(axis=1)
        found[:, 3] = values / np.sqrt(np.maximum(used.sum(axis=1), 1))
        means = groups.means(
            waiting.host[slots], waiting.path[slots], waiting.page[slots]
        )
        found[:, 4] = means[:, 0]
        found[:, 5] = (waiting.scores[slots] + groups.base) / (
            waiting.parents[slots] + 1.0
        )
        found[:, 6:] = means[:, 1:]
        return found

    def standard(self, slots: Slots) -> Floats:
        """The same on their scales."""
        z = (self.raw(slots) - self.mean) / self.spread
        return np.clip(z, -LIMIT, LIMIT, out=z)

    def rescale(self, slots: Slots) -> None:
        """Take means and spreads from a sample of the links that wait."""
        if len(slots) < ORDINARY:
            return
        chosen = slots[:: max(1, len(slots) // SAMPLE)]
        rows = self.raw(chosen)
        self.mean = rows.mean(axis=0)
        self.spread = np.maximum(rows.std(axis=0), np.float32(NARROWEST))
