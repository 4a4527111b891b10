"""Connects to PostgreSQL. Passwords never appear in messages.

What a DSN does not say comes from the usual variables: PGHOST, PGUSER, PGPASSWORD,
PGPASSFILE, PGSSLMODE, PGSSLROOTCERT and so on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from opilio.errors import BadInput, OpilioError

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
T = TypeVar("T")

PATIENCE = 0.5  # seconds between two tries while the server is away
SCHEMES = ("postgresql://", "postgres://")
ALIVE = {  # a server that is gone is noticed within a few seconds
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def is_dsn(text: object) -> bool:
    """Whether this names a database instead of a folder."""
    return str(text).startswith(SCHEMES)


def without_password(dsn: str) -> str:
    """The DSN as it may be shown: server, port and database alone."""
    library()
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(dsn)
    except library().Error:
        return "postgresql://…"
    host = parts.get("host") or ""
    host = "" if str(host).startswith("/") else host
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{host}{port}/{parts.get('dbname') or ''}"


def library() -> Any:
    """The module psycopg; BadInput if it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise BadInput(
            "a crawl in PostgreSQL needs psycopg; install it with: "
            "pip install 'opilio[postgres]'"
        ) from None
    return psycopg


def open_postgres(
    dsn: str, *, idle: float = 0.0, retry: bool = False
) -> psycopg.Connection:
    """A connection that commits each statement, outside of `transaction` blocks.

    `idle`: seconds after which the server ends a transaction in which nothing happens,
    so that a worker which was stopped does not keep its locks. `retry`: the server was
    there before, so raise its own error for a caller that tries again.
    """
    errors = library()
    try:
        made: psycopg.Connection = errors.connect(
            dsn, autocommit=True, application_name="opilio", **_missing(dsn)
        )
        made.execute("SET search_path TO opilio")
        if idle:
            made.execute(
                "SELECT set_config('idle_in_transaction_session_timeout', %s, false)",
                (str(int(idle * 1000)),),
            )
    except errors.Error as error:
        if retry:
            raise
        raise OpilioError(
            f"{without_password(dsn)} cannot be opened: {_reason(error)}; check the "
            "address, and the user and password (also PGUSER, PGPASSWORD, PGPASSFILE)"
        ) from None
    return made


class PatientConnection:
    """A connection for the event loop: asks in a thread, waits while the server is
    away, and is made again when it breaks."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._db: psycopg.Connection | None = None
        self._lock = asyncio.Lock()

    async def ask(self, question: Callable[[psycopg.Connection], T]) -> T:
        """The answer to a question, which may be asked more than once."""
        errors = library()
        async with self._lock:
            while True:
                try:
                    return await asyncio.to_thread(self._ask, question)
                except errors.OperationalError as error:
                    self.close()
                    log.warning("PostgreSQL does not answer: %s", _reason(error))
                await asyncio.sleep(PATIENCE)

    def _ask(self, question: Callable[[psycopg.Connection], T]) -> T:
        if self._db is None:
            self._db = open_postgres(self.dsn, retry=True)
        return question(self._db)

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None


def _missing(dsn: str) -> dict[str, Any]:
    """Our defaults for what the DSN leaves open."""
    from psycopg.conninfo import conninfo_to_dict

    try:
        given = conninfo_to_dict(dsn)
    except library().Error as error:
        raise BadInput(
            f"--store is not a valid address ({_reason(error)}); write "
            "postgresql://USER@HOST/DATABASE"
        ) from None
    return {name: value for name, value in ALIVE.items() if name not in given}


def _reason(error: Exception) -> str:
    """The last line of an error message, without its full stop. The messages of libpq
    name users and hosts, never passwords."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip().rstrip(".")
