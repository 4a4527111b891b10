"""Records what a worker has done in PostgreSQL: one fenced transaction a commit.

The fence: the transaction locks the shards that it touches and compares their epochs.
While it lasts nobody can take them over; if somebody has, it is refused as a whole.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from opilio.cluster.changes import Cells, ChangedRows
from opilio.cluster.connection import PATIENCE, library, open_postgres
from opilio.cluster.shards import HeldShards, LostShards

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

_FENCE = """
    SELECT count(*) FROM (
        SELECT 1 FROM shard JOIN unnest(%s::smallint[], %s::bigint[])
            AS held (id, epoch) USING (id, epoch)
        WHERE owner = %s ORDER BY id FOR SHARE OF shard) AS mine
"""
_COUNT = """
    UPDATE worker SET batch = batch + 1, lessons = lessons + %s, pages = pages + %s,
        kept = kept + %s
    WHERE id = %s AND batch = %s RETURNING 1
"""
_LESSON = "INSERT INTO lesson (worker, number, packed) VALUES (%s, %s, %s)"
_TOLD = "INSERT INTO told_link (shard, worker, number, packed) VALUES (%s, %s, %s, %s)"
_EVENT = "INSERT INTO event (worker, at, kind, detail) VALUES (%s, %s, %s, %s)"
_PART = """
    INSERT INTO part (worker, name, length, place) VALUES (%s, %s, %s, %s)
    ON CONFLICT (name) DO UPDATE SET length = EXCLUDED.length
"""


class RecordBatch(NamedTuple):
    """All that one transaction records."""

    changes: ChangedRows
    lessons: Sequence[Cells]  # number, packed
    told: Sequence[Cells]  # shard, number, packed
    parts: Mapping[str, tuple[int, str]]  # WARC file -> its length, its place

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to record."""
        return self.changes.is_empty and not self.lessons


class Recorder:
    """Writes batches, each exactly once, also if the connection breaks meanwhile."""

    def __init__(self, dsn: str, shards: HeldShards) -> None:
        self.dsn = dsn
        self.shards = shards
        self.batch = 0  # transactions recorded so far
        self._db: psycopg.Connection | None = None

    def write(self, batch: RecordBatch, is_wanted: Callable[[], bool]) -> None:
        """Record a batch; waits while the server is away. Raises LostShards."""
        errors = library()
        while True:
            try:
                if self._db is None or self._db.closed:
                    self._db = open_postgres(
                        self.dsn, idle=self.shards.lease, retry=True
                    )
                self._write(self._db, batch)
                self.batch += 1
                return
            except errors.errors.UniqueViolation as error:
                raise LostShards("another worker has recorded the same page") from error
            except errors.OperationalError as error:
                log.warning("PostgreSQL cannot be reached; trying again: %s", error)
                self.close()
                if not is_wanted():
                    raise
                time.sleep(PATIENCE)

    def _write(self, db: psycopg.Connection, batch: RecordBatch) -> None:
        worker, changes = self.shards.worker, batch.changes
        with db.transaction():
            if not self._is_next(db, batch):
                return  # it was recorded, and only the answer was lost
            self._fence(db, changes.shards)
            with db.cursor() as cursor:
                for statement, rows in changes.rows:
                    cursor.executemany(statement, rows)
                lessons = [(worker, *lesson) for lesson in batch.lessons]
                cursor.executemany(_LESSON, lessons)
                told = [(shard, worker, *rest) for shard, *rest in batch.told]
                cursor.executemany(_TOLD, told)
                cursor.executemany(_EVENT, [(worker, *row) for row in changes.events])
                parts = [(worker, name, *part) for name, part in batch.parts.items()]
                cursor.executemany(_PART, parts)

    def _is_next(self, db: psycopg.Connection, batch: RecordBatch) -> bool:
        """Count a batch; False: it was counted before."""
        changes = batch.changes
        figures = len(batch.lessons), changes.pages, changes.kept
        counted = db.execute(_COUNT, (*figures, self.shards.worker, self.batch))
        return counted.rowcount == 1

    def _fence(self, db: psycopg.Connection, touched: set[int]) -> None:
        """Lock the shards of a batch, or raise LostShards."""
        epochs = self.shards.epochs
        ids = sorted(touched)
        held = [epochs.get(shard, -1) for shard in ids]
        [(count,)] = db.execute(_FENCE, (ids, held, self.shards.worker)).fetchall()
        if count < len(ids):
            raise LostShards(
                f"worker {self.shards.worker} has lost {len(ids) - count} of its "
                "shards; what it did since the last transaction is done again"
            )

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None
