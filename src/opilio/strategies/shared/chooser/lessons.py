"""Learns from visited links which vectors and words lead to relevant pages.

Vectors: a ridge regression of scores on link vectors, centred, from running sums:

    g = (Σeeᵀ − s·sᵀ/n + I)⁻¹ (Σe·r − s·Σr/n),     s = Σe
      = Cᵀ(CCᵀ + I)⁻¹ (r − mean of r)              while n is small

Words: how much better pages with a word are than others (Rocchio 1971):

    c(word) = (0.05 + rarity²)·Σ (r − base)·x(word)     over the pages read

Words of links: a ridge regression of scores on the words of links, centred:

    v = argmin Σ (r − mean of r − l·v)² + |v|²          over the last links visited

Weights: the trained ones w are corrected by δ, which a ridge keeps small:

    δ = argmin Σ loss(r, σ(w·z + δ·z)) + λ/2·|δ|²     over the last links visited

Symbols: e the vector of a link that was visited, r the score of its page, z its
standardised features when it was chosen; x a page as its words, of length 1; C the e
minus their mean, a row for each of the n links; l the link as its words, of length 1:
each with √(0.05 + rarity²), and half of that if it stands around the link.
"""

from __future__ import annotations

from collections import deque
from functools import reduce

import numpy as np
import numpy.typing as npt

from opilio.strategies.shared.chooser.loops import add_words
from opilio.strategies.shared.chooser.plain_rows import (
    ADDRESS_WORDS,
    ANCHOR_WORDS,
    AROUND,
    LINK_WORDS,
    NO_WORD,
    WORD_BITS,
    Places,
)
from opilio.vectors import codes

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

LATEST = 1500  # visits that correct the weights and teach words
LEAST = 15  # of them
FEWEST = 3  # links that show a direction or words
STEPS = 6
FLAT = 30.0
EXACT, MOST_STEPS = 1e-3, 40  # of conjugate gradients: the rest, as a share

# How much each word of a link counts.
PARTS = np.full(LINK_WORDS, AROUND)
PARTS[: ANCHOR_WORDS + ADDRESS_WORDS] = 1


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
        self.rare = (0.05 + rare * rare).astype(np.float32)
        self.rare[NO_WORD] = 0  # what is no word has no value
        self.sums = np.zeros((1 << WORD_BITS, 2), np.float32)  # of r·x, of x

    def add(self, words: Places, shares: npt.NDArray[np.uint8], score: float) -> None:
        """Add a page with these words and shares, and its score."""
        add_words(words, shares, score, self.rare, self.sums)


class LinkWords:
    """What the words of visited links have taught."""

    def __init__(self, rare: Singles) -> None:
        """`rare` is 0.05 + rarity² of each word, by its place."""
        # Of each word √(0.05 + rarity²), and that times v.
        self.table = np.zeros((1 << WORD_BITS, 2), np.float32)
        self.table[:, 0] = np.sqrt(rare)
        self.table[NO_WORD] = 0
        self.links: deque[tuple[Places, float]] = deque(maxlen=LATEST)

    def add(self, words: Places, score: float) -> None:
        """Add a link with these words, LINK_WORDS, that led to a page of this score."""
        self.links.append((words, score))

    def fit(self) -> None:
        """Learn from all links again."""
        if len(self.links) < FEWEST:
            return
        words = np.array([each for each, _ in self.links])
        scores = np.array([score for _, score in self.links])
        weights = PARTS * self.table[:, 0][words]
        squares = (weights * weights).sum(axis=1, keepdims=True)
        weights /= np.sqrt(np.where(squares, squares, 1.0))
        places, flat = words.ravel(), weights.ravel()

        def gather(duals: Floats) -> Floats:
            """Xᵀ·duals"""
            each = flat * duals.repeat(LINK_WORDS)
            summed = np.bincount(places, each, 1 << WORD_BITS)
            return summed.astype(np.float64, copy=False)

        wanted = scores - scores.mean()
        found, rest = np.zeros_like(wanted), wanted
        step = rest
        square = float(rest @ rest)
        enough = square * EXACT**2
        for _ in range(MOST_STEPS):
            if square <= enough:
                break
            along = (weights * gather(step)[words]).sum(axis=1) + step
            length = square / float(step @ along)
            found, rest = found + length * step, rest - length * along
            before, square = square, float(rest @ rest)
            step = rest + (square / before) * step
        self.table[:, 1] = self.table[:, 0] * gather(found)


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
