"""Older tables in PostgreSQL are brought up to date; newer ones are refused."""

import psycopg
import pytest

from cluster.test_push import bees, tables
from cluster.test_worker import SETTINGS, worker
from crawling import end_of, opilio
from opilio.cluster import schema
from opilio.cluster.connection import open_postgres
from opilio.errors import BadInput

FROM = {"worker": "worker JOIN progress ON progress.worker = worker.id"}
NUMBERED = ("host", "link", "page", "indexed")


def first_version(dsn):
    """A database as the first version made it."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("CREATE SCHEMA opilio")
        db.execute("SET search_path TO opilio")
        db.execute("CREATE TABLE version (number bigint NOT NULL)")
        db.execute("INSERT INTO version VALUES (1)")
        db.execute(schema.FIRST)


def copy_first_columns(source, target):
    """Copy the rows of all tables of the first version."""
    names = "-c search_path=opilio"
    with (
        psycopg.connect(source, options=names) as old,
        psycopg.connect(target, options=names) as new,
    ):
        order = ["worker", "setting", "host", "standing", "robots", "link"]
        order += ["page", "edges", "extracted", "indexed", "page_profile", "site"]
        order += ["part", "lesson", "told_link", "event"]
        for table in order:
            columns = [
                c.name for c in new.execute(f"SELECT * FROM {table}").description
            ]
            listed = ", ".join(columns)
            sort = "number" if table in NUMBERED else columns[0]
            source_table = FROM.get(table, table)
            rows = old.execute(f"SELECT {listed} FROM {source_table} ORDER BY {sort}")
            places = ", ".join(["%s"] * len(columns))
            with new.cursor() as cursor:
                cursor.executemany(
                    f"INSERT INTO {table} ({listed}) OVERRIDING SYSTEM VALUE "
                    f"VALUES ({places})",
                    rows.fetchall(),
                )
        new.execute("SELECT setval(pg_get_serial_sequence('worker', 'id'), 100)")


async def test_the_first_tables_are_brought_up_to_date(crawled, dsn, postgres):
    life = await crawled(bees(4), settings_text=SETTINGS)
    await end_of(await worker(life, dsn))
    older = postgres.database()
    first_version(older)
    copy_first_columns(dsn, older)
    pulled = await opilio("pull", older, life.home / "older")
    assert pulled.code == 0, pulled.err
    with open_postgres(older) as db:
        assert schema.version_of(db) == len(schema.STEPS)
    await opilio("pull", dsn, life.home / "newer")
    ours, theirs = tables(life.home / "newer"), tables(life.home / "older")
    ours.pop("learnt")  # which servers are busy
    theirs.pop("learnt")
    assert theirs == ours
    ended = await end_of(await worker(life, older, 2))
    assert ended.code == 0 and "exhausted" in ended.out


def test_newer_tables_are_refused(dsn):
    with open_postgres(dsn) as db:
        schema.make_ready(db)
        newer = len(schema.STEPS) + 1
        db.execute("UPDATE version SET number = %s", (newer,))
        for attempt in (schema.make_ready, lambda db: schema.require_crawl(db, "")):
            with pytest.raises(BadInput, match=r"newer Opilio.*update Opilio"):
                attempt(db)


def test_tables_do_not_change_under_workers_of_an_older_version(dsn):
    first_version(dsn)
    with open_postgres(dsn) as db:
        db.execute(
            "INSERT INTO worker (name, until) "
            "VALUES ('old', clock_timestamp() + interval '1 minute')"
        )
        with pytest.raises(BadInput, match="1 workers of an older Opilio"):
            schema.make_ready(db)
        db.execute("UPDATE worker SET ended = 'interrupted'")
        schema.make_ready(db)
        assert schema.version_of(db) == len(schema.STEPS)
        schema.make_ready(db)  # may be repeated


def test_a_step_that_fails_leaves_everything_as_it_was(dsn, monkeypatch):
    first_version(dsn)
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "SELECT 1 / 0"))
    with open_postgres(dsn) as db:
        with pytest.raises(psycopg.Error):
            schema.make_ready(db)
        assert schema.version_of(db) == 1
        assert db.execute("SELECT to_regclass('opilio.message')").fetchone() == (None,)
