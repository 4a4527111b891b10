"""Learns from judged pages which words and meanings are typical of the subject.

Two ridge regressions, of what the keywords say about a page on its words and on its
vector:

    critic(x) = μ + x·w,    w = Xᵀ(XXᵀ + Λ)⁻¹(y − μ)

Symbols: x a page, of length 1: each word with (1 + ln tf)·(0.05 + rarity²), its places
hashed with signs to `SIZE`; for the second one the sum of the vectors of title, opening
and text; y the target: the first score of the page, or 1 or 0 if someone said so (as of
examples); trust how often a page counts; μ the mean of y; Λ = λ/trust, λ 1, of
vectors ½.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from opilio.records import Page
from opilio.text.meaning import Rarity
from opilio.text.page_words import signed_places

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]

SIZE = 4096
WHOLE = 2048  # the length of a page; its square times four is exact in float32
MOST_WORDS = 2048  # of a page
ROOM = 512  # pages, at first
EXACT, MOST_STEPS = 1e-6, 200  # of conjugate gradients: the rest, as a share
WORDS_PENALTY, VECTOR_PENALTY = 1.0, 0.5


class CriticRow(NamedTuple):
    """The features of a page for the critics."""

    places: npt.NDArray[np.uint16]
    weights: npt.NDArray[np.int16]  # times WHOLE
    vector: Floats  # of length 1, or empty


class Critics(NamedTuple):
    """What both regressions learnt."""

    middle: float  # μ
    words: Floats
    vector: Floats

    def by_words(self, row: CriticRow) -> float:
        """The score of a page by its words."""
        weights = row.weights.astype(np.float32)
        return self.middle + float(weights @ self.words[row.places]) / WHOLE

    def by_vector(self, row: CriticRow) -> float:
        """The score of a page by its vector."""
        if len(row.vector) != len(self.vector):
            return self.middle
        return self.middle + float(row.vector @ self.vector)


def critic_row(page: Page, rarity: Rarity, vectors: Floats) -> CriticRow:
    """A page as the critics see it; `vectors` are those of its parts."""
    stems = np.frombuffer(page.stems, "<u8")
    weights = rarity.weights(page.stems, page.counts)
    if len(stems) > MOST_WORDS:
        most = np.sort(np.argsort(-weights, kind="stable")[:MOST_WORDS])
        stems, weights = stems[most], weights[most]
    places, signed = signed_places(stems, weights, SIZE, WHOLE)
    vector = vectors.sum(axis=0)
    norm = float(np.sqrt(vector @ vector))
    return CriticRow(
        places,
        signed,
        vector / np.float32(norm) if norm else vector[:0],
    )


class SeenPage(Protocol):
    """A page that was judged."""

    @property
    def row(self) -> CriticRow:
        """The page as the critics see it."""
        ...


class Lessons:
    """The pages that critics learn from, and how similar each is to each."""

    def __init__(self, dimensions: int) -> None:
        self._pages: list[SeenPage] = []
        # Of all pages, with room for more, which takes no memory until it is used: X,
        # XXᵀ, and X of vectors.
        self._all_words = np.zeros((ROOM, SIZE), np.float32)
        self._all_kernel = np.zeros((ROOM, ROOM), np.float32)
        self._all_vectors = np.zeros((ROOM, dimensions), np.float32)

    def learn(
        self, pages: Sequence[SeenPage], values: Floats, trust: Floats
    ) -> Critics:
        """Fit both regressions to pages and what is known about them."""
        middle = float(np.average(values, weights=trust))
        wanted = values - np.float32(middle)
        self._take(pages)
        kernel = self._kernel * np.float32(1 / WHOLE**2)
        kernel.flat[:: len(kernel) + 1] += np.float32(WORDS_PENALTY) / trust
        duals = solve_positive(kernel, wanted)
        words = (duals @ self._words) * np.float32(1 / WHOLE)
        return Critics(middle, words, ridge(self.vectors, wanted, trust))

    def _take(self, pages: Sequence[SeenPage]) -> None:
        """Keep exactly these pages; rows that are known already are reused."""
        places = {id(page): place for place, page in enumerate(self._pages)}
        before = np.array([places.get(id(page), -1) for page in pages], np.intp)
        old, new = np.flatnonzero(before >= 0), np.flatnonzero(before < 0)
        before = before[old]
        count = len(pages)
        self._pages = list(pages)
        if count > len(self._all_words) or not np.array_equal(before, old):
            self._move(count, before, old)
        for place in new.tolist():
            row = pages[place].row
            # Several words may share a place, so their weights are added up.
            self._all_words[place] = np.bincount(row.places, row.weights, SIZE)
            fits = len(row.vector) == self._all_vectors.shape[1]
            self._all_vectors[place] = row.vector if fits else 0
        fresh = self._all_words[new] @ self._words.T
        self._kernel[new] = fresh
        self._kernel[:, new] = fresh.T

    def _move(self, count: int, before: Places, now: Places) -> None:
        """Make room for `count` pages, and move the rows that are known."""
        room = len(self._all_words)
        room = room if count <= room else max(count, 2 * room)
        words = np.zeros((room, SIZE), np.float32)
        words[now] = self._all_words[before]
        vectors = np.zeros((room, self._all_vectors.shape[1]), np.float32)
        vectors[now] = self._all_vectors[before]
        kernel = np.zeros((room, room), np.float32)
        kernel[np.ix_(now, now)] = self._all_kernel[np.ix_(before, before)]
        self._all_words, self._all_vectors = words, vectors
        self._all_kernel = kernel

    @property
    def _words(self) -> Floats:
        return self._all_words[: len(self._pages)]

    @property
    def _kernel(self) -> Floats:
        return self._all_kernel[: len(self._pages), : len(self._pages)]

    @property
    def vectors(self) -> Floats:
        """Those of the pages, in their order; of a page without one, zeros."""
        return self._all_vectors[: len(self._pages)]


def solve_positive(matrix: Floats, wanted: Floats) -> Floats:
    """x of matrix·x = wanted by conjugate gradients (Hestenes and Stiefel 1952), for a
    positive definite matrix. With a ridge, some 15 steps make it as exact as
    elimination in float32 does, in a tenth of the time."""
    found = np.zeros_like(wanted)
    rest, step = wanted.copy(), wanted.copy()
    square = float(rest @ rest)
    enough = square * EXACT**2
    for _ in range(MOST_STEPS):
        if square <= enough:
            break
        along = matrix @ step
        length = np.float32(square / float(step @ along))
        found += length * step
        rest -= length * along
        before, square = square, float(rest @ rest)
        step = rest + np.float32(square / before) * step
    return found


def ridge(rows: Floats, wanted: Floats, trust: Floats) -> Floats:
    """The same regression on vectors: w = (XᵀΛ⁻¹X + I)⁻¹XᵀΛ⁻¹y where there are more
    pages than dimensions."""
    penalty = np.float32(VECTOR_PENALTY)
    if len(rows) <= rows.shape[1]:
        kernel = rows @ rows.T
        kernel.flat[:: len(kernel) + 1] += penalty / trust
        return solve_positive(kernel, wanted) @ rows
    weighted = rows.T * (trust / penalty)
    curve = weighted @ rows
    curve.flat[:: len(curve) + 1] += 1
    return solve_positive(curve, weighted @ wanted)
