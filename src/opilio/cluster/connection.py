"""Connects to PostgreSQL. Passwords never appear in messages.

What a DSN does not say comes from the usual variables: PGHOST, PGUSER, PGPASSWORD,
PGPASSFILE, PGSSLMODE, PGSSLROOTCERT and so on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from opilio.errors import BadInput, OpilioError
from opilio.store.folder import is_database

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
T = TypeVar("T")

PATIENCE = 0.5  # seconds between two tries while the server is away
STARTING = 60.0  # seconds that a server may take to start
IDLE = 60.0  # seconds that a transaction may be idle, unless it must be less
REPORT_EVERY = 30.0  # seconds between two reports of the same trouble
# Errors that pass, beside those of connections and resources: a standby that is being
# promoted, and transactions that the server has ended.
PASSING = frozenset(("25006", "25P02", "25P03", "25P04", "40001", "40P01"))
ALIVE = {  # a server that is gone is noticed within a few seconds
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def require_dsn(text: str) -> str:
    """The text itself; BadInput if it does not name a database."""
    if not is_database(text):
        # What was given is not shown: it may hold a password all the same.
        raise BadInput("a database is written as postgresql://USER@HOST/DATABASE")
    return text


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
    dsn: str, *, idle: float = IDLE, retry: bool = False
) -> psycopg.Connection:
    """A connection that commits each statement, outside of `transaction` blocks.

    `idle`: seconds after which the server ends a transaction in which nothing happens,
    so that a worker which was stopped keeps neither its locks nor old rows. `retry`:
    the server was there before, so raise its own error for a caller that tries again.
    """
    errors = library()
    try:
        made = _connect(dsn)
        made.execute("SET search_path TO opilio")
        made.execute(
            "SELECT set_config('idle_in_transaction_session_timeout', %s, false)",
            (str(int(idle * 1000)),),
        )
    except errors.Error as error:
        if retry:
            raise
        raise OpilioError(
            f"{without_password(dsn)} cannot be opened: {reason_of(error)}; check the "
            "address, and the user and password (also PGUSER, PGPASSWORD, PGPASSFILE)"
        ) from None
    return made


def _connect(dsn: str) -> psycopg.Connection:
    """Connect, also to a server that is just starting."""
    errors, until = library(), time.monotonic() + STARTING
    while True:
        try:
            made: psycopg.Connection = errors.connect(
                dsn, autocommit=True, application_name="opilio", **_missing(dsn)
            )
            return made
        except errors.OperationalError as error:
            if time.monotonic() > until or "starting up" not in str(error):
                raise
            time.sleep(PATIENCE)


def may_pass(error: Exception, db: psycopg.Connection | None = None) -> bool:
    """Whether an error may pass when the same is tried again: the server is away or
    short of something, has ended the transaction, or is a standby."""
    if isinstance(error, library().OperationalError) or (db and db.broken):
        return True
    return getattr(error, "sqlstate", None) in PASSING


class ServerTrouble:
    """Reports an error when it begins, and now and then while it lasts."""

    def __init__(self) -> None:
        self._text = ""
        self._again_at = 0.0

    def report(self, error: Exception) -> None:
        """Report an error, unless the same was reported a moment ago."""
        text, now = reason_of(error), time.monotonic()
        if text != self._text or now >= self._again_at:
            self._text, self._again_at = text, now + REPORT_EVERY
            log.warning("PostgreSQL does not answer; trying again: %s", text)


class PatientConnection:
    """A connection that waits while the server is away, and is made again when it
    breaks. Only one thread may use it at a time."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.is_closing = False  # do not wait any longer
        self._db: psycopg.Connection | None = None
        self._lock = asyncio.Lock()
        self._trouble = ServerTrouble()

    async def ask(self, question: Callable[[psycopg.Connection], T]) -> T:
        """The answer to a question, which may be asked more than once."""
        async with self._lock:
            while True:
                try:
                    return await asyncio.to_thread(self.ask_once, question)
                except library().Error as error:
                    if not self.may_retry(error):
                        raise
                await asyncio.sleep(PATIENCE)

    def may_retry(self, error: Exception) -> bool:
        """Report an error, and say whether to ask again."""
        passing = may_pass(error, self._db)
        self.close()
        if passing and not self.is_closing:
            self._trouble.report(error)
            return True
        return False

    def ask_once(self, question: Callable[[psycopg.Connection], T]) -> T:
        """The answer to a question; raises the errors of psycopg."""
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
            f"--store is not a valid address ({reason_of(error)}); write "
            "postgresql://USER@HOST/DATABASE"
        ) from None
    return {name: value for name, value in ALIVE.items() if name not in given}


def reason_of(error: Exception) -> str:
    """The last line of an error message, without its full stop. The messages of libpq
    name users and hosts, never passwords."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip().rstrip(".")
