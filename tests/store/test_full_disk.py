"""A disk that is full in mid-crawl ends it, and the same command resumes it."""

import resource
import sqlite3
from pathlib import Path

import pytest

from crawling import end_of, start_opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.storage.database import open_database


def test_nothing_is_written_after_sqlite_has_undone_a_transaction(tmp_path: Path):
    db = open_database(tmp_path / "crawl.db")
    db.execute("CREATE TABLE fill (bytes BLOB)")
    db.execute("PRAGMA max_page_count = 100")
    db.execute("PRAGMA cache_size = 5")
    db.begin()
    with pytest.raises(sqlite3.OperationalError, match="full"):
        for _ in range(1000):
            db.execute("INSERT INTO fill VALUES (zeroblob(5000))")
    assert not db.in_transaction  # SQLite's own doing
    row = "INSERT INTO learnt VALUES ('a', x'00')"
    for write in (db.execute, db.execute_at_once):
        with pytest.raises(sqlite3.OperationalError, match="was rolled back"):
            write(row)
    with pytest.raises(sqlite3.OperationalError, match="was rolled back"):
        db.executemany_at_once("INSERT INTO learnt VALUES (?, x'00')", [("b",)])
    db.later("INSERT INTO learnt VALUES (?, ?)", ("c", b""))
    with pytest.raises(sqlite3.OperationalError, match="was rolled back"):
        db.commit()
    db.rollback()
    assert db.execute("SELECT count(*) FROM fill").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM learnt").fetchone() == (0,)
    db.begin()
    db.execute(row)
    db.commit()
    db.close()


PAGES = 60
WORDS = "The bee makes honey in the hive. "
SETTINGS = """
[politeness]
delay = 0.0
ip_delay = 0.0
[crawl]
near_copies = false
[store]
commit_every = 0.05
min_free = 0
"""


def busy_web() -> SmallWeb:
    """Pages with many links each, so that many rows are written at a time. No two of
    a host have as many words: they would look like a calendar, and wait until every
    dead link was tried."""
    pages = {
        f"http://h{n % 7}.test/{n}": page(
            f"Bees {n}",
            f"{WORDS} number {n}" + " pollen" * n,
            {
                f"http://h{m % 7}.test/{m}": "honey"
                for m in range(n * 30 + 1, n * 30 + 31)
                if m < 200
            }
            | {f"http://w{k % 5}.test/{n}-{k}": "elsewhere" for k in range(200)},
        )
        for n in range(200)
    }
    return SmallWeb(
        {"http://seed.test/": page("Bees", WORDS, {"http://h0.test/0": "bees"})} | pages
    )


@pytest.mark.parametrize("size", [600_000, 850_000, 1_200_000, 1_650_000])
async def test_a_crawl_that_met_the_end_of_the_disk_goes_on(crawled, size: int):
    """A limit on the size of files is for SQLite what a full disk is."""
    life = await crawled(busy_web(), settings_text=SETTINGS)
    limited = await start_opilio(*life.command("--max-pages", PAGES))
    resource.prlimit(limited.pid, resource.RLIMIT_FSIZE, (size, size))
    ended = await end_of(limited)
    assert ended.code == 3, ended.err
    ended = await life.crawl("--max-pages", PAGES)
    assert ended.code == 0, ended.err
    assert life.rows("SELECT count(*) FROM page") == [(PAGES,)]
    ids = [id for (id,) in life.rows("SELECT id FROM link ORDER BY id")]
    assert ids == list(range(1, len(ids) + 1))
    found_on = life.rows(
        "SELECT count(*) FROM link WHERE found_on > 0 "
        "AND found_on NOT IN (SELECT id FROM page)"
    )
    assert found_on == [(0,)]
