"""Counts URLs by template, and notices templates that bring nothing new.

A template is a URL without its numbers and parameter values, which the URLs of a
calendar or an endless list have in common. Both counters take a fixed amount of memory.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from opilio.records import State
from opilio.text.urls import fingerprint

ROWS = 4
BITS = 19  # of a row
NOVELTY_BITS = 20
LIKENESS_BITS = 22
_SLOT = (1 << BITS) - 1
_ONE = np.uint32(1)  # of the rows' own type: forty times faster than 1
# Places follow from the product with a number that nobody knows: otherwise a site could
# have URLs that share the counters of another site's template, and use these up.
_SECRET = secrets.randbits(64) | 1
_MIX = np.uint64(_SECRET)
_IN_VAIN = (State.COPY, State.IRRELEVANT, State.KEPT)  # the last: if it is not new


class TemplateCount:
    """How many URLs each template has; 0 stands for no template and is not counted.

    A count-min sketch (Cormode & Muthukrishnan, 2005): four rows of counters, each
    indexed by another hash of the template. The smallest of the four is at least the
    true count, and after n URLs at most e·n/2¹⁹ more (52 for ten million) in all but 2
    % of cases. It takes 8 MB.
    """

    def __init__(self) -> None:
        self._rows = np.zeros((ROWS, 1 << BITS), np.uint32)

    def count(self, templates: Sequence[int]) -> list[int]:
        """Count URLs in their order; returns the number of each in its template."""
        values = np.array(templates, np.int64)
        before = np.full(len(values), 2**32)
        for row, slots in zip(self._rows, _slots(values), strict=True):
            before = np.minimum(before, row.take(slots))
        self.add(values)
        here: dict[int, int] = {}
        numbers = []
        for template, number in zip(templates, before.tolist(), strict=True):
            here[template] = rank = here.get(template, 0) + 1
            numbers.append(number + rank if template else 0)
        return numbers

    def add(self, templates: NDArray[np.int64]) -> None:
        """Count URLs, without returning their numbers."""
        some = templates[templates != 0]
        for row, slots in zip(self._rows, _slots(some), strict=True):
            np.add.at(row, slots, _ONE)


class Novelty:
    """Whether a template still brings new relevant pages.

    It is exhausted once patience · (1 + kept) of its pages were fruitless, so one kept
    page in `patience` is enough to continue. A kept page that is like another one, as
    the months of a calendar are, also counts as fruitless. Some templates share a
    counter; among a million counters that is rarely an exhausted one. It takes 12 MB.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._kept = np.zeros(1 << NOVELTY_BITS, np.uint32).data
        self._vain = np.zeros(1 << NOVELTY_BITS, np.uint32).data
        self._met = np.zeros(1 << LIKENESS_BITS, np.uint8).data

    def note(
        self, template: int, state: State, reason: str, likeness: str = ""
    ) -> None:
        """Note how a visit to a URL of this template ended."""
        if not template:
            return
        if state is State.KEPT and self._is_first(template, likeness):
            self._kept[_counter(template)] += 1
        elif state in _IN_VAIN and reason != "redirect":
            self._vain[_counter(template)] += 1

    def _is_first(self, template: int, likeness: str) -> bool:
        """Whether this is the first page of its template with this likeness."""
        if not likeness:
            return True
        mixed = fingerprint(f"{template} {likeness}") * _SECRET
        place = (mixed & 2**64 - 1) >> 64 - LIKENESS_BITS
        met, self._met[place] = self._met[place], 1
        return not met

    def is_spent(self, template: int) -> bool:
        """Whether further URLs of this template are not worth a visit."""
        if not template or not self._patience:
            return False
        slot = _counter(template)
        return self._vain[slot] >= self._patience * (1 + self._kept[slot])


def _counter(template: int) -> int:
    """The counter of a template in a Novelty."""
    return (template * _SECRET & 2**64 - 1) >> 64 - NOVELTY_BITS


def _slots(templates: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The index of each template in the rows, one row after the other."""
    # Any number of hashes can be made from two (Kirsch & Mitzenmacher, 2006).
    mixed = templates.view(np.uint64) * _MIX
    hashed = (mixed >> np.uint64(64 - BITS)).view(np.int64)
    step = (mixed >> np.uint64(22)).view(np.int64) | 1
    for _ in range(ROWS):
        yield hashed & _SLOT
        hashed = hashed + step
