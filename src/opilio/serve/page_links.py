"""Finds the links of a page without an index, which would slow crawls down.

The edges of a page stand together in the table `edge`, mostly in the order in which
pages were fetched. So they are found by bisection; if a page was fetched again and its
edges moved, by a scan.
"""

from __future__ import annotations

import sqlite3


def links_on(db: sqlite3.Connection, page: int, number: int, most: int) -> list[int]:
    """The ids of the links of a page, in document order."""
    found = [link for _, link in from_place(db, first_edge(db, number), page, most)]
    if found:
        return found
    rows = db.execute("SELECT link FROM edge WHERE page = ? LIMIT ?", (page, most))
    return [link for (link,) in rows]


def first_edge(db: sqlite3.Connection, number: int) -> int:
    """The first row of `edge` that belongs to a page of this number or a later one."""
    low, high = 1, (db.execute("SELECT max(rowid) FROM edge").fetchone()[0] or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = db.execute(
            "SELECT number FROM edge JOIN page ON page.id = edge.page "
            "WHERE edge.rowid >= ? ORDER BY edge.rowid LIMIT 1",
            (middle,),
        ).fetchone()
        if row is not None and row[0] < number:
            low = middle + 1
        else:
            high = middle
    return low


def from_place(
    db: sqlite3.Connection, start: int, page: int, most: int
) -> list[tuple[int, int]]:
    """The edges of a page from a row on, up to the first of another page."""
    found: list[tuple[int, int]] = []
    rows = db.execute(
        "SELECT page, link FROM edge WHERE rowid >= ? ORDER BY rowid LIMIT ?",
        (start, most),
    )
    for source, link in rows:
        if source != page:
            break
        found.append((source, link))
    return found
