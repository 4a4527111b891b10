"""How many links each page is from the homepage of its site: Yang's tree level.

A website is a tree to the evolver, and Tree_Level_Limit (`[sites]`, `topic/file.py`)
says how deep it is walked. The level of a link is the length of the shortest way to it
from its site's homepage, along links within the site that were found so far. A link
that no such way leads to has no level, and no limit.
"""

from __future__ import annotations

import sqlite3

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 2**16  # rows
MOST_HOPS = 10  # redirects from the root
NO_LEVEL = -1
HOMES = """
    SELECT coalesce(root, entry), entry FROM site WHERE coalesce(root, entry) != 0
"""

Integers = NDArray[np.int64]
Levels = NDArray[np.int16]


class TreeLevels:
    """The levels of all links of a crawl, by id; new edges are read once."""

    def __init__(self) -> None:
        self._last = 0  # rowid of the last edge
        self._from: list[Integers] = []
        self._to: list[Integers] = []

    def of(self, db: sqlite3.Connection, hosts: NDArray[np.int32]) -> Levels:
        """The level of each link; `hosts` has the host of each, by id."""
        self._take(db)
        levels = np.full(len(hosts), NO_LEVEL, np.int16)
        source = np.concatenate(self._from) if self._from else np.zeros(0, np.int64)
        target = np.concatenate(self._to) if self._to else np.zeros(0, np.int64)
        inside = (source < len(hosts)) & (target < len(hosts))
        source, target = source[inside], target[inside]
        inside = hosts[source] == hosts[target]
        source, target = source[inside], target[inside]
        reached = homes(db)
        reached = reached[reached < len(hosts)]
        level = 0
        while len(reached):
            levels[reached] = level
            is_new = np.zeros(len(hosts), np.bool_)
            is_new[reached] = True
            found = target[is_new[source]]
            reached = np.unique(found[levels[found] == NO_LEVEL])
            level += 1
        return levels

    def _take(self, db: sqlite3.Connection) -> None:
        cursor = db.execute(
            "SELECT rowid, page, link FROM edge WHERE rowid > ? ORDER BY rowid",
            (self._last,),
        )
        while rows := cursor.fetchmany(AT_ONCE):
            columns = np.array(rows, np.int64)
            self._last = int(columns[-1, 0])
            self._from.append(columns[:, 1])
            self._to.append(columns[:, 2])


def homes(db: sqlite3.Connection) -> Integers:
    """The links of all homepages: what the root of a site is or redirects to, or where
    the crawl came in if that has no page."""
    found = set()
    for root, entry in db.execute(HOMES).fetchall():
        found.add(home_page(db, root) or entry)
    return np.array(sorted(found - {0}), np.int64)


def home_page(db: sqlite3.Connection, link: int) -> int:
    """The page that a root is or redirects to; 0: there is none."""
    for _ in range(MOST_HOPS):
        row = db.execute(
            "SELECT score, copy_of FROM page WHERE id = ?", (link,)
        ).fetchone()
        if row is None:
            return 0
        score, copy_of = row
        if score is not None:
            return link
        if not copy_of:
            return 0
        link = copy_of
    return 0
