"""Divides the pages of a round among Yang's first three phases.

`paper`: all to the first phase that has links, since "a phase runs while it yields a
URL with S_2>0, then the next" (papers.md C.5-8). Sites have more links than a round has
pages, so the later phases are hardly ever reached.

`fixed`: the same number to each; what a phase cannot use goes to the others. (Giving
more to phases with better results was tried, and made no difference.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from opilio.records import Mode

P = TypeVar("P")


def shares_of_phases(
    pages: int, phases: Sequence[P], mode: Mode = "fixed"
) -> dict[P, int]:
    """Pages for the phases that have links, in order; the first get the remainder.

    >>> shares(11, [1, 2, 3])
    {1: 4, 2: 4, 3: 3}
    """
    if mode == "paper":
        return {phases[0]: pages}
    each, more = divmod(pages, len(phases))
    given = {phase: each + (place < more) for place, phase in enumerate(phases)}
    return {phase: share for phase, share in given.items() if share}
