"""Keeps a bounded sample of the pages seen, and counts how rare their words are.

Two parts, `SIZE` pages each: the surest by score, and any at all (a reservoir: each
page seen is in it with the same chance). Both are the same for the same pages in the
same order.
"""

from __future__ import annotations

import heapq
import random
from typing import NamedTuple

from opilio.judge.hashed_words import WordRarity, WordRow

SIZE = 400
FIRST_FIT = 30  # pages


class SampledPage(NamedTuple):
    """A page of the sample; tuples compare, so the surest are a heap."""

    score: float  # its rank in the sample
    number: int  # of the page in the crawl: no two are equal
    keywords: float  # its keyword score
    row: WordRow


class Sample:
    """The pages that a learning judge remembers."""

    def __init__(self, seed: int = 0) -> None:
        self.rarity = WordRarity()
        self.surest: list[SampledPage] = []  # a heap, least sure first
        self.any: list[SampledPage] = []
        self.seed = seed
        self.next_fit = FIRST_FIT

    def add(self, row: WordRow, keywords: float, score: float) -> bool:
        """Add a page; True: there are enough new ones to learn again."""
        self.rarity.add(row)
        number = self.rarity.pages
        seen = SampledPage(score, number, keywords, row)
        if len(self.surest) < SIZE:
            heapq.heappush(self.surest, seen)
        else:
            heapq.heappushpop(self.surest, seen)
        if len(self.any) < SIZE:
            self.any.append(seen)
        else:
            # Random by page number, so that no generator state has to be stored.
            place = random.Random(self.seed << 32 | number).randrange(number)
            if place < SIZE:
                self.any[place] = seen
        if number < self.next_fit:
            return False
        self.next_fit = int(1.3 * number) + 5
        return True
