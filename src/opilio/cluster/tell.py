"""Tells a crawl on many machines something, from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opilio.cluster.connection import open_postgres, without_password
from opilio.cluster.messages import (
    await_outcome,
    live_workers,
    messages_in,
    send_message,
)
from opilio.cluster.schema import require_crawl
from opilio.store.message_log import ToldMessage
from opilio.store.messages import AnyMessage

if TYPE_CHECKING:
    import psycopg


class DatabaseWay:
    """The way to the crawl of a database."""

    def __init__(self, dsn: str) -> None:
        self.name = without_password(dsn)
        self._dsn = dsn

    def messages(self) -> list[ToldMessage]:
        """All messages so far."""
        with self._open() as db:
            return messages_in(db)

    def send(self, message: AnyMessage, wait: float) -> ToldMessage:
        """Send a message, and wait so many seconds for its outcome."""
        with self._open() as db:
            return await_outcome(db, send_message(db, message), wait)

    def is_running(self) -> bool:
        """Whether there are workers."""
        with self._open() as db:
            return live_workers(db) > 0

    def _open(self) -> psycopg.Connection:
        db = open_postgres(self._dsn)
        require_crawl(db, self.name)
        return db
