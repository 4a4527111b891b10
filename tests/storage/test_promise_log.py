"""New promises are kept in groups until they are copied to the table `link`."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opilio.storage.database import open_database
from opilio.storage.promise_log import (
    GROUP_BITS,
    MANY,
    PromiseLog,
    StoredPromise,
    copy_all,
    new_promise,
)

LINK = """
    INSERT INTO link (id, url, fingerprint, host, state, promise)
    VALUES (?, ?, ?, 1, 'waiting', 0)
"""
FIRST = 1 << 16
LINKS = FIRST + 4 * MANY
STEP = 16  # one link in so many has a row, which makes the tests fast


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("links") / "crawl.db"
    db = open_database(path)
    db.execute("BEGIN")
    rows = [(id, f"http://a.test/{id}", id) for id in range(STEP, LINKS, STEP)]
    db.executemany(LINK, rows)
    db.execute("COMMIT")
    db.close()
    return path


@pytest.fixture
def db(links: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (tmp_path / "crawl.db").write_bytes(links.read_bytes())
    with closing(open_database(tmp_path / "crawl.db")) as opened:
        yield opened


def log_of(db: sqlite3.Connection) -> PromiseLog:
    return PromiseLog(db.execute, db.executemany)


def stored(db: sqlite3.Connection, id: int) -> tuple[float, str | None]:
    promise, parts = db.execute(
        "SELECT promise, parts FROM link WHERE id = ?", (id,)
    ).fetchone()
    return promise, parts


def rows_of(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM new_promise").fetchone()[0])


def test_a_new_promise_is_found_before_it_is_copied(db: sqlite3.Connection) -> None:
    log = log_of(db)
    log.write([(FIRST, 0.7, '{"a":1}')])
    assert stored(db, FIRST) == (0.0, None)
    assert log.may_have(FIRST)
    assert not log.may_have(FIRST + MANY)
    assert new_promise(db, FIRST) == (FIRST, 0.7, '{"a":1}')
    assert new_promise(db, FIRST + STEP) is None  # of the same group


def test_the_last_promise_of_a_link_counts(db: sqlite3.Connection) -> None:
    log = log_of(db)
    log.write([(FIRST, 0.7, "{}")])
    log.write([(FIRST, 0.2, None)])
    assert new_promise(db, FIRST) == (FIRST, 0.2, None)
    log.copy_all()
    assert stored(db, FIRST) == (0.2, None)
    assert not log.may_have(FIRST)
    assert rows_of(db) == 0


def test_a_group_with_many_new_promises_is_copied_alone(db: sqlite3.Connection) -> None:
    log = log_of(db)
    other = FIRST + MANY
    log.write([(other, 0.9, "{}")])
    for commit in range(MANY):
        log.write([(FIRST, float(commit), "{}")])
        if not log.may_have(FIRST):
            break
    assert stored(db, FIRST) == (float(commit), "{}")
    assert stored(db, other) == (0.0, None)
    assert rows_of(db) == 1


def test_any_history_ends_with_the_last_promises(db: sqlite3.Connection) -> None:
    """Also if the process is killed after a commit, and `copy_all` comes next."""
    chance, log, expected = random.Random(3), log_of(db), dict[int, StoredPromise]()
    for commit in range(60):
        ids = chance.sample(range(FIRST - 64 * STEP, LINKS, STEP), 400)
        news = [(id, chance.random(), f"[{commit}]") for id in sorted(ids)]
        log.write(news)
        expected.update({new[0]: new for new in news})
        if commit % 25 == 24:
            copy_all(db)
            log = log_of(db)
    assert rows_of(db) > 0
    for id, promise, parts in chance.sample(list(expected.values()), 200):
        new = new_promise(db, id)
        assert (new[1:] if new else stored(db, id)) == (promise, parts)
    copy_all(db)
    assert all(stored(db, id) == new[1:] for id, new in expected.items())
    assert rows_of(db) == 0


def test_groups_are_not_all_copied_in_the_same_commit(db: sqlite3.Connection) -> None:
    """With many groups that would make the crawl pause."""
    log, copied = log_of(db), []
    groups = range(FIRST, LINKS, 1 << GROUP_BITS)
    for commit in range(MANY):
        log.write([(first, float(commit), "{}") for first in groups])
        copied.append(sum(not log.may_have(first) for first in groups))
    assert sum(copied) >= len(groups)
    assert max(copied) == 1
