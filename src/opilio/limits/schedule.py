"""Checks whether a crawl with a time limit is behind schedule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """A number of pages to fetch within a number of seconds, at an even pace."""

    pages: int  # 0: as many as possible
    seconds: float  # 0: no limit
    started: float

    def is_late(self, pages: int, now: float) -> bool:
        """Whether the crawl is too slow to fetch its pages in time.

        It is late if the share of time is larger than the share of pages:

            (now - started) / seconds > had / pages

        With a limit of pages but not of time a crawl is never late; with a limit of
        time alone it is always late.
        """
        if not self.seconds:
            return False
        if not self.pages:
            return True
        return (now - self.started) * self.pages > pages * self.seconds
