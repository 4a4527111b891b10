"""Shards, and the leases under which workers own them, by the clock of PostgreSQL.

A site belongs to the shard that the hash of its registrable domain names, so all its
hosts have one owner, and the owner alone keeps their delays. An owner renews its lease
every quarter of it. When it does not, others take its shards over. Every transaction
that it tries to record afterwards is refused, since the epochs of its shards have
grown.
"""

from __future__ import annotations

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

_RENEW = """
    WITH mine AS (
        SELECT id FROM shard JOIN unnest(%(ids)s::smallint[], %(epochs)s::bigint[])
            AS held (id, epoch) USING (id, epoch)
        WHERE owner = %(worker)s ORDER BY id FOR UPDATE OF shard
    ), alive AS (
        UPDATE worker SET until = clock_timestamp() + make_interval(secs => %(lease)s),
            is_idle = %(is_idle)s, heard = %(heard)s
        WHERE id = %(worker)s
    ), renewed AS (
        UPDATE shard SET until = clock_timestamp() + make_interval(secs => %(lease)s)
        FROM mine WHERE shard.id = mine.id RETURNING shard.id
    )
    SELECT count(*) FROM renewed
"""
_TAKE = """
    WITH free AS (
        SELECT id, owner FROM shard
        WHERE owner IS NULL OR until < clock_timestamp() AND owner <> %(worker)s
        ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
    )
    UPDATE shard SET owner = %(worker)s, epoch = epoch + 1,
        until = clock_timestamp() + make_interval(secs => %(lease)s)
    FROM free WHERE shard.id = free.id RETURNING shard.id, epoch, free.owner
"""
_STANDING = """
    SELECT (SELECT count(*) FROM worker
            WHERE until > clock_timestamp() AND ended IS NULL),
        (SELECT count(*) FROM shard
            WHERE owner IS NULL OR until < clock_timestamp() AND owner <> %(worker)s),
        (SELECT coalesce(sum(pages), 0) FROM worker WHERE id <> %(worker)s),
        (SELECT pages FROM worker WHERE id = %(worker)s),
        (SELECT value FROM setting WHERE name = 'ended'),
        NOT EXISTS (
            SELECT 1 FROM shard LEFT JOIN worker ON worker.id = owner
            WHERE worker.id IS NULL OR shard.until < clock_timestamp()
                OR NOT is_idle OR heard < (SELECT sum(lessons) FROM worker))
"""


class LostShards(OpilioError):
    """Others own shards that this worker believed to own; it must start anew."""


class WorkersState(NamedTuple):
    """What a worker must know of the others."""

    live: int  # workers, with this one
    free: int  # shards that nobody owns, or whose lease has ended
    others_pages: int
    own_pages: int
    ended: str  # why the whole crawl has ended; "": it has not
    is_finished: bool  # nothing waits anywhere, and everybody has heard everything


@lru_cache(maxsize=2**16)
def shard_of(host: str) -> int:
    """The shard of a host, with its port or without.

    >>> shard_of("www.example.org") == shard_of("example.org:8080")
    True
    """
    return xxh3_64_intdigest(urls.domain(host).encode()) % SHARDS


def register_worker(db: psycopg.Connection, name: str, lease: float) -> int:
    """Enter a worker; returns its number. The first one begins a new run."""
    with db.transaction():
        [(worker,)] = db.execute(
            "INSERT INTO worker (name, until) VALUES (%s, clock_timestamp() + "
            "make_interval(secs => %s)) RETURNING id",
            (name, lease),
        )
        db.execute(
            "DELETE FROM setting WHERE name = 'ended' AND NOT EXISTS (SELECT 1 FROM "
            "worker WHERE until > clock_timestamp() AND ended IS NULL AND id <> %s)",
            (worker,),
        )
    return int(worker)


class HeldShards:
    """The shards that a worker owns, and until when it may act on that."""

    def __init__(self, worker: int, lease: float) -> None:
        self.worker = worker
        self.lease = lease
        self.epochs: dict[int, int] = {}
        self.renewed_at = -lease  # on this machine's monotonic clock

    def __contains__(self, shard: int) -> bool:
        return shard in self.epochs

    def owns(self, host: str) -> bool:
        """Whether a host belongs to this worker."""
        return shard_of(host) in self.epochs

    def may_request(self) -> bool:
        """Whether the lease was renewed recently enough to make a request."""
        return time.monotonic() < self.renewed_at + SAFE * self.lease

    def renew(self, db: psycopg.Connection, *, is_idle: bool, heard: int) -> None:
        """Extend the leases; raises LostShards if one has gone to another worker."""
        asked_at = time.monotonic()
        [(count,)] = db.execute(
            _RENEW, self._arguments(is_idle=is_idle, heard=heard)
        ).fetchall()
        if count < len(self.epochs):
            raise LostShards(
                f"{len(self.epochs) - count} shards of worker {self.worker} went to "
                "others, because its lease was not renewed in time"
            )
        self.renewed_at = asked_at

    def take(self, db: psycopg.Connection, most: int) -> bool:
        """Take at most so many shards that are free; returns whether one of them
        belonged to a worker that did not give it back."""
        asked_at = time.monotonic()
        taken = db.execute(_TAKE, self._arguments(most=most)).fetchall()
        if not self.epochs:
            self.renewed_at = asked_at
        self.epochs |= {shard: epoch for shard, epoch, _ in taken}
        return any(owner is not None for *_, owner in taken)

    def release(self, db: psycopg.Connection, shards: Iterable[int]) -> None:
        """Give shards back; everything about them must be recorded."""
        given = list(shards)
        db.execute(
            "UPDATE shard SET owner = NULL, until = '-infinity' "
            "WHERE owner = %s AND id = ANY(%s)",
            (self.worker, given),
        )
        for shard in given:
            self.epochs.pop(shard, None)

    def standing(self, db: psycopg.Connection) -> WorkersState:
        """How the crawl stands."""
        [(live, free, others, own, ended, is_finished)] = db.execute(
            _STANDING, {"worker": self.worker}
        ).fetchall()
        return WorkersState(
            *(max(live, 1), free, int(others), own or 0),
            *((ended or b"").decode(), is_finished),
        )

    def leave(self, db: psycopg.Connection, reason: str) -> None:
        """Give everything back, and say why."""
        self.release(db, list(self.epochs))
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


def fair_share(live: int) -> int:
    """The shards that each of so many workers owns at most."""
    return -(-SHARDS // live)
