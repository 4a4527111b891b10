"""Loads all waiting links of a crawl into columns, for choosing among them.

Millions may wait. They are read once per round, and after that only new ones; only
anchors that name a concept are stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opilio.profiles.subject_concepts import SubjectConcepts

AT_ONCE = 2**14  # rows
LINKS = """
    SELECT id, host, found_on, promise, state = 'waiting',
        CASE WHEN state = 'waiting' THEN anchor END
    FROM link WHERE id > ? ORDER BY id
"""

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


class WaitingLinks:
    """The data for choosing links, in the order in which they were found."""

    def __init__(self, domain: SubjectConcepts) -> None:
        self.domain = domain
        self.id: Integers = np.zeros(0, np.int64)
        self.host: NDArray[np.int32] = np.zeros(0, np.int32)  # numbers; none is 0
        self.origin: NDArray[np.int32] = np.zeros(0, np.int32)  # of its page; 0: a seed
        self.promise: Numbers = np.zeros(0)  # by the crawl's own strategy
        self.anchor: NDArray[np.int32] = np.zeros(0, np.int32)  # 0: it names nothing
        self.open: NDArray[np.bool_] = np.zeros(0, np.bool_)  # may be chosen
        self.hosts: NDArray[np.int32] = np.zeros(1, np.int32)  # of all links, by id
        self.concepts: list[Mapping[str, int]] = [{}]  # of each anchor that names some
        self.words: list[int] = [1]  # in it
        self.numbers: dict[str, int] = {}  # of these anchors

    def take(self, db: sqlite3.Connection) -> None:
        """Add the links that were found since the last time."""
        cursor = db.execute(LINKS, (len(self.hosts) - 1,))
        columns = []
        while rows := cursor.fetchmany(AT_ONCE):
            columns.append(self.read(rows))
        if not columns:
            return
        id, host, found_on, promise, anchor = map(
            np.concatenate, zip(*columns, strict=True)
        )
        self.id = np.concatenate((self.id, id))
        self.host = np.concatenate((self.host, host))
        self.origin = np.concatenate((self.origin, self.hosts[found_on]))
        self.promise = np.concatenate((self.promise, promise))
        self.anchor = np.concatenate((self.anchor, anchor))
        self.open = np.concatenate((self.open, np.ones(len(id), np.bool_)))

    def read(self, rows: Sequence[Any]) -> tuple[NDArray[Any], ...]:
        """The columns of those rows that wait."""
        ids, hosts, found_on, promises, waits, anchors = zip(*rows, strict=True)
        id, host = np.array(ids), np.array(hosts, np.int32)
        room = id[-1] + 1 - len(self.hosts)
        self.hosts = np.append(self.hosts, np.zeros(room, np.int32))
        self.hosts[id] = host
        which = np.array(waits, np.bool_)
        return (
            id[which],
            host[which],
            np.array(found_on)[which],
            np.array(promises, np.float64)[which],
            self.number([anchor or "" for anchor in anchors])[which],
        )

    def number(self, anchors: Sequence[str]) -> NDArray[np.int32]:
        """The number of each anchor."""
        found = np.zeros(len(anchors), np.int32)
        for place, concepts in self.domain.concepts_of_anchors(anchors).items():
            anchor = anchors[place]
            number = self.numbers.setdefault(anchor, len(self.concepts))
            if number == len(self.concepts):
                self.concepts.append(concepts)
                self.words.append(len(anchor.split()) or 1)
            found[place] = number
        return found

    def close(self, ids: Sequence[int]) -> None:
        """Exclude links from the choice."""
        rows = np.searchsorted(self.id, ids)
        self.open[rows] = False
