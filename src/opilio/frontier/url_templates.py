"""Templates of URLs in; how many URLs of each were let in, and whether more are worth
a visit, out.

A template is a URL without its numbers and values, as calendars and endless lists have
it in common. Both kinds of counters take a fixed amount of memory, whatever comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from opilio.records import State
from opilio.text.urls import fingerprint

ROWS = 4
BITS = 21
LIKENESS_BITS = 22
_SLOT = (1 << BITS) - 1
_ONE = np.uint32(1)  # of the rows' own type: forty times faster than 1
_MIX = np.uint64(0x9E3779B97F4A7C15)
_IN_VAIN = (State.COPY, State.IRRELEVANT, State.KEPT)  # the last: if it is not new


class TemplateCount:
    """How often each template was counted; 0 stands for none and is not.

    A count-min sketch (Cormode & Muthukrishnan, 2005): four rows of counters, each row
    indexed by another hash of the template; the smallest of the four counts at least
    what is true, and after n URLs at most e·n/2²¹ more (13 for ten million) in all but
    2 % of cases. It takes 32 MB at most.
    """

    def __init__(self) -> None:
        self._rows = np.zeros((ROWS, 1 << BITS), np.uint32)

    def count(self, templates: Sequence[int]) -> list[int]:
        """Count URLs in their order; answers the number of each in its template."""
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
        """Count URLs, whatever their numbers are."""
        some = templates[templates != 0]
        for row, slots in zip(self._rows, _slots(some), strict=True):
            np.add.at(row, slots, _ONE)


class Novelty:
    """Whether a template still brings something new and relevant.

    It is spent once patience · (1 + kept) of its pages were in vain: one page kept in
    so many is enough to go on. A page that is kept although another was like it, as the
    months of a calendar are, was in vain, too. Templates whose fingerprints end alike
    share a counter; of two million that is hardly ever one that is spent. It takes 20
    MB at most.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._kept = np.zeros(1 << BITS, np.uint32).data
        self._vain = np.zeros(1 << BITS, np.uint32).data
        self._met = np.zeros(1 << LIKENESS_BITS, np.uint8).data

    def note(
        self, template: int, state: State, reason: str, likeness: str = ""
    ) -> None:
        """Take in how a visit to a URL of this template ended."""
        if not template:
            return
        if state is State.KEPT and self._is_first(template, likeness):
            self._kept[template & _SLOT] += 1
        elif state in _IN_VAIN and reason != "redirect":
            self._vain[template & _SLOT] += 1

    def _is_first(self, template: int, likeness: str) -> bool:
        """Is this the first page of its template that is like that?"""
        if not likeness:
            return True
        place = fingerprint(f"{template} {likeness}") & (1 << LIKENESS_BITS) - 1
        met, self._met[place] = self._met[place], 1
        return not met

    def is_spent(self, template: int) -> bool:
        """Are more URLs of this template not worth a visit?"""
        if not template or not self._patience:
            return False
        slot = template & _SLOT
        return self._vain[slot] >= self._patience * (1 + self._kept[slot])


def _slots(templates: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The places of each template in the rows, one row after the other."""
    # Two hashes make as many as one likes (Kirsch & Mitzenmacher, 2006).
    mixed = templates.view(np.uint64) * _MIX
    hashed = (mixed >> np.uint64(64 - BITS)).view(np.int64)
    step = (mixed >> np.uint64(22)).view(np.int64) | 1
    for _ in range(ROWS):
        yield hashed & _SLOT
        hashed = hashed + step
