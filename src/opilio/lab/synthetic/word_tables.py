"""Tables of words in which each comes as often as it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

TABLE = 4096  # entries of a word table; a word's share of them is its frequency


class Form(NamedTuple):
    """A sentence with slots, and for each slot the table its word comes from."""

    pattern: str
    tables: tuple[list[str], ...]


def table(*groups: tuple[float, Sequence[str]]) -> list[str]:
    """TABLE entries in which each group has its share, its words by Zipf's law."""
    entries: list[str] = []
    end = 0.0
    for share, words in groups:
        total = sum(1 / (rank + 3) for rank in range(len(words)))
        for rank, word in enumerate(words):
            end += share * TABLE / (rank + 3) / total
            entries.extend([word] * (round(end) - len(entries)))
    return entries
