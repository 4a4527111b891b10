"""The parts of a verdict in; those worth keeping, largest first, out."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest

MOST = 12  # parts of a verdict; each page's are kept


def largest(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts, largest first; what is too much as one: the sum stays the same."""
    if len(parts) <= MOST:
        return dict(sorted(parts.items(), key=lambda part: -part[1]))
    kept = dict(nlargest(MOST - 1, parts.items(), key=lambda part: part[1]))
    rest = sum(parts.values()) - sum(kept.values())
    return {**kept, f"({len(parts) - len(kept)} more)": rest}
