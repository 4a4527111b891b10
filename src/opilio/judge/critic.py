"""Learns from judged pages which words and meanings go with the subject.

Two ridge regressions, of what the keywords say about a page on its words and on its
vector:

    critic(x) = μ + x·w,    w = Xᵀ(XXᵀ + λI)⁻¹(y − μ)

Symbols: x a page, of length 1: each word with (1 + ln tf)·(0.05 + rarity²), its places
hashed with signs to `SIZE`; for the second one the sum of the vectors of title, opening
and text; y what is known of the page: its first score, or 1 or 0 if someone said so (as
of examples), which then counts `TOLD` times; μ their mean; λ 1, of vectors ½.

A page is scored before it is learnt from, so no page tells about itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.meaning import word_weights
from opilio.types import Page

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.uint16]

SIZE = 4096
MOST_WORDS = 2048  # of a page
TOLD = 8.0
WORDS_PENALTY, VECTOR_PENALTY = 1.0, 0.5


class Row(NamedTuple):
    """A page as the critics see it."""

    places: Places
    weights: Floats
    vector: Floats  # of length 1, or empty


class Critics(NamedTuple):
    """What both regressions learnt."""

    middle: float  # μ
    words: Floats
    vector: Floats

    def by_words(self, row: Row) -> float:
        """What the words of a page say."""
        return self.middle + float(row.weights @ self.words[row.places])

    def by_vector(self, row: Row) -> float:
        """What the vector of a page says."""
        if not len(row.vector) or not len(self.vector):
            return self.middle
        return self.middle + float(row.vector @ self.vector)


def row_of(page: Page, rarity: Floats, vectors: Floats) -> Row:
    """A page as the critics see it; `vectors` are those of its parts."""
    stems = np.frombuffer(page.stems, "<u8")
    weights = word_weights(stems, page.counts, rarity)
    if len(stems) > MOST_WORDS:
        most = np.sort(np.argsort(-weights, kind="stable")[:MOST_WORDS])
        stems, weights = stems[most], weights[most]
    length = float(np.sqrt(weights @ weights))
    signs = np.where(stems & np.uint64(1 << 20), np.float32(1), np.float32(-1))
    places = ((stems >> np.uint64(1)) & np.uint64(SIZE - 1)).astype(np.uint16)
    vector = vectors.sum(axis=0)
    norm = float(np.linalg.norm(vector))
    return Row(
        places,
        weights * signs / np.float32(length or 1.0),
        vector / np.float32(norm) if norm else vector[:0],
    )


def learn(rows: Sequence[Row], values: Floats, told: npt.NDArray[np.bool_]) -> Critics:
    """Fit both regressions to pages and what is known of them."""
    trust = np.where(told, TOLD, 1.0).astype(np.float32)
    middle = float(np.average(values, weights=trust))
    dense = np.zeros((len(rows), SIZE), np.float32)
    for number, row in enumerate(rows):
        # Several words may share a place, so their weights are added up.
        dense[number] = np.bincount(row.places, row.weights, SIZE)
    words = ridge(dense, values - middle, np.float32(WORDS_PENALTY) / trust)
    size = max(len(row.vector) for row in rows)
    if not size:
        return Critics(middle, words, np.zeros(0, np.float32))
    meanings = np.zeros((len(rows), size), np.float32)
    for number, row in enumerate(rows):
        meanings[number, : len(row.vector)] = row.vector
    vector = ridge(meanings, values - middle, np.float32(VECTOR_PENALTY) / trust)
    return Critics(middle, words, vector)


def ridge(rows: Floats, values: Floats, penalties: Floats) -> Floats:
    """w = Xᵀ(XXᵀ + Λ)⁻¹y"""
    kernel = rows @ rows.T
    kernel.flat[:: len(kernel) + 1] += penalties
    found: Floats = rows.T @ np.linalg.solve(kernel, values).astype(np.float32)
    return found
