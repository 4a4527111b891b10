"""The answers of a language model about pages, and what they cost, in crawl.db."""

from __future__ import annotations

import sqlite3
import time
from typing import Generic, TypeVar

import msgspec

A = TypeVar("A", bound=msgspec.Struct)


class LlmAnswers(Generic[A]):
    """Reads and writes the tables `llm_answer` and `llm_cost`."""

    def __init__(self, db: sqlite3.Connection, kind: type[A]) -> None:
        self.db = db
        self.kind = kind

    def find(self, key: str) -> A | None:
        """The answer to a question that was asked before."""
        rows = self.db.execute("SELECT answer FROM llm_answer WHERE key = ?", (key,))
        row = rows.fetchone()
        return msgspec.json.decode(row[0], type=self.kind) if row else None

    def save(self, key: str, url: str, answer: A) -> None:
        """Keep an answer, in this transaction."""
        self.db.execute(
            "INSERT OR REPLACE INTO llm_answer VALUES (?, ?, ?, ?)",
            (key, url, msgspec.json.encode(answer).decode(), time.time()),
        )

    def spent(self) -> tuple[int, int]:
        """Calls and tokens of all runs so far."""
        row = self.db.execute("SELECT calls, tokens FROM llm_cost").fetchone()
        return (row[0], row[1]) if row else (0, 0)

    def spend(self, calls: int, tokens: int) -> None:
        """Count a call, or its tokens, in this transaction."""
        before = self.spent()
        self.db.execute(
            "INSERT OR REPLACE INTO llm_cost VALUES (1, ?, ?)",
            (before[0] + calls, before[1] + tokens),
        )


def answer_about(db: sqlite3.Connection, url: str) -> dict[str, object] | None:
    """The last answer about a page; None: there is none."""
    row = db.execute(
        "SELECT answer FROM llm_answer WHERE url = ? ORDER BY at DESC LIMIT 1", (url,)
    ).fetchone()
    return msgspec.json.decode(row[0], type=dict[str, object]) if row else None
