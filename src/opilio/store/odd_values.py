"""Finds values in crawl.db that cannot be: wrong types, impossible times, broken JSON,
references to rows that do not exist."""

from __future__ import annotations

import sqlite3
from collections import Counter

from opilio.storage.schema import SCHEMA, TABLE

TYPES = {
    "INTEGER": "'integer'",
    "REAL": "'real', 'integer'",
    "TEXT": "'text'",
    "BLOB": "'blob'",
}
NULL = ", 'null'"
TIMES = frozenset(
    (
        *("at", "due", "since", "taken_at", "fetched_at", "expires_at", "seen_at"),
        *("tried_at", "modified", "rest_until"),
    )
)
LAST_SECOND = 253_402_300_799  # of the year 9999
HIGHEST = 1e300  # of other numbers, so that sums of them are finite
JSON = {
    "link.parts": "object",
    "page.parts": "object",
    "event.detail": "object",
    "page_profile.concepts": "object",
    "page_profile.headings": "array",
    "site.concepts": "object",
    "version.change": "object",
    "message.body": "object",
    "llm_answer.answer": "object",
}


def count_odd_values(db: sqlite3.Connection) -> Counter[str]:
    """Values that cannot be, and how many there are."""
    found: Counter[str] = Counter()
    for table in [name for name, _ in TABLE.findall(SCHEMA)]:
        columns = db.execute(f"PRAGMA table_info({table})").fetchall()
        for _, column, kind, needed, *_ in columns:
            odd = is_odd(table, column, kind, bool(needed))
            query = f"SELECT count(*) FROM {table} WHERE {odd}"  # noqa: S608
            [count] = db.execute(query).fetchone()
            found[f"a value of {table}.{column} is odd"] += count
        texts = [
            f"coalesce({name}, '')" for _, name, kind, *_ in columns if kind == "TEXT"
        ]
        if texts:
            query = f"SELECT {' || '.join(texts)} FROM {table}"  # noqa: S608
            factory, db.text_factory = db.text_factory, bytes
            broken = sum(not is_text(raw) for (raw,) in db.execute(query))
            db.text_factory = factory
            found[f"a text of {table} is not UTF-8"] += broken
    [odd] = db.execute(
        "SELECT count(*) FROM meta WHERE key = 'version' AND value GLOB '*[^0-9]*'"
    ).fetchone()
    found["the version of the format is not a number"] += odd
    return +(found + count_lost_references(db))


def is_odd(table: str, column: str, kind: str, needed: bool) -> str:
    """The condition, in SQL, that a value of a column cannot be."""
    types = TYPES.get(kind, "''")  # none, if the schema is damaged
    odd = f"typeof({column}) NOT IN ({types if needed else types + NULL})"
    if kind == "REAL":
        most = LAST_SECOND if column in TIMES else HIGHEST
        odd += f" OR abs({column}) > {most}"
    if form := JSON.get(f"{table}.{column}"):
        valid = f"CASE WHEN json_valid({column}) THEN json_type({column}) ELSE '' END"
        odd += f" OR {column} IS NOT NULL AND {valid} != '{form}'"
    return odd


def count_lost_references(db: sqlite3.Connection) -> Counter[str]:
    """Rows that refer to others which do not exist."""
    found: Counter[str] = Counter()
    for table, _, other, _ in db.execute("PRAGMA foreign_key_check"):
        found[f"a row of {table} refers to no row of {other}"] += 1
    [count] = db.execute(
        "SELECT count(*) FROM link "
        "WHERE found_on != 0 AND found_on NOT IN (SELECT id FROM link)"
    ).fetchone()
    found["a link was found on no page"] += count
    return found


def is_text(raw: bytes) -> bool:
    """Whether bytes are UTF-8."""
    return raw == raw.decode("utf-8", "ignore").encode()
