"""Tells whether a crawl with a limit of time is late, so that it should not wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """So many pages are to be had in so many seconds, at an even pace."""

    pages: int  # 0: as many as possible
    seconds: float  # 0: no limit
    started: float

    def is_late(self, pages: int, now: float) -> bool:
        """Would the pages run short if it went on like this?

        Late is a share of the time larger than the share of the pages:

            (now - started) / seconds > had / pages

        With a limit of pages but not of time a crawl is never late; with a limit of
        time alone it is always late.
        """
        if not self.seconds:
            return False
        if not self.pages:
            return True
        return (now - self.started) * self.pages > pages * self.seconds
