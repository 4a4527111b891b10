"""What happens to a strategy in; a note of each event, to be made durable, out.

Sums over all pages read so far depend on their order. So it is the events that are
kept, each once and numbered, and not the sums: after a restart the same events happen
again in the same order, and every number is the same to its last bit. An event costs
one note however many links it touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

E = TypeVar("E")


class StrategyJournal(Generic[E]):
    """Tells events to `happen`, now and once more after a restart.

    >>> seen: list[int] = []
    >>> journal = Journal(int, seen.append)
    >>> journal.write(7)
    >>> list(Journal(int, seen.append).replay(journal.changes()))
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
        """Let it happen, and remember that it did."""
        self._happen(event)
        self._new.append((self._written, self._encode(event)))
        self._written += 1

    def changes(self) -> Iterator[tuple[int, bytes]]:
        """The events since the last call."""
        new, self._new = self._new, []
        return iter(new)

    def replay(self, notes: Iterable[tuple[int, bytes]]) -> Iterator[E]:
        """Let all that earlier runs wrote down happen again; gives each event then."""
        for _, note in sorted(notes):
            event = self._decode(note)
            self._happen(event)
            self._written += 1
            yield event
