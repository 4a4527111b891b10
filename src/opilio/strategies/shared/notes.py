"""Notes of a strategy on URLs, of which only the changes are written to disk.

A note is a tuple of numbers and strings under a fingerprint. Only notes that changed
are written with the next commit, so the cost depends only on the changes, however many
notes there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

N = TypeVar("N")


class Notes(dict[int, N], Generic[N]):
    """Key -> note; assign a new note to change one.

    >>> notes = Notes(tuple[int, float])
    >>> notes[7] = (1, 0.5)
    >>> again = Notes(tuple[int, float])
    >>> again.recall(notes.changes())
    >>> again[7]
    (1, 0.5)
    """

    def __init__(self, kind: type[N]) -> None:
        self._changed: set[int] = set()
        self._decode = msgspec.msgpack.Decoder(kind).decode
        self._encode = msgspec.msgpack.Encoder().encode

    def __setitem__(self, key: int, note: N) -> None:
        super().__setitem__(key, note)
        self._changed.add(key)

    def __delitem__(self, key: int) -> None:
        super().__delitem__(key)
        self._changed.add(key)

    def changes(self) -> Iterator[tuple[int, bytes | None]]:
        """The notes that changed since the last call; None: deleted."""
        changed, self._changed = self._changed, set()
        for key in sorted(changed):
            note = self.get(key)
            yield key, None if note is None else self._encode(note)

    def recall(self, notes: Iterable[tuple[int, bytes | None]]) -> None:
        """Restore the notes of an earlier run."""
        for key, note in notes:
            if note is not None:
                super().__setitem__(key, self._decode(note))
