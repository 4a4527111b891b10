"""Learns from visited links which vectors and words lead to relevant pages.

Vectors: a ridge regression of scores on link vectors, centred, from running sums:

    g = (Σeeᵀ − s·sᵀ/n + I)⁻¹ (Σe·r − s·Σr/n),     s = Σe
      = Cᵀ(CCᵀ + I)⁻¹ (r − mean of r)              while n is small

Words: how much better pages with a word are than others (Rocchio 1971):

    c(word) = (0.05 + rarity²)·Σ (r − base)·x(word)     over the pages read


Weights: the trained ones w are corrected by δ, which a ridge keeps small:

    δ = argmin Σ loss(r, σ(w·z + δ·z)) + λ/2·|δ|²     over the last links visited

Symbols: e the vector of a link that was visited, r the score of its page, z its
standardised features when it was chosen; x a page as its words, of length 1; C the e
minus their mean, a row for each of the n links.
"""

from __future__ import annotations

from collections import deque
from functools import reduce

import numpy as np
import numpy.typing as npt

from opilio.strategies.shared.chooser.loops import add_words
from opilio.strategies.shared.chooser.plain_rows import NO_WORD, WORD_BITS, Places
from opilio.vectors import codes

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

LATEST = 1500  # visits that correct the weights
LEAST = 15  # of them
FEWEST = 3  # links that show a direction
STEPS = 6
FLAT = 30.0


class Taught:
    """The direction of link vectors that leads to relevant pages."""

    def __init__(self, size: int) -> None:
        self.direction = np.zeros(size, np.float32)
        self.tables = codes.tables(self.direction)
        self.products = np.zeros((size, size))
        self.sum = np.zeros(size)
        self.scored = np.zeros(size)
        self.scores = 0.0
        self.count = 0
        self.new: list[tuple[Singles, float]] = []  # that are not in the sums

    def add(self, vector: Singles, score: float) -> None:
        """Add a link with this vector that led to a page of this score."""
        self.new.append((vector, score))

    def fit(self) -> None:
        """Compute the direction again."""
        if not self.new or not len(self.direction):
            return
        rows = np.array([vector for vector, _ in self.new], np.float64)
        scores = np.array([score for _, score in self.new])
        if not self.count and len(rows) < max(FEWEST, len(self.direction)):
            if len(rows) >= FEWEST:
                self.point(direction_of_few(rows, scores))
            return
        self.new.clear()
        self.products += rows.T @ rows
        self.sum += rows.sum(axis=0)
        self.scored += scores @ rows
        self.scores += float(scores.sum())
        self.count += len(rows)
        centred = self.products - np.outer(self.sum, self.sum) / self.count
        target = self.scored - self.sum * (self.scores / self.count)
        centred.flat[:: len(centred) + 1] += 1
        self.point(np.linalg.solve(centred, target).astype(np.float32))

    def point(self, direction: Singles) -> None:
        """Compare links with this direction from now on."""
        self.direction = direction
        self.tables = codes.tables(direction)


def direction_of_few(rows: Floats, scores: Floats) -> Singles:
    """The direction, from a few links with their vectors and scores."""
    centred = rows - rows.mean(axis=0)
    products = centred @ centred.T
    products.flat[:: len(products) + 1] += 1
    shares = np.linalg.solve(products, scores - scores.mean())
    found: Singles = (shares @ centred).astype(np.float32)
    return found


class WordValues:
    """How much better pages with a word are than others."""

    def __init__(self, rarity: Singles) -> None:
        # By the place of a word; those of the table of rarity are finer.
        rare = reduce(np.minimum, rarity.reshape(1 << WORD_BITS, -1).T)
        self._rare = (0.05 + rare * rare).astype(np.float32)
        self._rare[NO_WORD] = 0  # what is no word has no value
        self.sums = np.zeros((1 << WORD_BITS, 2), np.float32)  # of r·x, of x

    def add(self, words: Places, shares: npt.NDArray[np.uint8], score: float) -> None:
        """Add a page with these words and shares, and its score."""
        add_words(words, shares, score, self._rare, self.sums)


class Correction:
    """A correction of the trained weights, learnt from their errors in this crawl."""

    def __init__(self, size: int, penalty: float) -> None:
        self.weights = np.zeros(size)
        self.penalty = penalty
        self.rows: deque[tuple[Singles, float, float]] = deque(maxlen=LATEST)

    def add(self, row: Singles, offset: float, score: float) -> None:
        """A link with these features, of which the trained weights said `offset`,
        brought a page of this score."""
        self.rows.append((row, offset, score))

    def fit(self) -> None:
        """Compute the correction again, by Newton's method."""
        if len(self.rows) < LEAST:
            return
        rows = np.array([each[0] for each in self.rows], np.float64)
        offsets = np.array([each[1] for each in self.rows])
        scores = np.array([each[2] for each in self.rows])
        found = self.weights.copy()
        ridge = self.penalty * np.eye(len(found))
        for _ in range(STEPS):
            z = np.clip(offsets + rows @ found, -FLAT, FLAT)
            p = 1 / (1 + np.exp(-z))
            gradient = rows.T @ (p - scores) + self.penalty * found
            curve = (rows * (p * (1 - p))[:, None]).T @ rows + ridge
            found -= np.linalg.solve(curve, gradient)
        self.weights = found
