"""Decides when so little is left to find that a crawl may end."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.errors import BadInput
from opilio.progress import Estimate

LOOK_EVERY = 10  # pages
PAGES = 100  # the last ones, and as many links, the best that wait
FEW = 5  # relevant ones among them
SHARE = 0.75  # of the relevant pages


def is_dry(recent: Sequence[bool], estimate: Estimate | None) -> bool:
    """Whether little is left. `recent` says which of the last pages were kept.

    All of these must hold: few of the last 100 pages were relevant, few of the 100 best
    links are expected to be, and more than three quarters are found by the estimate.
    """
    if estimate is None or len(recent) < PAGES:
        return False
    return sum(recent) < FEW and estimate.next < FEW and estimate.share > SHARE


def left_in_words(estimate: Estimate) -> str:
    """The estimate in words.

    >>> left_in_words(Estimate(found=90, left=24.6, low=9, high=67,
    ...     recapture=0, next=3))
    'about 25 more to be found (9–67)'
    """
    left, low, high = map(round, (estimate.left, estimate.low, estimate.high))
    return f"about {left:,} more to be found ({low:,}–{high:,})"


def require_estimator(name: str, strategy: object) -> None:
    """Raise BadInput for a strategy class that is not an Estimator."""
    if not hasattr(strategy, "estimate"):
        raise BadInput(
            f"the strategy {name!r} cannot estimate how much is left to find, which "
            "--stop-when-dry (crawl.stop_when_dry) needs; use --strategy opilio, or "
            "leave it out"
        )
