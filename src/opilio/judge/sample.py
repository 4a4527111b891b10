"""Pages of a crawl in; a bounded sample of them, and how rare their words are, out.

Two parts, `SIZE` pages each: the surest by score, and any at all (a reservoir: each
page seen is in it with the same chance). Both are the same for the same pages in the
same order.
"""

from __future__ import annotations

import heapq
import random
from typing import NamedTuple

from opilio.judge.vectors import WordRarity, WordRow

SIZE = 400
FIRST_FIT = 30  # pages


class SampledPage(NamedTuple):
    """A page of the sample; tuples compare, so the surest are a heap."""

    score: float  # what it is kept for
    number: int  # of the page in the crawl: no two are equal
    keywords: float  # how much it speaks of the topic's keywords
    row: WordRow


class Sample:
    """What a learning judge remembers of the pages it saw."""

    def __init__(self, seed: int = 0) -> None:
        self.rarity = WordRarity()
        self.surest: list[SampledPage] = []  # a heap, least sure first
        self.any: list[SampledPage] = []
        self.seed = seed
        self.next_fit = FIRST_FIT

    def add(self, row: WordRow, keywords: float, score: float) -> bool:
        """Take note of a page; True: there is enough more to learn from."""
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
            # By number, not by a running generator: nothing to be saved.
            place = random.Random(self.seed << 32 | number).randrange(number)
            if place < SIZE:
                self.any[place] = seen
        if number < self.next_fit:
            return False
        self.next_fit = int(1.3 * number) + 5
        return True
