"""Shards are leased, renewed, lost and shared evenly, by the clock of the server."""

import asyncio
import threading
import time
from contextlib import closing

import psycopg
import pytest

from opilio.cluster.changes import ChangedRows
from opilio.cluster.connection import may_pass, open_postgres
from opilio.cluster.heartbeat import Heartbeat
from opilio.cluster.record import RecordBatch, Recorder
from opilio.cluster.schema import FIRST, SHARDS, make_ready
from opilio.cluster.shards import (
    HeldShards,
    LostShards,
    fair_share,
    register_worker,
)

LEASE = 60.0  # seconds, of which none pass here unless `pass_time` says so
SECONDS = 60  # that what must happen may take


@pytest.fixture
def db(dsn):
    with closing(open_postgres(dsn)) as made:
        make_ready(made)
        yield made


@pytest.fixture
def other(dsn, db):
    with closing(open_postgres(dsn)) as made:
        yield made


def wait_until(is_so):
    """Wait, and let nothing else run in this thread."""
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def join(db, lease=LEASE):
    return HeldShards(register_worker(db, "machine:1", lease), lease)


def pass_time(db, seconds, *workers):
    """Let time pass for the leases, by the server's clock and these workers' own."""
    db.execute(
        "UPDATE shard SET until = until - make_interval(secs => %(by)s), "
        "rest_until = rest_until - make_interval(secs => %(by)s)",
        {"by": seconds},
    )
    db.execute(
        "UPDATE worker SET until = until - make_interval(secs => %s)", (seconds,)
    )
    for held in workers:
        held.renewed_at -= seconds


def batch(held, *shards, lessons=()):
    changes = ChangedRows([], set(shards), 0, 0, [])
    return RecordBatch(changes, list(lessons), [], {}, held.epochs)


def renew(held, db):
    held.renew(db, is_idle=False, heard=0)


def test_a_lease_is_renewed_while_the_same_worker_records(db, other):
    held = join(db)
    held.take(db, SHARDS)
    recorder = Recorder("", held)
    db.execute("SET lock_timeout = '200ms'")
    with other.transaction():
        assert recorder._is_next(other, batch(held, 1, 2, 3))
        recorder._fence(other, batch(held, 1, 2, 3))
        renew(held, db)  # waits for no lock
    assert held.may_request()


def test_shards_of_a_record_under_way_are_not_taken_over(db, other):
    held, rival = join(db), join(db)
    held.take(db, SHARDS)
    recorder = Recorder("", held)
    with other.transaction():
        recorder._fence(other, batch(held, 7))
        pass_time(db, 1.2 * LEASE)
        assert rival.standing(db).free == SHARDS - 1
        rival.take(db, SHARDS)
    assert set(range(SHARDS)) - set(rival.epochs) == {7}
    with pytest.raises(LostShards), other.transaction():
        recorder._fence(other, batch(held, 8))


def test_an_expired_lease_that_nobody_took_is_renewed(db):
    held = join(db)
    held.take(db, 3)
    pass_time(db, 1.2 * LEASE, held)
    assert not held.may_request()
    renew(held, db)
    assert held.may_request()


def test_no_request_after_seven_tenths_of_a_lease(db):
    held = join(db)
    held.take(db, 1)
    renew(held, db)
    assert held.may_request()
    pass_time(db, 0.75 * LEASE, held)
    assert not held.may_request()


def test_hosts_of_a_worker_that_died_rest_for_a_lease_whoever_owns_them_next(db):
    dead, heir, third = join(db), join(db), join(db)
    dead.take(db, 2)
    assert dead.rest(db) == 0
    pass_time(db, 1.2 * LEASE)
    heir.take(db, 2)
    assert 0.5 * LEASE < heir.rest(db) <= LEASE
    heir.release(db, [0])
    third.take(db, 1)
    assert 0 < third.rest(db) <= LEASE
    pass_time(db, 1.1 * LEASE)
    assert heir.rest(db) == third.rest(db) == 0


def test_shards_that_were_given_back_need_no_rest(db):
    held, heir = join(db), join(db)
    held.take(db, 5)
    held.leave(db, "interrupted")
    heir.take(db, 5)
    assert len(heir.epochs) == 5
    assert heir.rest(db) == 0


def test_a_crawl_does_not_end_while_an_idle_worker_takes_over_shards(db):
    """Their links wait, although every owner has said that nothing does."""
    one, two = join(db), join(db)
    one.take(db, SHARDS // 2)
    two.take(db, SHARDS)
    for held in (one, two):
        held.renew(db, is_idle=True, heard=0)
    assert two.standing(db).is_finished
    two.release(db, [SHARDS - 1])
    assert not two.standing(db).is_finished
    one.take(db, 1)
    assert not two.standing(db).is_finished
    one.renew(db, is_idle=True, heard=0)
    assert two.standing(db).is_finished


def test_what_a_worker_abandons_can_be_had_at_once_but_rests(db):
    held, heir = join(db), join(db)
    held.take(db, 5)
    held.abandon(db)
    assert not held.epochs
    heir.take(db, 5)
    assert len(heir.epochs) == 5
    assert heir.rest(db) > 0


@pytest.mark.parametrize("live", [1, 2, 3, 43, 50, 255, 256, 300])
def test_all_workers_get_shards_as_evenly_as_possible(live):
    shares = [fair_share(live, before) for before in range(live)]
    assert sum(shares) == SHARDS
    assert max(shares) - min(shares) <= 1


def test_taking_shards_while_renewing_loses_none(db, other):
    held = join(db)
    held.take(db, 1)
    failures = []

    def renew_often():
        try:
            for _ in range(100):
                renew(held, other)
        except LostShards as lost:
            failures.append(lost)

    thread = threading.Thread(target=renew_often)
    thread.start()
    while thread.is_alive():
        held.take(db, 4)
        held.release(db, list(held.epochs)[1:])
    thread.join()
    assert not failures


def test_a_batch_whose_answer_was_lost_is_not_written_twice(dsn, db):
    held = join(db)
    held.take(db, 1)
    recorder = Recorder(dsn, held)
    told = batch(held, 0, lessons=[(1, 0, b"one", None, None)])
    recorder.write(told)
    recorder.batch -= 1  # as if the answer had not come
    recorder.write(told)
    assert recorder.batch == 1
    assert db.execute("SELECT batch, lessons FROM progress").fetchall() == [(1, 1)]
    recorder.close()


def test_a_worker_notices_that_the_server_has_lost_transactions(dsn, db):
    held = join(db)
    held.take(db, 1)
    recorder = Recorder(dsn, held)
    recorder.write(batch(held, 0, lessons=[(1, 0, b"one", None, None)]))
    recorder.write(batch(held, 0, lessons=[(2, 0, b"two", None, None)]))
    db.execute("UPDATE progress SET batch = 1, lessons = 1")  # an older backup
    with pytest.raises(LostShards, match="lost what worker"):
        recorder.write(batch(held, 0, lessons=[(3, 0, b"three", None, None)]))
    recorder.close()


def test_a_batch_of_an_earlier_life_is_refused_after_joining_anew(dsn, db):
    held = join(db)
    held.take(db, 1)
    old, recorder = batch(held, 0), Recorder(dsn, held)
    held.abandon(db)
    held.worker = register_worker(db, "machine:1", LEASE)
    held.take(db, 1)
    with pytest.raises(LostShards):
        recorder.write(old)
    recorder.close()


def test_a_transaction_that_the_server_ended_is_tried_again(dsn, db):
    gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    with closing(open_postgres(dsn, idle=0.2)) as stopped:
        with pytest.raises(psycopg.Error) as caught, stopped.transaction():
            stopped.execute("SELECT 1 FROM shard FOR KEY SHARE")
            wait_until(
                lambda: not db.execute(gone, (stopped.info.backend_pid,)).fetchone()[0]
            )
            stopped.execute("SELECT 1")
        assert may_pass(caught.value, stopped)
    with closing(open_postgres(dsn)) as refused:
        refused.execute("SET default_transaction_read_only = on")
        with pytest.raises(psycopg.Error) as caught:
            refused.execute("UPDATE shard SET epoch = 1")
        assert may_pass(caught.value, refused)  # a standby
        with pytest.raises(psycopg.Error) as caught:
            refused.execute("SELECT nothing")
        assert not may_pass(caught.value, refused)


class Heard:
    """What a heartbeat told."""

    def __init__(self):
        self.standings, self.errors = [], []

    def act(self, standing):
        self.standings.append(standing)

    def fail(self, error, worker):
        self.errors.append(error)


async def test_a_busy_event_loop_does_not_lose_the_lease(dsn, db):
    held, heard = join(db, lease=0.4), Heard()
    held.take(db, SHARDS)
    pulse = Heartbeat(dsn, held, heard)
    pulse.start()
    for _ in range(3):
        before = held.renewed_at
        wait_until(lambda: held.renewed_at > before)  # noqa: B023  # noqa: ASYNC251
    async with asyncio.timeout(SECONDS):
        while not heard.standings:
            await asyncio.sleep(0.02)
    assert not heard.errors
    pulse.stop()


async def test_a_heartbeat_that_cannot_go_on_says_so(dsn, db):
    held, heard = join(db), Heard()
    held.take(db, 1)
    db.execute("ALTER TABLE shard RENAME TO hidden")
    pulse = Heartbeat(dsn, held, heard)
    pulse.start()
    async with asyncio.timeout(SECONDS):
        while not heard.errors:
            await asyncio.sleep(0.02)
    assert isinstance(heard.errors[0], psycopg.errors.UndefinedTable)
    pulse.stop()


def test_an_older_schema_is_brought_up_to_date(dsn):
    with closing(psycopg.connect(dsn, autocommit=True)) as old:
        old.execute("CREATE SCHEMA opilio")
        old.execute("SET search_path TO opilio")
        old.execute("CREATE TABLE version (number bigint NOT NULL)")
        old.execute(FIRST)
        old.execute("INSERT INTO version VALUES (1)")
        old.execute(
            "INSERT INTO worker (name, until, batch, lessons, pages, kept) "
            "VALUES ('m:1', now(), 4, 3, 2, 1)"
        )
    with closing(open_postgres(dsn)) as db:
        make_ready(db)
        make_ready(db)
        found = db.execute("SELECT batch, lessons, pages, kept FROM progress")
        assert found.fetchall() == [(4, 3, 2, 1)]
