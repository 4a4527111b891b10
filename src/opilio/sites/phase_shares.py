"""How many pages a round may have in; how many each of Yang's first phases may, out.

`paper`: all to the first phase that has links, since "a phase runs while it yields a
URL with S_2>0, then the next" (papers.md C.5-8). Sites have more links than a round has
pages, so the later phases hardly ever come to pass.

`fixed`: as many to each; what a phase cannot use goes to the others. (More to those
whose links turn out well was tried, and brought the same.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from opilio.records import Mode

P = TypeVar("P")


def shares_of_phases(
    pages: int, phases: Sequence[P], mode: Mode = "fixed"
) -> dict[P, int]:
    """Pages for the phases that have links, in their order; the first ones have what
    does not come out even.

    >>> shares(11, [1, 2, 3])
    {1: 4, 2: 4, 3: 3}
    """
    if mode == "paper":
        return {phases[0]: pages}
    each, more = divmod(pages, len(phases))
    given = {phase: each + (place < more) for place, phase in enumerate(phases)}
    return {phase: share for phase, share in given.items() if share}
