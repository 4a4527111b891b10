"""The links that better ones have displaced from a full queue.

Koundal calls what is kept outside the queue All_URLs. Here it is the table `link`,
where a displaced link is `parked` with the reason `capacity`. The ledger finds the best
of them by an index, so memory holds no more than that one.
"""

from __future__ import annotations

from opilio.frontier import sort_keys
from opilio.frontier.ledger import Ledger
from opilio.frontier.link_columns import LinkColumns
from opilio.records import State

DISPLACED = State.PARKED, "capacity"

NONE = 0
UNKNOWN = -1


class Displaced:
    """Knows which displaced link comes first."""

    def __init__(self, links: LinkColumns, ledger: Ledger) -> None:
        self._links = links
        self._ledger = ledger
        self._best = UNKNOWN  # entry of the best one

    def best(self) -> int:
        """The entry that comes before all others; 0 when nothing is displaced."""
        if self._best == UNKNOWN:
            id = self._ledger.best_displaced()
            self._best = self._links.entry(id) if id else NONE
        return self._best

    def add(self, id: int) -> None:
        """Take in a link that was displaced, or that promises something else now."""
        if self._best == UNKNOWN:
            return
        entry = self._links.entry(id)
        if self._best == NONE or entry < self._best:
            self._best = entry
        elif self._best & sort_keys.ID_MASK == id:
            self._best = UNKNOWN  # it promises less than before

    def remove(self, id: int) -> None:
        """Take in that a link is displaced no longer."""
        if self._best > NONE and self._best & sort_keys.ID_MASK == id:
            self._best = UNKNOWN
