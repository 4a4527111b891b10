"""Stores the events of a strategy, to replay them after a restart.

Sums over all pages read so far depend on their order. So the events are stored, each
once and numbered, instead of the sums: after a restart the same events happen again in
the same order, and every number is the same to the last bit. An event costs one note,
however many links it affects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

E = TypeVar("E")


class StrategyJournal(Generic[E]):
    """Passes events to `happen`, now and again after a restart.

    >>> seen: list[int] = []
    >>> journal = StrategyJournal(int, seen.append)
    >>> journal.write(7)
    >>> list(StrategyJournal(int, seen.append).replay(journal.changes()))
    [7]
    >>> seen
    [7, 7]
    """

    def __init__(self, kind: type[E], happen: Callable[[E], None]) -> None:
        self._happen = happen
        self._written = 0
        self._new: list[tuple[int, bytes]] = []
        self._decode = msgspec.msgpack.Decoder(kind).decode
        self._encode = msgspec.msgpack.Encoder().encode

    def write(self, event: E) -> None:
        """Process an event, and store it."""
        self._happen(event)
        self._new.append((self._written, self._encode(event)))
        self._written += 1

    def changes(self) -> Iterator[tuple[int, bytes]]:
        """The events since the last call."""
        new, self._new = self._new, []
        return iter(new)

    def replay(self, notes: Iterable[tuple[int, bytes]]) -> Iterator[E]:
        """Process all events of earlier runs again; yields each of them."""
        for _, note in sorted(notes):
            event = self._decode(note)
            self._happen(event)
            self._written += 1
            yield event
