"""Shards, and the leases under which workers own them, by the clock of PostgreSQL.

A site belongs to the shard that the hash of its registrable domain names, so all its
hosts have one owner, and the owner alone keeps their delays. An owner renews its lease
every quarter of it. When it does not, others take its shards over. Every transaction
that it tries to record afterwards is refused, since the epochs of its shards have
grown.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from xxhash import xxh3_64_intdigest

from opilio.cluster.schema import SHARDS
from opilio.errors import OpilioError
from opilio.text import urls

if TYPE_CHECKING:
    import psycopg

SAFE = 0.7  # of a lease: without renewal, no request is made after that

# Three locks of PostgreSQL keep the order: renewing (NO KEY UPDATE) does not wait for
# a record of the same worker (KEY SHARE); taking over (UPDATE) waits for neither, and
# takes what both leave.
_RENEW = """
    WITH mine AS (
        SELECT id FROM shard JOIN unnest(%(ids)s::smallint[], %(epochs)s::bigint[])
            AS held (id, epoch) USING (id, epoch)
        WHERE owner = %(worker)s ORDER BY id FOR NO KEY UPDATE OF shard
    ), renewed AS (
        UPDATE shard SET until = clock_timestamp() + make_interval(secs => %(lease)s)
        FROM mine WHERE shard.id = mine.id RETURNING shard.id
    )
    SELECT count(*) FROM renewed
"""
_ALIVE = """
    UPDATE worker SET until = clock_timestamp() + make_interval(secs => %(lease)s),
        is_idle = %(is_idle)s, heard = %(heard)s
    WHERE id = %(worker)s
"""
_TAKE = """
    WITH free AS (
        SELECT id, owner FROM shard
        WHERE owner IS NULL OR until < clock_timestamp() AND owner <> %(worker)s
        ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
    )
    UPDATE shard SET owner = %(worker)s, epoch = epoch + 1,
        until = clock_timestamp() + make_interval(secs => %(lease)s),
        rest_until = CASE WHEN free.owner IS NULL THEN rest_until
            ELSE clock_timestamp() + make_interval(secs => %(lease)s) END
    FROM free WHERE shard.id = free.id RETURNING shard.id, epoch
"""
_REST = """
    SELECT extract(epoch FROM max(rest_until) - clock_timestamp()) FROM shard
    WHERE owner = %s AND rest_until > clock_timestamp()
"""
# Parts of dead workers on machines that have live ones, none of which has looked for
# the file since: the crawl must not end before, it may be lost.
_STANDING = """
    WITH alive AS (
        SELECT home, looked_at FROM worker
        WHERE until > clock_timestamp() AND ended IS NULL
    ), unseen AS (
        SELECT part.home FROM part JOIN worker AS dead ON dead.id = part.worker
        WHERE NOT is_sealed AND NOT is_lost AND dead.until < clock_timestamp()
            AND part.home IN (SELECT home FROM alive)
            AND NOT EXISTS (SELECT 1 FROM alive WHERE alive.home = part.home
                AND looked_at > dead.until)
    )
    SELECT (SELECT count(*) FROM worker
            WHERE until > clock_timestamp() AND ended IS NULL),
        (SELECT count(*) FROM worker
            WHERE until > clock_timestamp() AND ended IS NULL AND id < %(worker)s),
        (SELECT count(*) FROM (SELECT 1 FROM shard
            WHERE owner IS NULL OR until < clock_timestamp() AND owner <> %(worker)s
            FOR UPDATE SKIP LOCKED) AS free),
        (SELECT coalesce(sum(pages), 0) FROM progress WHERE worker <> %(worker)s),
        (SELECT pages FROM progress WHERE worker = %(worker)s),
        (SELECT value FROM setting WHERE name = 'ended'),
        NOT EXISTS (
            SELECT 1 FROM shard LEFT JOIN worker ON worker.id = owner
            WHERE worker.id IS NULL OR shard.until < clock_timestamp()
                OR NOT is_idle OR heard < (SELECT sum(lessons) FROM progress))
        AND NOT EXISTS (
            SELECT 1 FROM message WHERE state = 'waiting' AND shard IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM unseen),
        EXISTS (SELECT 1 FROM unseen JOIN worker USING (home)
            WHERE worker.id = %(worker)s)
"""


class LostShards(OpilioError):
    """Others own shards that this worker believed to own; it must start over."""


class WorkersState(NamedTuple):
    """What a worker must know of the others."""

    live: int  # workers, with this one
    before: int  # of these, that came before this one
    free: int  # shards that nobody owns, or whose lease has ended, to be had now
    others_pages: int
    own_pages: int
    ended: str  # why the whole crawl has ended; "": it has not
    is_finished: bool  # nothing waits anywhere, and everybody has heard everything
    must_look: bool  # for WARC files of workers that died on this machine

    @property
    def share(self) -> int:
        """The shards that this worker should own."""
        return fair_share(self.live, self.before)


@lru_cache(maxsize=2**16)
def shard_of(host: str) -> int:
    """The shard of a host, with its port or without.

    >>> shard_of("www.example.org") == shard_of("example.org:8080")
    True
    """
    return xxh3_64_intdigest(urls.domain(host).encode()) % SHARDS


def register_worker(
    db: psycopg.Connection, name: str, lease: float, home: str = ""
) -> int:
    """Enter a worker; returns its number. The first one begins a new run. `home`: its
    machine and folder."""
    with db.transaction():
        [(worker,)] = db.execute(
            "INSERT INTO worker (name, home, until) VALUES (%s, %s, clock_timestamp() "
            "+ make_interval(secs => %s)) RETURNING id",
            (name, home, lease),
        )
        db.execute("INSERT INTO progress (worker) VALUES (%s)", (worker,))
        db.execute(
            "DELETE FROM setting WHERE name = 'ended' AND NOT EXISTS (SELECT 1 FROM "
            "worker WHERE until > clock_timestamp() AND ended IS NULL AND id <> %s)",
            (worker,),
        )
    return int(worker)


def now() -> float:
    """Seconds by a clock that nobody sets, and that runs while the machine sleeps."""
    return time.clock_gettime(_CLOCK)


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class HeldShards:
    """The shards that a worker owns, and until when it may act on that.

    One thread renews while others take, give back and record.
    """

    def __init__(self, worker: int, lease: float) -> None:
        self.worker = worker
        self.lease = lease
        self.epochs: Mapping[int, int] = {}  # replaced, never changed
        self.renewed_at = now() - lease
        self.lock = threading.Lock()  # one change at a time, with its statement

    def __contains__(self, shard: int) -> bool:
        return shard in self.epochs

    def owns(self, host: str) -> bool:
        """Whether a host belongs to this worker."""
        return shard_of(host) in self.epochs

    def may_request(self) -> bool:
        """Whether the lease was renewed recently enough to make a request."""
        return now() < self.renewed_at + SAFE * self.lease

    def renew(self, db: psycopg.Connection, *, is_idle: bool, heard: int) -> None:
        """Extend the leases; raises LostShards if one has gone to another worker."""
        with self.lock:
            asked_at = now()
            db.execute(_ALIVE, self._arguments(is_idle=is_idle, heard=heard))
            [(count,)] = db.execute(_RENEW, self._arguments()).fetchall()
            if count < len(self.epochs):
                raise LostShards(
                    f"{len(self.epochs) - count} shards of worker {self.worker} went "
                    "to others, because its lease was not renewed in time"
                )
            self.renewed_at = asked_at

    def take(self, db: psycopg.Connection, most: int) -> None:
        """Take at most so many shards that are free. From now on we are not idle, even
        if we were before: their links have yet to be queued here."""
        with self.lock:
            asked_at = now()
            db.execute(
                "UPDATE worker SET is_idle = false WHERE id = %s", (self.worker,)
            )
            taken = db.execute(_TAKE, self._arguments(most=most)).fetchall()
            if not self.epochs:
                self.renewed_at = asked_at
            self.epochs = {**self.epochs, **dict(taken)}

    def rest(self, db: psycopg.Connection) -> float:
        """The seconds that the hosts of our shards must rest, because a worker which
        did not give some of them back may still have a request under way."""
        [(seconds,)] = db.execute(_REST, (self.worker,)).fetchall()
        return float(seconds or 0.0)

    def release(self, db: psycopg.Connection, shards: Iterable[int]) -> None:
        """Give shards back; everything about them must be recorded."""
        given = set(shards)
        with self.lock:
            db.execute(
                "UPDATE shard SET owner = NULL, until = '-infinity' "
                "WHERE owner = %s AND id = ANY(%s)",
                (self.worker, list(given)),
            )
            self._forget(given)

    def abandon(self, db: psycopg.Connection) -> None:
        """Leave after a loss: others may take everything at once, as from a worker that
        died, since what we last did is not recorded. No request may be under way."""
        with self.lock:
            db.execute(
                "UPDATE shard SET until = '-infinity' WHERE owner = %s", (self.worker,)
            )
            self._end(db, "lost")
            self._forget(set(self.epochs))

    def _forget(self, shards: set[int]) -> None:
        self.epochs = {id: at for id, at in self.epochs.items() if id not in shards}

    def standing(self, db: psycopg.Connection) -> WorkersState:
        """How the crawl stands."""
        [(live, before, free, others, own, ended, *flags)] = db.execute(
            _STANDING, {"worker": self.worker}
        ).fetchall()
        return WorkersState(
            *(max(live, 1), before, free, int(others), own or 0),
            *((ended or b"").decode(), *flags),
        )

    def leave(self, db: psycopg.Connection, reason: str) -> None:
        """Give everything back, and say why."""
        self.release(db, self.epochs)
        self._end(db, reason)

    def _end(self, db: psycopg.Connection, reason: str) -> None:
        db.execute(
            "UPDATE worker SET ended = %s, until = clock_timestamp() WHERE id = %s",
            (reason, self.worker),
        )

    def _arguments(self, **others: Any) -> Mapping[str, Any]:
        return {
            "worker": self.worker,
            "lease": self.lease,
            "ids": list(self.epochs),
            "epochs": list(self.epochs.values()),
            **others,
        }


def fair_share(live: int, before: int) -> int:
    """The shards of one of so many workers, by how many came before it.

    >>> sum(fair_share(50, before) for before in range(50))
    256
    """
    return SHARDS // live + (before < SHARDS % live)
