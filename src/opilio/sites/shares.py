"""How many pages a round may have in; how many each of Yang's first phases may, out.

`paper`: all to the first phase that has links, since "a phase runs while it yields a
URL with S_2>0, then the next" (papers.md C.5-8). Sites have more links than a round has
pages, so the later phases hardly ever come to pass.

`fixed`: the half to all phases alike; the other half as each has used its own, by

    y = (k + 1) / (n + 2)        k relevant pages of n links asked for

What a phase cannot use goes to the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TypeVar

from opilio.sites.models import Mode

P = TypeVar("P")
NOISE = 1e-9


def shares(
    pages: int, tried: Mapping[P, tuple[int, int]], mode: Mode = "fixed"
) -> dict[P, int]:
    """Pages for the phases that have links, given k and n of each, in their order; it
    may be asked again until all pages are spent.

    >>> shares(12, {1: (0, 0), 2: (0, 0), 3: (0, 0)})
    {1: 2, 2: 2, 3: 2}
    >>> shares(6, {1: (0, 2), 2: (2, 2), 3: (0, 2)})
    {1: 1, 2: 4, 3: 1}
    """
    if mode == "paper":
        return {next(iter(tried)): pages}
    is_first = not any(asked for _, asked in tried.values())
    whole = ceil(pages / 2) if is_first and len(tried) > 1 else pages
    yields = {phase: (k + 1) / (n + 2) for phase, (k, n) in tried.items()}
    given, total = 0, 0.0
    found = {}
    for phase, value in yields.items():
        total += value
        share = ceil(whole * total / sum(yields.values()) - NOISE) - given
        given += share
        if share:
            found[phase] = share
    return found
