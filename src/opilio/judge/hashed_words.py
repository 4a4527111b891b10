"""Turns pages into sparse rows of hashed word weights, and counts how rare words are.

A row is sparse: the place of a word among `PLACES`, by its hash, and its weight there,
1 + ½·ln tf. Words of the title have separate places from those of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from opilio.records import Page
from opilio.text import words

Places = npt.NDArray[np.uint32]
Weights = npt.NDArray[np.float32]

BITS = 18
PLACES = 1 << BITS
MOST = 4096  # words of a row; hostile pages have more
TITLE = 0.45  # length of the title's part of a row, beside 1 for the text
TITLE_SEED = 1  # of the hash, so that titles have separate places
RARE = 5  # pages that must have a word before it counts, once there are many pages


class WordRow(NamedTuple):
    """A page as weighted words, without their rarity."""

    places: Places
    weights: Weights
    text: int  # how many of them are of the text; the rest are the title's


class Stack(NamedTuple):
    """Rows one after another, with rarity, all of the same length."""

    places: Places
    weights: Weights
    starts: npt.NDArray[np.int64]

    def dot(self, direction: Weights) -> Weights:
        """The dot product of each row with a direction."""
        if not len(self.starts):
            return np.zeros(0, np.float32)
        along = self.weights * direction[self.places]
        return np.add.reduceat(along, self.starts)

    def sum(self, shares: npt.NDArray[np.floating]) -> Weights:
        """The rows added up, each times its share."""
        sizes = np.diff(np.append(self.starts, len(self.places)))
        weights = self.weights * np.repeat(shares, sizes)
        return np.bincount(self.places, weights, PLACES).astype(np.float32)


def row_of(page: Page) -> WordRow | None:
    """The row of a page; None if it has no words."""
    stems = np.frombuffer(page.stems, "<u8")
    if not len(stems):
        return None
    counts = np.frombuffer(page.counts, "<u2")
    if len(stems) > MOST:
        most = np.sort(np.argsort(-counts.astype(np.int64), kind="stable")[:MOST])
        stems, counts = stems[most], counts[most]
    text = (stems >> np.uint64(64 - BITS)).astype(np.uint32)
    weights = 1 + 0.5 * np.log(counts, dtype=np.float32)
    title = [
        xxh3_64_intdigest(word.encode(), TITLE_SEED) >> (64 - BITS)
        for word in dict.fromkeys(words.tokens(page.title)[:MOST])
    ]
    return WordRow(
        np.concatenate((text, np.array(title, np.uint32))),
        np.concatenate((weights, np.ones(len(title), np.float32))),
        len(text),
    )


class WordRarity:
    """How rare words are, by the pages seen so far: idf = ln((n+1)/(df+1))."""

    def __init__(self) -> None:
        self.pages = 0
        self.having = np.zeros(PLACES, np.uint32)  # df: pages that have the word

    def add(self, row: WordRow) -> None:
        """Count a page."""
        self.pages += 1
        self.having[row.places] += 1  # a place twice in a row still counts once

    def idf(self) -> Weights:
        """For each place; 0 for words of too few pages to learn from."""
        idf = np.log((self.pages + 1) / (self.having + 1)).astype(np.float32)
        idf[self.having < min(RARE, 1 + self.pages // 100)] = 0
        return idf


def weigh_row(row: WordRow, idf: Weights) -> Weights:
    """The weights of a row with rarity; text and title each of a fixed length."""
    weights = row.weights * idf[row.places]
    for part, length in (
        (weights[: row.text], 1.0),
        (weights[row.text :], TITLE),
    ):
        square = float(part @ part)
        if square:
            part *= length / sqrt(square)
    return weights


def stack(rows: Sequence[WordRow], idf: Weights) -> Stack:
    """Rows one after another, with rarity."""
    if not rows:
        nothing = np.zeros(0, np.int64)
        return Stack(nothing.astype(np.uint32), nothing.astype(np.float32), nothing)
    sizes = [len(row.places) for row in rows]
    return Stack(
        np.concatenate([row.places for row in rows]),
        np.concatenate([weigh_row(row, idf) for row in rows]),
        np.cumsum([0, *sizes[:-1]]),
    )
