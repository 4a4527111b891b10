"""The figures that a running crawl reports: links by state, and what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from opilio.records import State


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """How many relevant pages are still to be found, as a strategy estimates it."""

    found: float  # so far: the sum of the scores of the pages kept
    left: float  # by the promises of the waiting links
    low: float  # lower bound of `left`
    high: float  # upper bound of `left`
    recapture: float  # what is left, estimated by capture and recapture
    next: float  # expected of the 100 best links that wait

    @property
    def share(self) -> float:
        """The share of the relevant pages that was found."""
        return self.found / (self.found + self.left)


class OpinionCounts(msgspec.Struct):
    """How often an adviser was asked about pages that the judge was unsure of."""

    adviser: str
    asked: int = 0
    answered: int = 0
    failures: dict[str, int] = msgspec.field(default_factory=dict)  # by reason


class RenderedCounts(msgspec.Struct, frozen=True):
    """How many pages were rendered in a browser."""

    rendered: int
    changed: int  # had more text or links then, or led elsewhere
    failed: int


class BusyServer(msgspec.Struct, frozen=True):
    """A server with requests under way (Kumar & Vig's Busy Server Queue, III.C)."""

    host: str
    requests: int
    links: int  # that wait for it, about


class Counts(msgspec.Struct, frozen=True):
    """The numbers of links and hosts in a frontier, by state."""

    waiting: int
    leased: int
    hosts: int
    ready: int  # hosts that may be visited now and have something to visit
    resting: int  # hosts that asked us to wait, or where a visit failed
    ended: Mapping[tuple[State, str], int]  # all other links, by state and reason
    awaited: str = ""  # the host to be visited next, if links wait and none may be now
    awaited_for: float = 0.0  # seconds until it may be
    held: int = 0  # ready hosts that are not visited because better links wait
    paused: bool = False  # nothing is leased until somebody says so
    busy: Sequence[BusyServer] = ()  # some of them, those with most requests and links

    @property
    def reasons(self) -> Mapping[str, int]:
        """The unusable links, by reason."""
        return {
            reason: count
            for (state, reason), count in self.ended.items()
            if state is State.UNUSABLE
        }
