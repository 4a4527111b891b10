"""Counts sites, languages, types and concepts of search results."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.search.searcher import Matches

VALUES = 8  # of a facet
REMEMBERED = 200_000  # entries
DETAILS = """
    SELECT entry, mime, concepts FROM indexed JOIN page ON page.id = indexed.page
    LEFT JOIN page_profile ON page_profile.id = page.id
    WHERE entry IN (SELECT value FROM json_each(?))
"""
HOST_NAMES = "SELECT id, name FROM host WHERE id IN (SELECT value FROM json_each(?))"


class FacetValue(msgspec.Struct, frozen=True):
    """A value of a facet, and how many results have it."""

    value: str
    pages: int


class EntryDetails(NamedTuple):
    """What the index does not know of a page."""

    mime: str = ""
    concepts: tuple[str, ...] = ()  # of the topic, that it is about


class DetailsMemory:
    """Remembers the details of entries, which do not change; used by one thread."""

    def __init__(self) -> None:
        self.known: dict[int, EntryDetails] = {}

    def of_entries(
        self, db: sqlite3.Connection, entries: Sequence[int]
    ) -> list[EntryDetails]:
        """The details of these entries, in their order."""
        if len(self.known) > REMEMBERED:
            self.known.clear()
        missing = [entry for entry in entries if entry not in self.known]
        if missing:
            decode = msgspec.json.Decoder(dict[str, int]).decode
            for entry, mime, concepts in db.execute(DETAILS, (as_json(missing),)):
                named = tuple(decode(concepts)) if concepts else ()
                self.known[entry] = EntryDetails(mime or "", named)
        nothing = EntryDetails()
        return [self.known.get(entry, nothing) for entry in entries]


def facets_of(
    db: sqlite3.Connection, found: Matches, details: Sequence[EntryDetails]
) -> dict[str, list[FacetValue]]:
    """The most frequent values of each facet: sites and languages of all results, types
    and concepts of the best ones."""
    sites = counted(found.hosts)
    names = dict(db.execute(HOST_NAMES, (as_json(list(sites)),)))
    counts: dict[str, Counter[str]] = {
        "site": Counter({names[host]: sites[host] for host in sites if host in names}),
        "language": Counter(
            {
                code.to_bytes(2, "big").decode("ascii", "replace"): pages
                for code, pages in counted(found.languages).items()
                if code
            }
        ),
        "type": Counter(filter(None, map(itemgetter(0), details))),
        "concept": Counter(chain.from_iterable(map(itemgetter(1), details))),
    }
    return {
        name: [FacetValue(*one) for one in values.most_common(VALUES)]
        for name, values in counts.items()
        if values
    }


def counted(numbers: npt.NDArray[np.int64]) -> dict[int, int]:
    """The most frequent numbers, and how often each occurs."""
    times = np.bincount(numbers)
    first = np.argsort(-times, kind="stable")[: VALUES + 1]
    return {int(one): int(times[one]) for one in first if times[one]}


def as_json(numbers: Iterable[int]) -> str:
    """Numbers as a parameter of a statement."""
    return msgspec.json.encode(list(numbers)).decode()
