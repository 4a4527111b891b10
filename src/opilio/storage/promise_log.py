"""New promises of links that the table `link` does not have yet.

Strategies change the promises of links all over the table, and changing one row makes
SQLite write a whole page of the file. So the promises of a commit are stored together
in the table `new_promise`: one row for each group of 4,096 neighbouring links. When a
group has as many new promises as links, they are copied to `link`: by then there are a
dozen for each page, so a new promise costs the same however many links there are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import msgspec

GROUP_BITS = 12
MANY = 1 << GROUP_BITS  # new promises of a group, which are then copied to `link`
GOLDEN = (5**0.5 - 1) / 2

Execute = Callable[..., sqlite3.Cursor]
StoredPromise = tuple[int, float, str | None]
"""The id of a link, its promise, and the parts of it as JSON."""

_ADD = "INSERT INTO new_promise VALUES (?, ?, ?, ?)"
_READ = "SELECT previous, promises FROM new_promise WHERE id = ?"
_DELETE = "DELETE FROM new_promise WHERE id = ?"
_COPY = "UPDATE link SET promise = ?, parts = ? WHERE id = ?"
_LAST = "SELECT max(id) FROM new_promise GROUP BY group_id ORDER BY group_id"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[StoredPromise]).decode


class PromiseLog:
    """The table `new_promise` while a crawl runs; it must be empty at first."""

    def __init__(self, execute: Execute, executemany: Execute) -> None:
        self._execute, self._executemany = execute, executemany
        self._last = 0  # row
        self._rows: dict[int, int] = {}  # group -> its last row, if it has any
        self._counts: dict[int, int] = {}  # group -> promises since the last copy

    def may_have(self, link: int) -> bool:
        """Whether the table may have a promise of this link."""
        return link >> GROUP_BITS in self._rows

    def write(self, promises: Sequence[StoredPromise]) -> None:
        """Store promises, given in the order of their links."""
        added, deleted, copied = [], [], []
        for group, these in groupby(promises, lambda new: new[0] >> GROUP_BITS):
            some = list(these)
            previous = self._rows.pop(group, 0)
            count = self._count(group) + len(some)
            if count < MANY:
                self._last += 1
                added.append((self._last, group, previous, _encode(some)))
                self._rows[group] = self._last
            else:
                count = 0
                latest = {new[0]: new for new in some}
                for row, older in _history(self._execute, previous):
                    deleted.append((row,))
                    latest = {new[0]: new for new in older} | latest
                copied += [latest[link] for link in sorted(latest)]
            self._counts[group] = count
        self._executemany(_ADD, added)
        self._executemany(_COPY, [(*new[1:], new[0]) for new in copied])
        self._executemany(_DELETE, deleted)

    def copy_all(self) -> None:
        """Copy everything to `link`."""
        _copy_all(self._execute, self._executemany)
        self._rows.clear()
        self._counts.clear()

    def _count(self, group: int) -> int:
        """The promises since the last copy. At first it is any number, so that the
        groups are not all copied at once."""
        return self._counts.get(group, int(group * GOLDEN % 1 * MANY))


def copy_all(db: sqlite3.Connection) -> None:
    """Copy all new promises to `link`, before anything else is done with a crawl."""
    _copy_all(db.execute, db.executemany)


def _copy_all(execute: Execute, executemany: Execute) -> None:
    for (last,) in execute(_LAST, ()).fetchall():
        latest: dict[int, StoredPromise] = {}
        for _, older in _history(execute, last):
            latest = {new[0]: new for new in older} | latest
        executemany(_COPY, [(*latest[link][1:], link) for link in sorted(latest)])
    execute("DELETE FROM new_promise", ())


def new_promise(db: sqlite3.Connection, link: int) -> StoredPromise | None:
    """The promise of a link that its row in `link` does not have yet."""
    group = (link >> GROUP_BITS,)
    last = db.execute("SELECT max(id) FROM new_promise WHERE group_id = ?", group)
    for _, older in _history(db.execute, last.fetchone()[0] or 0):
        for new in older:
            if new[0] == link:
                return new
    return None


def _history(execute: Execute, row: int) -> Iterator[tuple[int, list[StoredPromise]]]:
    """The rows of a group and their promises, the last one first."""
    while row:
        previous, packed = execute(_READ, (row,)).fetchone()
        yield row, _decode(packed)
        row = previous
