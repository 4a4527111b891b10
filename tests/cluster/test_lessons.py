"""Workers hear each lesson once, in the order in which it was told."""

from contextlib import closing

import pytest

from opilio.cluster.connection import open_postgres
from opilio.cluster.lessons import AT_ONCE, Hearing, SharedLesson, pack, pack_seen
from opilio.cluster.schema import make_ready
from opilio.cluster.shards import LostShards, register_worker
from opilio.records import Lease, Link
from opilio.text import urls


@pytest.fixture
def db(dsn):
    with closing(open_postgres(dsn)) as made:
        make_ready(made)
        yield made


def tell(db, worker, number, links=(), shard=None):
    url = f"http://host{worker}.test/{number}"
    lease = Lease(1, url, urls.fingerprint(url), urls.host(url), 1.0, 0, 0, 0, 0)
    lesson = SharedLesson(lease)
    with db.transaction():
        db.execute(
            "INSERT INTO lesson (worker, number, shard, packed, seen) "
            "VALUES (%s, %s, %s, %s, %s)",
            (worker, number, shard, pack(lesson), pack_seen(lesson)),
        )
        for shard, link in links:
            found = Link(link, urls.fingerprint(link))
            db.execute(
                "INSERT INTO told_link VALUES (%s, %s, %s, %s)",
                (shard, worker, number, pack([found])),
            )
        db.execute(
            "UPDATE progress SET lessons = %s WHERE worker = %s", (number, worker)
        )


def heard_by(hearing, db):
    return [lesson.lease.url for lesson, *_ in hearing.fetch(db)]


def test_lessons_come_once_and_in_order(db):
    me, one, two = (register_worker(db, "m:1", 9.0) for _ in range(3))
    hearing = Hearing(me, [3])
    tell(db, one, 1)
    tell(db, two, 1)
    tell(db, one, 2)
    first = [f"http://host{worker}.test/{n}" for worker, n in ((one, 1), (two, 1))]
    assert heard_by(hearing, db) == [*first, f"http://host{one}.test/2"]
    assert heard_by(hearing, db) == []
    tell(db, two, 2)
    assert heard_by(hearing, db) == [f"http://host{two}.test/2"]


def test_links_come_to_the_owner_of_their_shard(db):
    me, one = (register_worker(db, "m:1", 9.0) for _ in range(2))
    tell(db, one, 1, [(3, "http://mine.test/"), (4, "http://other.test/")])
    [(_, links, _)] = Hearing(me, [3, 5]).fetch(db)
    assert [link.url for link in links] == ["http://mine.test/"]


def test_of_many_workers_lessons_a_share_is_learnt(db):
    """All that has to do with our shards, labels, and one of so many of the rest; of
    the others we know the pages."""
    me, one = (register_worker(db, "m:1", 9.0) for _ in range(2))
    for number in range(1, 61):
        links = [(3, "http://mine.test/")] if number == 10 else ()
        tell(db, one, number, links, shard=3 if number == 20 else 9)
    db.execute("UPDATE lesson SET seen = NULL WHERE number = 30")  # a label
    hearing = Hearing(me, [3])
    hearing.one_of = 17
    news = hearing.fetch(db)
    learnt = {n for n, told in enumerate(news, 1) if told.lesson}
    share = {n for n in range(1, 61) if n % 17 == one % 17}
    assert 3 <= len(share) <= 4
    assert learnt == {10, 20, 30} | share
    assert {told.seen.url for told in news if told.seen} == {
        f"http://host{one}.test/{number}" for number in range(1, 61) if number != 30
    }


def test_a_long_history_is_heard_in_order(db):
    me, one, two = (register_worker(db, "m:1", 9.0) for _ in range(3))
    with db.transaction():
        for number in range(1, AT_ONCE):
            tell(db, one, number)
            tell(db, two, number)
    hearing, heard = Hearing(me, []), []
    while some := heard_by(hearing, db):
        heard += some
    assert heard == [
        f"http://host{worker}.test/{number}"
        for number in range(1, AT_ONCE)
        for worker in (one, two)
    ]


def test_own_lessons_are_heard_only_when_a_round_begins(db):
    me = register_worker(db, "m:1", 9.0)
    tell(db, me, 1)
    hearing = Hearing(me, [])
    assert len(heard_by(hearing, db)) == 1
    hearing.is_live = True
    tell(db, me, 2)  # recorded, but the answer is still on its way
    assert heard_by(hearing, db) == []
    hearing.told(2)
    assert hearing.last_told == 2


def test_what_was_fetched_counts_only_once_it_was_learnt(db):
    """Otherwise a crawl could end between the two, with links that nobody queued."""
    me, one = (register_worker(db, "m:1", 9.0) for _ in range(2))
    tell(db, one, 1)
    hearing = Hearing(me, [])
    hearing.fetch(db)
    assert hearing.count == 0


def test_lessons_that_a_server_has_lost_are_noticed(db):
    me, one = (register_worker(db, "m:1", 9.0) for _ in range(2))
    hearing = Hearing(me, [])
    tell(db, one, 1)
    tell(db, one, 2)
    hearing.fetch(db)
    db.execute("UPDATE progress SET lessons = 1 WHERE worker = %s", (one,))
    with pytest.raises(LostShards):
        hearing.fetch(db)


def test_lessons_recorded_while_looking_are_not_taken_for_lost(db):
    """The thread that looks and the event loop that records share one count."""
    me = register_worker(db, "m:1", 9.0)
    hearing = Hearing(me, [])
    hearing.is_live = True

    class Slow:
        def execute(self, query, *arguments):
            rows = db.execute(query, *arguments)
            hearing.told(hearing.last_told + 1)  # recorded just after we looked
            return rows

    assert hearing.fetch(Slow()) == []
    assert hearing.last_told == 1
