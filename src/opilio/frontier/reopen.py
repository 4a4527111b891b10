"""Restores the frontier from crawl.db when a crawl is resumed.

Every host rests its full delay from now on, since it may have been visited a moment
before the last process ended. A rest that a host asked for continues by the wall clock,
but never longer than the longest one allowed, even if that clock was changed.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import numpy as np

from opilio.errors import BadInput
from opilio.frontier import sort_keys
from opilio.frontier.hosts import LONG_AGO
from opilio.frontier.intake import Intake, is_passing
from opilio.frontier.ledger import Ledger
from opilio.frontier.link_columns import LinkMode
from opilio.frontier.next_link import Agenda
from opilio.frontier.standing import MANY
from opilio.records import State
from opilio.settings import BoundsSettings, PolitenessSettings

AT_ONCE = 2**13  # rows; few enough for the processor's cache
# Nearly all rows are waiting links that were never tried. The others have a text with
# state, attempts and reason; kept pages also their likeness (crawl/visit.py).
_LINKS = """
    SELECT fingerprint, promise, host, template,
        CASE WHEN state IN ('waiting', 'leased') AND attempts = 0 THEN NULL
        WHEN state = 'kept' AND template THEN 'kept ' || attempts || ' ' || coalesce((
            SELECT words FROM page WHERE id = link.id
        ), '')
        ELSE state || ' ' || attempts || ' ' || coalesce(reason, '') END
    FROM link ORDER BY id
"""
# Links that may work now are queued again: those of hosts that were silent, those
# beyond a budget, and seeds that could not be reached.
_ANOTHER_CHANCE = """
    UPDATE link SET state = 'waiting', reason = NULL, attempts = 0
    WHERE state = 'parked' AND reason IN (
           'dead_host', 'offline', 'host_budget', 'domain_budget', 'template_budget')
       OR state = 'unusable' AND depth = 0 AND (reason LIKE 'tls%' OR reason IN (
           'blocked_address', 'blocked_port', 'connect', 'dns', 'dns_temporary',
           'host_gone', 'network', 'refused', 'timeout'))
"""
# So are links that failed for now, when their time has come. (They keep their attempts:
# each gets one more.)
_DUE = """
    UPDATE link SET state = 'waiting', reason = NULL
    WHERE state = 'unusable' AND id IN (SELECT link FROM retry WHERE due <= ?)
"""
# What a capacity had displaced waits again when there is none any more.
_NO_CAPACITY = """
    UPDATE link SET state = 'waiting', reason = NULL
    WHERE state = 'parked' AND reason = 'capacity'
"""
_HOSTS = "SELECT id, name, domain, delay, rest_until, ip, taken FROM host ORDER BY id"


def queue_again(db: sqlite3.Connection, reason: str) -> None:
    """Let the links wait again that were unusable for this reason; to be called before
    the frontier is opened."""
    db.execute(
        "UPDATE link SET state = 'waiting', reason = NULL, attempts = 0 "
        "WHERE state = 'unusable' AND reason = ?",
        (reason,),
    )


def reopen(
    db: sqlite3.Connection,
    ledger: Ledger,
    politeness: PolitenessSettings,
    bounds: BoundsSettings,
    now: float,
    wall: float,
    lease_time: float,
    more_rest: float = 0.0,
) -> tuple[Agenda, Intake]:
    """The frontier as the last committed transaction left it; `more_rest`: seconds that
    all hosts rest besides their delays."""
    if db.execute("SELECT 1 FROM new_promise LIMIT 1").fetchone():
        from opilio.storage.promise_log import copy_all  # only large crawls need it

        copy_all(db)
    db.execute(_DUE, (wall,))
    db.execute(_ANOTHER_CHANCE)
    db.execute(
        "DELETE FROM retry WHERE (SELECT state FROM link WHERE id = link) IS NOT "
        "'unusable'"
    )
    if not bounds.capacity:
        db.execute(_NO_CAPACITY)
    last = db.execute("SELECT max(id) FROM link").fetchone()[0] or 0
    agenda = Agenda(
        ledger,
        politeness,
        bounds,
        lease_time=lease_time,
        opened=now + more_rest if last or more_rest else LONG_AGO,
        expected=last,
    )
    intake = Intake(agenda.queue, ledger, bounds, expected=last)
    for number, name, domain, delay, rest_until, ip, taken in db.execute(_HOSTS):
        host = agenda.queue.add_host(name, domain)
        _expect("host", number, host.number)
        host.taken = host.asked = taken
        agenda.floor.pages += taken
        host.domain.taken += taken
        rest = None if rest_until is None else max(0.0, rest_until - wall)
        agenda.turns.pace(host, now, delay=delay, rest=rest, ip=ip)
    for name, branch, support, is_established in db.execute("SELECT * FROM standing"):
        if domain := agenda.queue.domains.get(name):
            domain.branch, domain.support = branch, tuple(support.split())
            domain.is_established = bool(is_established)
            if is_established and len(domain.support) < MANY:
                domain.support = ()  # it has a seed
    for name, stale, words in db.execute("SELECT * FROM domain_words"):
        if domain := agenda.queue.domains.get(name):
            domain.stale = stale
            agenda.standing.words.restore(name, words)
    for domain in agenda.queue.domains.values():
        if domain.taken and not domain.branch:  # visited by an older version
            domain.branch = domain.name
    agenda.standing.restore(agenda.queue.domains.values())
    cursor = db.execute(_LINKS)
    while rows := cursor.fetchmany(AT_ONCE):
        _load(rows, agenda, intake)
    _expect("link", last, agenda.links.count)
    _line_up(agenda, now)
    return agenda, intake


def _load(rows: list[Any], agenda: Agenda, intake: Intake) -> None:
    """Fill the columns, the map of fingerprints and the counts of templates."""
    prints, promises, hosts, templates, others = zip(*rows, strict=True)
    keys = sort_keys.keys(promises)
    modes = np.full(len(rows), LinkMode.WAITING, np.uint8)
    for place, other in enumerate(others):
        if other is None:
            continue
        state, attempts, reason = other.split(" ", 2)
        likeness = ""
        if state == State.KEPT:
            likeness, reason = reason, ""
        modes[place] = mode = _mode(state, reason, attempts != "0")
        if mode == LinkMode.REFUSED:
            keys[place] = sort_keys.WORST
        elif mode != LinkMode.OVER and attempts != "0":
            agenda.attempts[agenda.links.count + 1 + place] = int(attempts)
        if mode != LinkMode.WAITING:
            ended = State(state)
            agenda.queue.ended[ended, reason] += 1
            intake.novelty.note(templates[place], ended, reason, likeness)
    ids = agenda.links.append(keys, modes, np.array(hosts))
    intake.known.load(np.array(prints, np.int64), ids)
    intake.templates.add(np.array(templates, np.int64))


@cache
def _mode(state: str, reason: str, tried: bool) -> int:
    if state in (State.WAITING, State.LEASED):
        return LinkMode.WAITING
    if state == State.PARKED and reason == "capacity":
        return LinkMode.CROWDED
    if state == State.UNUSABLE and is_passing(reason, tried):
        return LinkMode.REFUSED
    return LinkMode.OVER


def _line_up(agenda: Agenda, now: float) -> None:
    """Put waiting links into the queues of their hosts, and schedule the hosts."""
    links = agenda.links
    waiting = np.flatnonzero(links.mode == LinkMode.WAITING)
    waiting = waiting[np.argsort(links.host[waiting], kind="stable")]
    cuts = np.flatnonzero(np.diff(links.host[waiting])) + 1
    for ids in np.split(waiting, cuts):
        if len(ids):
            agenda.hosts[links.host_of[ids[0]]].backlog.load(ids)
    for host in agenda.hosts:
        agenda.standing.count_waiting(host.domain, len(host.backlog))
    queue = agenda.queue
    queue.count = len(waiting)
    if queue.least:
        queue.least.add(map(links.entry, waiting.tolist()), len(waiting))
    queue.make_room([], range(len(agenda.hosts)), now)


def _expect(table: str, id: int, number: int) -> None:
    if id != number:
        raise BadInput(
            f"crawl.db lacks rows in table {table}: row number {number} has the id "
            f"{id}; rows must have been deleted, so restore the file from a backup"
        )
