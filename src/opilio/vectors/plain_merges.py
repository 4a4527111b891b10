"""Byte-pair merges in plain Python, used if nothing was compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

MOST = 256  # parts of a word, with room for bytes that stand for letters


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

    def letter(self, letter: str) -> list[int]:
        """The pieces that a letter is at first; -1: it has none."""
        number = self.vocabulary.get(letter)
        if number is not None:
            return [number]
        if not self.fallback:
            return [-1]
        coded = letter.encode("utf-8", "replace")
        return [self.vocabulary.get(f"<0x{one:02X}>", -1) for one in coded]
