"""Rows that are put off are there for whoever looks, and only for them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import opilio
from opilio.errors import BadInput
from opilio.storage.database import LATE, Database, open_database

NOTE = "INSERT INTO note VALUES (?, ?)"
COUNT = "SELECT count(*) FROM note"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(open_database(tmp_path / "crawl.db")) as opened:
        yield opened


def written(db: Database) -> int:
    """The rows that are in the table without having been asked for."""
    count: int = sqlite3.Connection.execute(db, COUNT).fetchone()[0]
    return count


def test_a_row_for_later_is_there_for_whoever_asks(db: Database) -> None:
    db.later(NOTE, (1, b"one"))
    assert written(db) == 0
    assert db.execute("SELECT value FROM note").fetchall() == [(b"one",)]


def test_a_row_for_later_is_there_for_whoever_writes(db: Database) -> None:
    db.later(NOTE, (1, b"one"))
    db.executemany("UPDATE note SET value = ? WHERE key = ?", [(b"two", 1)])
    assert db.execute("SELECT value FROM note").fetchall() == [(b"two",)]


def test_rows_of_one_kind_keep_their_order(db: Database) -> None:
    for kind in ("first", "second", "third"):
        db.later("INSERT INTO event (at, kind) VALUES (0, ?)", (kind,))
        db.later(NOTE, (ord(kind[0]), b""))
    kinds = db.execute("SELECT kind FROM event ORDER BY id").fetchall()
    assert kinds == [("first",), ("second",), ("third",)]


def test_only_so_many_rows_are_put_off(db: Database) -> None:
    for key in range(LATE + 1):
        db.later(NOTE, (key, b""))
    assert written(db) == LATE


def test_a_commit_takes_rows_for_later_along(tmp_path: Path, db: Database) -> None:
    db.execute("BEGIN")
    db.later(NOTE, (1, b"one"))
    db.execute("COMMIT")
    with closing(open_database(tmp_path / "crawl.db", read_only=True)) as other:
        assert other.execute(COUNT).fetchone() == (1,)


def test_a_rollback_drops_rows_for_later(db: Database) -> None:
    db.execute("BEGIN")
    db.later(NOTE, (1, b"one"))
    db.rollback()
    assert db.execute(COUNT).fetchone() == (0,)


def test_nothing_is_committed_after_a_row_for_later_failed(db: Database) -> None:
    db.execute("BEGIN")
    db.later(NOTE, (1, b"one"))
    db.later(NOTE, (1, b"once more"))
    for statement in (COUNT, COUNT, "COMMIT"):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(statement)
    db.rollback()
    assert db.execute(COUNT).fetchone() == (0,)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_cannot_be_opened_is_closed(tmp_path: Path, read_only: bool):
    path = tmp_path / "crawl.db"
    with closing(open_database(path)) as db:
        db.execute("UPDATE meta SET value = '999' WHERE key = 'version'")
    with pytest.raises(BadInput) as refused:
        open_database(path, read_only=read_only)
    opened = [
        link.readlink() for link in Path("/proc/self/fd").iterdir() if link.exists()
    ]
    assert refused.value and path not in opened


def test_no_statement_numbers_its_parameters():
    """Python 3.12.1 takes `?1` for a name and warns."""
    source = Path(opilio.__file__).parent
    numbered = re.compile(r"(?:=|>|<|LIMIT|VALUES \() \?\d")
    found = [p.name for p in source.rglob("*.py") if numbered.search(p.read_text())]
    assert found == []
