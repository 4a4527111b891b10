"""Pieces of words and sums of their vectors in Python and numpy, used if nothing was
compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[Any]  # of float16 or float32
Vector = npt.NDArray[np.float32]

MOST = 256  # parts of a word, with room for bytes that stand for letters
FEW_ROWS = 8  # that numpy adds one after another, the first one last


class Merges:
    """Splits words into the pieces of a vocabulary by joining pairs of parts.

    Every letter is a part at first. Of all pairs of neighbours the one that stands
    first in the list of merges ("a b") is joined, the leftmost if there are several;
    and so on, until no pair is in the list. With `fallback`, bytes such as <0xC3> stand
    for letters without a piece; other letters without one are left out.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Iterable[str],
        fallback: bool,
    ) -> None:
        self.vocabulary = vocabulary
        self.fallback = fallback
        self.ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, each in enumerate(merges):
            left, _, right = each.partition(" ")
            first, second = vocabulary.get(left), vocabulary.get(right)
            made = vocabulary.get(left + right)
            if first is not None and second is not None and made is not None:
                self.ranks.setdefault((first, second), (rank, made))

    def split(self, text: str) -> list[int]:
        """The numbers of the pieces of a word; none if it is too long."""
        parts = [number for letter in text for number in self.letter(letter)]
        if len(parts) > MOST:
            return []
        none = (len(self.ranks), -1)
        pairs = [self.ranks.get(pair, none) for pair in pairwise(parts)]
        while pairs and (best := min(pairs, key=lambda each: each[0])) is not none:
            at = pairs.index(best)
            parts[at : at + 2] = [best[1]]
            del pairs[at]
            if at:
                pairs[at - 1] = self.ranks.get((parts[at - 1], parts[at]), none)
            if at < len(pairs):
                pairs[at] = self.ranks.get((parts[at], parts[at + 1]), none)
        return [part for part in parts if part >= 0]

    def split_all(
        self, words: Iterable[str], space: str, longest: int, unknown: int
    ) -> list[list[int]]:
        """The pieces of each word in lower case, which begins with `space`, without
        the unknown one; if it is one piece with a capital or in capitals, this."""
        every = []
        for word in words:
            found = self.split(space + word) if 0 < len(word) <= longest else []
            found = [number for number in found if number != unknown]
            if len(found) > 1:
                for form in (word.capitalize(), word.upper()):
                    number = self.vocabulary.get(space + form)
                    if number is not None:
                        found = [number]
                        break
            every.append(found)
        return every

    def letter(self, letter: str) -> list[int]:
        """The pieces that a letter is at first; -1: it has none."""
        number = self.vocabulary.get(letter)
        if number is not None:
            return [number]
        if not self.fallback:
            return [-1]
        coded = letter.encode("utf-8", "replace")
        return [self.vocabulary.get(f"<0x{one:02X}>", -1) for one in coded]


def sums(matrix: Matrix, pieces: Sequence[Sequence[int]]) -> Vector:
    """A row for each list of pieces: the sum of their rows. Where one of these has
    something that is no number, zeros."""
    filled = [number for number, each in enumerate(pieces) if each]
    found: Vector = np.zeros((len(pieces), matrix.shape[1]), np.float32)
    if filled:
        lengths = [len(pieces[number]) for number in filled]
        every = matrix[list(chain.from_iterable(pieces))]
        summed = sums_of_rows(every.astype(np.float32), lengths)
        found[filled] = np.where(
            np.isfinite(summed).all(axis=1, keepdims=True), summed, np.float32(0)
        )
    return found


def sums_of_rows(rows: Vector, lengths: Sequence[int]) -> Vector:
    """The sums of so many rows each; the same as np.add.reduceat, to the last bit, in a
    fifth of the time where most sums have one to three rows."""
    starts = np.array([0, *accumulate(lengths[:-1])])
    longest = max(lengths)
    if longest > FEW_ROWS:
        long: Vector = np.add.reduceat(rows, starts)
        return long
    found: Vector = rows[starts]
    sizes = np.array(lengths)
    for size in range(2, longest + 1):
        of_size = np.flatnonzero(sizes == size)
        first = starts[of_size]
        rest = rows[first + 1]
        for place in range(2, size):
            rest += rows[first + place]
        found[of_size] += rest
    return found
