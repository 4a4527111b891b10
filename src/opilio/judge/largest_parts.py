"""Limits the parts of a verdict to the largest ones."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest

MOST = 12  # parts of a verdict, which are stored for each page


def largest(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts, largest first; the rest as one part, so that the sum is the same."""
    if len(parts) <= MOST:
        return dict(sorted(parts.items(), key=lambda part: -part[1]))
    kept = dict(nlargest(MOST - 1, parts.items(), key=lambda part: part[1]))
    rest = sum(parts.values()) - sum(kept.values())
    return {**kept, f"({len(parts) - len(kept)} more)": rest}
