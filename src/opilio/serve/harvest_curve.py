"""The harvest rate page by page, and the points of its curve."""

from __future__ import annotations

from array import array

import msgspec
import numpy as np

RECENT = 100  # pages
POINTS = 160  # of a curve at most
SPEED_SECONDS = 60.0


class CurvePoints(msgspec.Struct, frozen=True):
    """Harvest rates after some of the pages, from 0 to 1."""

    pages: list[int]  # after so many pages
    overall: list[float]  # of all pages until then
    recent: list[float]  # of the last 100 until then


class HarvestCurve:
    """Counts pages, and those that were kept."""

    def __init__(self, edition: int = 0) -> None:
        self.edition = edition  # of the verdicts: they change when pages are rejudged
        self.flags = bytearray()  # 1: the page was kept
        self.times = array("d")  # when each was fetched
        self.kept = 0
        self.bytes = 0

    def add(self, kept: bool, size: int, at: float) -> None:
        """Count one page."""
        self.flags.append(kept)
        self.times.append(at)
        self.kept += kept
        self.bytes += size

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return len(self.flags)

    def rate(self) -> float:
        """The share of pages that were kept."""
        return self.kept / self.pages if self.pages else 0.0

    def recent_rate(self) -> float:
        """The same of the last pages."""
        last = self.flags[-RECENT:]
        return sum(last) / len(last) if last else 0.0

    def speed(self, now: float | None) -> float:
        """Pages per second in the last minute until now, or until the last page."""
        if len(self.times) < 2:
            return 0.0
        end = self.times[-1] if now is None else now
        start = max(self.times[0], end - SPEED_SECONDS)
        last = np.frombuffer(self.times, np.float64)[-100_000:]
        count = int((last >= start).sum())
        return count / max(end - start, 1.0)

    def points(self) -> CurvePoints:
        """The curve, thinned out evenly."""
        if not self.flags:
            return CurvePoints([], [], [])
        total = np.cumsum(np.frombuffer(self.flags, np.uint8), dtype=np.int64)
        places = np.unique(np.linspace(1, self.pages, POINTS).astype(np.int64))
        before = np.maximum(places - RECENT, 0)
        since = np.where(before > 0, total[np.maximum(before, 1) - 1], 0)
        overall = total[places - 1] / places
        recent = (total[places - 1] - since) / (places - before)
        return CurvePoints(
            places.tolist(), overall.round(4).tolist(), recent.round(4).tolist()
        )
