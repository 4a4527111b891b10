"""Keeps which search engines found each seed, at which rank, and its priority class."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from opilio.store.catalogue import Catalogue

KIND = "seed_origin"  # of the events
BY_URL = "SELECT detail FROM event WHERE kind = ? AND json_extract(detail, '$.url') = ?"
ALL = "SELECT detail FROM event WHERE kind = ? ORDER BY id"


class FoundSeed(Protocol):
    """What is noted of a seed."""

    @property
    def url(self) -> str: ...
    @property
    def priority(self) -> str: ...
    @property
    def sources(self) -> Sequence[str]: ...
    @property
    def ranks(self) -> Mapping[str, int]: ...


class SeedOrigin(msgspec.Struct, frozen=True):
    """Where a seed came from (Kumar & Vig, III.A)."""

    url: str
    priority: str  # high, medium or low
    sources: Sequence[str]  # given, or the engines that found it
    ranks: Mapping[str, int] = {}  # engine -> place among its results, from 1

    def in_words(self) -> str:
        """For a person.

        >>> SeedOrigin("u", "high", ["brave", "given"], {"brave": 3}).in_words()
        'High: brave (rank 3), given'
        """
        named = [
            f"{source} (rank {self.ranks[source]})" if source in self.ranks else source
            for source in self.sources
        ]
        return f"{self.priority.capitalize()}: {', '.join(named)}"


def note_origins(catalogue: Catalogue, seeds: Iterable[FoundSeed]) -> None:
    """Keep where seeds came from."""
    for seed in seeds:
        catalogue.save_event(
            KIND,
            url=seed.url,
            priority=str(seed.priority),
            sources=list(seed.sources),
            ranks=dict(seed.ranks),
        )


def origin_of(db: sqlite3.Connection, url: str) -> SeedOrigin:
    """Where a seed came from; one of which nothing was noted was given."""
    row = db.execute(BY_URL, (KIND, url)).fetchone()
    if row is None:
        return SeedOrigin(url, "high", ["given"])
    return msgspec.json.decode(row[0], type=SeedOrigin)


def found_seeds(db: sqlite3.Connection) -> list[SeedOrigin]:
    """The seeds that were found, the best first."""
    rows = db.execute(ALL, (KIND,))
    return [msgspec.json.decode(row[0], type=SeedOrigin) for row in rows]


def count_classes(seeds: Iterable[SeedOrigin]) -> dict[str, int]:
    """How many seeds each class has."""
    counts = Counter(seed.priority for seed in seeds)
    return {name: counts[name] for name in ("high", "medium", "low") if counts[name]}
