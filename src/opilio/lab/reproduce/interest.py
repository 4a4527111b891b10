"""Simulates users whose queries drift from one subject to another during a crawl.

Of N requests, all users ask for the first subject during the first quarter; during the
second quarter more and more ask for the other, and from half of N on all do. So at
request n a share s of the queries is about the second subject:

    s(n) = min(1, max(0, (n − N/4) / (N/4)))

and what is wanted then is what half of the users or more ask for. A query is one or two
keywords of its subject, those named first the likelier (Zipf's law).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

import msgspec

BATCHES = 40  # times that the log grows during a crawl
QUERIES = 50  # each time
LIKELIHOOD = 0.5  # that a query has a second keyword


class Batch(msgspec.Struct, frozen=True):
    """Queries that arrive after a number of requests."""

    after: int
    queries: Sequence[str]


def share_of_second(request: int, budget: int) -> float:
    """s(n), the share of users who ask for the second subject."""
    return min(1.0, max(0.0, 4 * request / budget - 1))


def query_log(
    first: Sequence[str], second: Sequence[str], budget: int, seed: str
) -> list[Batch]:
    """All queries of a crawl; the first batch is there before it begins."""
    chance = random.Random(seed)
    return [
        Batch(after, batch(first, second, share_of_second(after, budget), chance))
        for after in range(0, budget, max(1, budget // BATCHES))
    ]


def batch(
    first: Sequence[str], second: Sequence[str], share: float, chance: random.Random
) -> list[str]:
    """Some queries, a share of them about the second subject."""
    others = round(share * QUERIES)
    return [
        query(second if number < others else first, chance) for number in range(QUERIES)
    ]


def query(keywords: Sequence[str], chance: random.Random) -> str:
    """One or two keywords."""
    likely = list(accumulate(1 / (rank + 1) for rank in range(len(keywords))))
    words = chance.choices(keywords, cum_weights=likely)
    if chance.random() < LIKELIHOOD:
        words += chance.choices(keywords, cum_weights=likely)
    return " ".join(dict.fromkeys(words))
