"""The tables `link` and `host` in; the agenda and what is known, as they were, out.

Every host rests its full delay from now on, since it may have been visited a moment
before the last process died. A rest that was asked for goes on by the wall clock, but
never longer than the longest one, whatever became of that clock.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from functools import cache
from heapq import heapify
from itertools import pairwise
from typing import Any

import numpy as np

from opilio.config import Bounds, Politeness
from opilio.errors import BadInput
from opilio.frontier import order
from opilio.frontier.agenda import Agenda
from opilio.frontier.hosts import LONG_AGO
from opilio.frontier.intake import Intake, is_passing
from opilio.frontier.ledger import Ledger
from opilio.frontier.links import Mode
from opilio.types import State

AT_ONCE = 2**16  # rows
_LINKS = """
    SELECT id, fingerprint, promise, host, template, attempts, state, reason
    FROM link ORDER BY id
"""
_HOSTS = "SELECT id, name, domain, delay, rest_until, ip, taken FROM host ORDER BY id"


def reopen(
    db: sqlite3.Connection,
    ledger: Ledger,
    politeness: Politeness,
    bounds: Bounds,
    now: float,
    wall: float,
    lease_time: float,
) -> tuple[Agenda, Intake]:
    """The frontier as the last committed transaction left it."""
    last = db.execute("SELECT max(id) FROM link").fetchone()[0] or 0
    agenda = Agenda(
        ledger,
        politeness,
        bounds,
        lease_time=lease_time,
        opened=now if last else LONG_AGO,
        expected=last,
    )
    intake = Intake(agenda, ledger, bounds, expected=last)
    for number, name, domain, delay, rest_until, ip, taken in db.execute(_HOSTS):
        host = agenda.add_host(name, domain)
        _expect("host", host.number, number)
        host.taken = taken
        if host.domain:
            host.domain.taken += taken
        rest = None if rest_until is None else max(0.0, rest_until - wall)
        agenda.turns.pace(host, now, delay=delay, rest=rest, ip=ip)
    cursor = db.execute(_LINKS)
    while rows := cursor.fetchmany(AT_ONCE):
        _load(rows, agenda, intake)
    _line_up(agenda, now)
    return agenda, intake


def _load(rows: list[Any], agenda: Agenda, intake: Intake) -> None:
    """Fill the columns, the map of fingerprints and the counts of templates."""
    ids, prints, promises, hosts, templates, attempts, states, reasons = zip(
        *rows, strict=True
    )
    _expect("link", agenda.links.count + 1, ids[0])
    _expect("link", agenda.links.count + len(ids), ids[-1])
    tries = np.array(attempts)
    kinds = zip(states, reasons, (tries > 0).tolist(), strict=True)
    modes = np.fromiter((_mode(*kind) for kind in kinds), np.uint8, len(ids))
    keys = order.keys(promises)
    keys[modes == Mode.REFUSED] = order.WORST
    new = agenda.links.append(keys, modes, np.array(hosts))
    intake.known.put(np.array(prints, np.int64), new)
    intake.templates.add(np.array(templates, np.int64))
    for place in np.flatnonzero((tries > 0) & (modes != Mode.OVER)).tolist():
        agenda.attempts[ids[place]] = attempts[place]
    for (state, reason), number in Counter(zip(states, reasons, strict=True)).items():
        if state not in (State.WAITING, State.LEASED):
            agenda.ended[State(state), reason or ""] += number


@cache
def _mode(state: str, reason: str | None, tried: bool) -> Mode:
    if state in (State.WAITING, State.LEASED):
        return Mode.WAITING
    if state == State.PARKED and reason == "capacity":
        return Mode.CROWDED
    if state == State.UNUSABLE and is_passing(reason or "", tried):
        return Mode.REFUSED
    return Mode.OVER


def _line_up(agenda: Agenda, now: float) -> None:
    """Put waiting links into the heaps of their hosts, and hosts in their place."""
    links = agenda.links
    waiting = np.flatnonzero(links.mode == Mode.WAITING)
    waiting = waiting[np.argsort(links.host[waiting], kind="stable")]
    for start in range(0, len(waiting), AT_ONCE):
        some = waiting[start : start + AT_ONCE]
        entries = order.entries(links.key[some].tolist(), some.tolist())
        cuts = np.flatnonzero(np.diff(links.host[some])) + 1
        for first, end in pairwise([0, *cuts.tolist(), len(some)]):
            agenda.hosts[links.host_of[some[first]]].heap += entries[first:end]
        if agenda.least:
            agenda.least.add(entries, len(waiting))
    agenda.waiting = len(waiting)
    for host in agenda.hosts:
        heapify(host.heap)
        agenda.turns.place(host, now)


def _expect(table: str, due: int, found: int) -> None:
    if due != found:
        raise BadInput(
            f"crawl.db lacks row {due} of its table {table}, which somebody must have "
            "deleted; put back a copy of the file"
        )
