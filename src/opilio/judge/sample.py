"""Pages of a crawl in; a bounded sample of them, and how rare their words are, out.

Two parts, `SIZE` pages each: the surest by score, and any at all (a reservoir: each
page seen is in it with the same chance). Both are the same for the same pages in the
same order.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np

from opilio.judge.vectors import PLACES, Rarity, Row

SIZE = 400
FIRST_FIT = 30  # pages


class Seen(NamedTuple):
    """A page of the sample; tuples compare, so the surest are a heap."""

    score: float  # what it is kept for
    number: int  # of the page in the crawl: no two are equal
    keywords: float  # how much it speaks of the topic's keywords
    row: Row


class Sample:
    """What a learning judge remembers of the pages it saw."""

    def __init__(self, seed: int = 0) -> None:
        self.rarity = Rarity()
        self.surest: list[Seen] = []  # a heap, least sure first
        self.any: list[Seen] = []
        self.seed = seed
        self.next_fit = FIRST_FIT

    def add(self, row: Row, keywords: float, score: float) -> bool:
        """Take note of a page; True: there is enough more to learn from."""
        self.rarity.add(row)
        number = self.rarity.pages
        seen = Seen(score, number, keywords, row)
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

    def dump(self) -> bytes:
        """The sample as an npz file."""
        pages = [*self.surest, *self.any]
        having = self.rarity.having
        common = np.flatnonzero(having > 1)
        file = BytesIO()
        np.savez_compressed(
            file,
            counts=np.array(
                [self.rarity.pages, self.next_fit, len(self.surest)], np.int64
            ),
            common=np.diff(common, prepend=0).astype(np.uint32),
            having=having[common],
            scores=np.array([(seen.score, seen.keywords) for seen in pages]),
            numbers=np.array([seen.number for seen in pages], np.int64),
            text=np.array([seen.row.text for seen in pages], np.int64),
            sizes=np.array([len(seen.row.places) for seen in pages], np.int64),
            # Differences are small numbers, mostly, and those compress.
            places=np.diff(joined([seen.row.places for seen in pages]), prepend=0),
            weights=joined([seen.row.weights for seen in pages]).astype(np.float16),
        )
        return file.getvalue()

    def load(self, learnt: bytes) -> None:
        """Take up what `dump` gave."""
        with np.load(BytesIO(learnt), allow_pickle=False) as file:
            arrays = dict(file)
        self.rarity.pages, self.next_fit, surest = map(int, arrays["counts"])
        self.rarity.having = np.zeros(PLACES, np.uint32)
        self.rarity.having[np.cumsum(arrays["common"], dtype=np.int64)] = arrays[
            "having"
        ]
        edges = np.cumsum(arrays["sizes"])[:-1]
        places = np.split(np.cumsum(arrays["places"], dtype=np.uint32), edges)
        weights = np.split(arrays["weights"].astype(np.float32), edges)
        pages = [
            Seen(score, number, keywords, Row(*row))
            for (score, keywords), number, *row in zip(
                arrays["scores"].tolist(),
                arrays["numbers"].tolist(),
                places,
                weights,
                arrays["text"].tolist(),
                strict=True,
            )
        ]
        self.surest, self.any = pages[:surest], pages[surest:]


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays one after another; of none, an empty one."""
    return np.concatenate(arrays) if arrays else np.zeros(0, np.uint32)
