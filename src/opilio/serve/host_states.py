"""What hosts of a crawl do: some are asked now, some rest, others wait their turn."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from opilio.cli.waiting import why
from opilio.store.lookup import busy_in
from opilio.store.resting_hosts import resting

SHOWN = 8
MOST_WAITING = """
    SELECT name, delay, links FROM (
        SELECT host, count(*) AS links FROM link WHERE state IN ('waiting', 'leased')
        GROUP BY host ORDER BY links DESC LIMIT ?
    ) JOIN host ON host.id = host ORDER BY links DESC
"""


class HostState(msgspec.Struct, frozen=True):
    """A host that is being visited, rests or waits for its turn, and why."""

    host: str
    state: str  # busy, resting or waiting
    words: str
    until: float | None = None  # when it may be visited again, seconds since 1970


class WaitingHost(NamedTuple):
    """A host with links that wait."""

    host: str
    delay: float | None  # seconds between two requests, if it asks for some
    links: int


def most_waiting(db: sqlite3.Connection) -> tuple[WaitingHost, ...]:
    """The hosts with most links that wait; scans all links."""
    return tuple(WaitingHost(*row) for row in db.execute(MOST_WAITING, (SHOWN,)))


def host_states(
    db: sqlite3.Connection, running: bool, most: Sequence[WaitingHost], delay: float
) -> list[HostState]:
    """The hosts that rest, those with requests under way, and of the others those with
    most links; `delay` is the usual time between two requests to a host."""
    states: dict[str, HostState] = {}
    for state in resting_or_busy(db, running):
        states.setdefault(state.host, state)
    for one in most:
        states.setdefault(one.host, waiting(one, delay))
    return list(states.values())[:SHOWN]


def resting_or_busy(db: sqlite3.Connection, running: bool) -> Iterator[HostState]:
    """The hosts that rest, and of a running crawl those with requests under way."""
    for rest in resting(db, time.time()):
        yield HostState(rest.host, "resting", why(rest.reason), rest.until)
    for busy in busy_in(db) if running else ():
        words = f"{busy.requests} under way, {busy.links:,} links wait"
        yield HostState(busy.host, "busy", words)


def waiting(one: WaitingHost, delay: float) -> HostState:
    """How many links of a host wait, and how often it may be asked.

    >>> waiting(WaitingHost("a.test", 5.0, 1200), 1.0).words
    '1,200 links, one every 5 s'
    """
    links = "1 link" if one.links == 1 else f"{one.links:,} links"
    pause = max(delay, one.delay or 0.0)
    often = f", one every {pause:g} s" if pause else ""
    return HostState(one.host, "waiting", f"{links}{often}")
