"""Records what a worker has done in PostgreSQL: one fenced transaction a commit.

The fence: the transaction locks the shards that it touches and compares their epochs.
While it lasts nobody can take them over; if somebody has, it is refused as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from opilio.cluster.changes import Cells, ChangedRows
from opilio.cluster.connection import (
    PATIENCE,
    ServerTrouble,
    library,
    may_pass,
    open_postgres,
)
from opilio.cluster.shards import HeldShards, LostShards

if TYPE_CHECKING:
    import psycopg

_FENCE = """
    SELECT count(*) FROM (
        SELECT 1 FROM shard JOIN unnest(%s::smallint[], %s::bigint[])
            AS held (id, epoch) USING (id, epoch)
        WHERE owner = %s ORDER BY id FOR KEY SHARE OF shard) AS mine
"""
_BATCH = "SELECT batch FROM progress WHERE worker = %s FOR NO KEY UPDATE"
_COUNT = """
    UPDATE progress SET batch = batch + 1, lessons = lessons + %s, pages = pages + %s,
        kept = kept + %s
    WHERE worker = %s
"""
_LESSON = """
    INSERT INTO lesson (worker, number, shard, packed, seen, is_whole)
    VALUES (%s, %s, %s, %s, %s, %s)
"""
_PAGE = "INSERT INTO lesson_page (worker, number, packed) VALUES (%s, %s, %s)"
_TOLD = "INSERT INTO told_link (shard, worker, number, packed) VALUES (%s, %s, %s, %s)"
_EVENT = "INSERT INTO event (worker, at, kind, detail) VALUES (%s, %s, %s, %s)"
_PART = """
    INSERT INTO part (worker, name, length, place, home) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (name) DO UPDATE SET length = EXCLUDED.length, changed = DEFAULT
    WHERE part.length < EXCLUDED.length
"""


class RecordBatch(NamedTuple):
    """All that one transaction records."""

    changes: ChangedRows
    lessons: Sequence[Cells]  # number, shard, outline, seen, whole lesson or None
    told: Sequence[Cells]  # shard, number, packed
    parts: Mapping[str, tuple[int, str, str]]  # WARC file -> length, place, home
    epochs: Mapping[int, int]  # of the shards that were ours meanwhile

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to record."""
        return self.changes.is_empty and not self.lessons


class Recorder:
    """Writes batches, each exactly once, also if the connection breaks meanwhile.

    A worker that has lost shards starts over with another recorder: what the thread of
    the former one still tries to write is refused.
    """

    def __init__(self, dsn: str, shards: HeldShards) -> None:
        self.dsn = dsn
        self.worker = shards.worker
        self.lease = shards.lease
        self.batch = 0  # transactions recorded so far
        self.is_closing = False  # do not wait any longer
        self._db: psycopg.Connection | None = None
        self._trouble = ServerTrouble()

    def write(self, batch: RecordBatch) -> None:
        """Record a batch; waits while the server is away. Raises LostShards."""
        errors = library()
        while True:
            try:
                if self._db is None or self._db.closed:
                    self._db = open_postgres(self.dsn, idle=self.lease, retry=True)
                self._write(self._db, batch)
                self.batch += 1
                return
            except errors.errors.UniqueViolation as error:
                raise LostShards("another worker has recorded the same page") from error
            except errors.Error as error:
                passing = may_pass(error, self._db)
                self.close()
                if not passing or self.is_closing:
                    raise
                self._trouble.report(error)
                time.sleep(PATIENCE)

    def _write(self, db: psycopg.Connection, batch: RecordBatch) -> None:
        worker, changes = self.worker, batch.changes
        with db.transaction():
            if not self._is_next(db, batch):
                return  # it was recorded, and only the answer was lost
            self._fence(db, batch)
            with db.cursor() as cursor:
                for statement, rows in changes.rows:
                    cursor.executemany(statement, rows)
                lessons = [
                    (worker, *lesson, whole is None) for *lesson, whole in batch.lessons
                ]
                cursor.executemany(_LESSON, lessons)
                pages = [
                    (worker, number, whole)
                    for number, *_, whole in batch.lessons
                    if whole is not None
                ]
                cursor.executemany(_PAGE, pages)
                told = [(shard, worker, *rest) for shard, *rest in batch.told]
                cursor.executemany(_TOLD, told)
                cursor.executemany(_EVENT, [(worker, *row) for row in changes.events])
                parts = [(worker, name, *part) for name, part in batch.parts.items()]
                cursor.executemany(_PART, parts)

    def _is_next(self, db: psycopg.Connection, batch: RecordBatch) -> bool:
        """Count a batch; False: it was counted before. Raises LostShards if the server
        has lost earlier ones: it was restored from a backup, or a standby took over
        that did not have them yet."""
        worker, changes = self.worker, batch.changes
        found = db.execute(_BATCH, (worker,)).fetchone()
        recorded = found[0] if found else -1
        if recorded == self.batch + 1:
            return False
        if recorded != self.batch:
            raise LostShards(
                f"the server has lost what worker {worker} recorded in its last "
                "transactions; that is done again"
            )
        figures = len(batch.lessons), changes.pages, changes.kept
        db.execute(_COUNT, (*figures, worker))
        return True

    def _fence(self, db: psycopg.Connection, batch: RecordBatch) -> None:
        """Lock the shards of a batch, or raise LostShards."""
        ids = sorted(batch.changes.shards)
        held = [batch.epochs.get(shard, -1) for shard in ids]
        [(count,)] = db.execute(_FENCE, (ids, held, self.worker)).fetchall()
        if count < len(ids):
            raise LostShards(
                f"worker {self.worker} has lost {len(ids) - count} of its shards; what "
                "it did since the last transaction is done again"
            )

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None
