"""Compares a crawl's estimate of what is left with the labels, at half the recall."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.lab.runs import Estimated, HalfWay


def half_way(
    estimates: Sequence[Estimated],
    found_at: Sequence[int],
    R: int,  # noqa: N803
) -> HalfWay | None:
    """The estimate nearest to the request that reached half of R; None: there is no
    estimate, or the crawl never got there.

        error = (found + left)/R − 1
        left_error = left/(R − R/2) − 1, what was found by labels being R/2
    """
    needed = -(-R // 2)
    if len(found_at) < needed or not estimates:
        return None
    request = found_at[needed - 1]
    nearest = min(estimates, key=lambda one: abs(one.request - request))
    truth = R - needed
    return HalfWay(
        request=request,
        found=nearest.found,
        left=nearest.left,
        low=nearest.low,
        high=nearest.high,
        truth=truth,
        error=(nearest.found + nearest.left) / R - 1,
        left_error=nearest.left / truth - 1 if truth else None,
    )
