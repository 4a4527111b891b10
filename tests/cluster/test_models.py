"""One worker publishes what all have learnt; rounds begin with it."""

import asyncio
import json
import random
from contextlib import closing

import numpy as np
import psycopg
import pytest

from cluster.test_worker import SETTINGS, rows, worker
from crawling import end_of, opilio
from opilio.cluster.connection import open_postgres
from opilio.cluster.lessons import (
    Hearing,
    SharedLesson,
    pack,
    pack_seen,
    packed_forms,
    pages_seen,
)
from opilio.cluster.models import PublishedModel, adopt, begin, model_of
from opilio.cluster.schema import make_ready
from opilio.cluster.shards import LostShards, register_worker
from opilio.cluster.trainer import FIRST, KEPT, StalePublication, Trainer
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.records import Lease, Link, Page, Verdict
from opilio.text import urls
from strategies.chooser_pages import STAR, chooser, lease, link, verdict
from strategies.chooser_pages import page as page_with

LEASE = 60.0
LEARNING = SETTINGS.replace("best-first", "opilio").replace('"cosine"', '"opilio"')


@pytest.fixture
def db(dsn):
    with closing(open_postgres(dsn)) as made:
        make_ready(made)
        yield made


def trainer(db):
    return Trainer(register_worker(db, "machine:1", LEASE), LEASE, None, None)


def tell(db, worker, first, last):
    """So many lessons about pages without links."""
    for number in range(first, last + 1):
        url = f"http://host{worker}.test/{number}"
        found = Lease(1, url, urls.fingerprint(url), urls.host(url), 1.0, 0, 0, 0, 0)
        read = Page(url, "Bees", "en", "utf-8", 3, {"bee": 1}, 1.0, 7, (), stems=b"x")
        lesson = SharedLesson(found, read, Verdict(0.5, True, {"a": 0.5}), number)
        outline, seen, whole = packed_forms(lesson)
        assert seen == pack_seen(lesson)
        db.execute(
            "INSERT INTO lesson (worker, number, shard, packed, seen, is_whole) "
            "VALUES (%s, %s, 3, %s, %s, false)",
            (worker, number, outline, seen),
        )
        db.execute(
            "INSERT INTO lesson_page VALUES (%s, %s, %s)", (worker, number, whole)
        )
    db.execute("UPDATE progress SET lessons = %s WHERE worker = %s", (last, worker))


def lead(one, db, heard=None):
    """What comes of a look, and whether it is the trainer then."""
    return one.look(db, heard or {}), one.epoch > 0


def pass_trainer_time(db, seconds):
    db.execute(
        "UPDATE trainer SET until = until - make_interval(secs => %s)", (seconds,)
    )


def test_one_worker_is_the_trainer_until_its_lease_ends(db):
    one, two = trainer(db), trainer(db)
    assert lead(one, db) == (False, True)
    assert lead(two, db) == (False, False)
    pass_trainer_time(db, 0.9 * LEASE)
    assert lead(one, db) == (False, True)  # renews
    first = one.epoch
    pass_trainer_time(db, 0.9 * LEASE)
    assert lead(two, db) == (False, False)
    pass_trainer_time(db, 0.2 * LEASE)
    assert lead(two, db) == (False, True)
    assert two.epoch > first
    assert lead(one, db) == (False, False)


def test_a_stale_trainer_cannot_publish(db):
    one, two = trainer(db), trainer(db)
    lead(one, db)
    pass_trainer_time(db, 1.1 * LEASE)
    lead(two, db)
    with pytest.raises(StalePublication):
        one.publish(db, PublishedModel({one.worker: 5}, b"stale", None))
    assert two.publish(db, PublishedModel({two.worker: 5}, b"new", None)) == 1
    found = db.execute("SELECT version, worker, epoch, judge FROM model").fetchall()
    assert found == [(1, two.worker, two.epoch, b"new")]


def test_versions_come_more_rarely_as_the_crawl_grows(db):
    one = trainer(db)
    assert not one.look(db, {one.worker: FIRST - 1})
    assert one.look(db, {one.worker: FIRST})
    one.publish(db, PublishedModel({one.worker: FIRST}, None, None))
    assert not one.look(db, {one.worker: FIRST + 1})
    assert one.look(db, {one.worker: 2 * FIRST})


def test_old_versions_are_deleted(db):
    one = trainer(db)
    lead(one, db)
    for number in range(1, 7):
        one.publish(db, PublishedModel({one.worker: number}, None, None))
    found = db.execute("SELECT version FROM model ORDER BY version").fetchall()
    assert found == [(number,) for number in range(7 - KEPT, 7)]


def words_left(db):
    query = "SELECT worker, number FROM lesson_page ORDER BY worker, number"
    return db.execute(query).fetchall()


def test_lessons_are_deleted_once_two_models_and_all_live_workers_have_them(db):
    one, two = trainer(db), trainer(db)
    lead(one, db)
    tell(db, one.worker, 1, 9)
    one.publish(db, PublishedModel({one.worker: 3}, None, None))
    one.publish(db, PublishedModel({one.worker: 6}, None, None))
    heard = {one.worker: 9}
    one.look(db, heard)
    assert one.delete_old(db) == 0  # the other has heard nothing yet
    two.look(db, {one.worker: 2})
    assert one.delete_old(db) == 0
    two.look(db, {one.worker: 3})
    assert one.delete_old(db) == 3
    assert words_left(db) == [(one.worker, number) for number in range(4, 10)]
    assert rows_of(db, "lesson") == 9
    two.look(db, heard)
    assert one.delete_old(db) == 0  # one must be able to begin with the last but one
    one.publish(db, PublishedModel({one.worker: 8}, None, None))
    one.look(db, heard)
    two.look(db, heard)
    assert one.delete_old(db) == 3


def rows_of(db, table):
    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_a_worker_that_died_keeps_no_lessons(db):
    one, dead = trainer(db), trainer(db)
    tell(db, one.worker, 1, 4)
    lead(one, db)
    for number in (2, 4):
        one.publish(db, PublishedModel({one.worker: number}, None, None))
    one.look(db, {one.worker: 4})
    assert one.delete_old(db) == 0
    db.execute("UPDATE worker SET until = '-infinity' WHERE id = %s", (dead.worker,))
    assert one.delete_old(db) == 2


def test_a_worker_that_was_away_too_long_starts_over(db):
    one, away = trainer(db), trainer(db)
    tell(db, one.worker, 1, 4)
    hearing = Hearing(away.worker, [3])
    db.execute("DELETE FROM lesson_page WHERE number < 3")
    with pytest.raises(LostShards, match="deleted by now"):
        hearing.fetch(db)


def test_a_new_worker_begins_with_the_newest_model_and_misses_no_lesson(db):
    one, new = trainer(db), trainer(db)
    lead(one, db)
    tell(db, one.worker, 1, 9)
    for number in (3, 6):
        made = PublishedModel({one.worker: number}, b"judge", b"strategy", ["j", "s"])
        one.publish(db, made)
    one.look(db, {one.worker: 9})
    model = begin(db, new.worker)
    assert model == made
    one.publish(db, PublishedModel({one.worker: 9}, None, None))
    one.look(db, {one.worker: 9})
    assert one.delete_old(db) == 6  # what it needs, the lessons 7 to 9, is kept
    hearing = Hearing(new.worker, [3])
    hearing.begin_outlines(model.heads, db)
    outlines = hearing.fetch(db)
    assert [told.lesson.content for told in outlines] == [1, 2, 3, 4, 5, 6]
    assert {told.lesson.page.stems for told in outlines} == {b""}
    assert hearing.fetch(db) == []
    hearing.end_outlines(model.heads)
    assert hearing.count == 6
    after = hearing.fetch(db)
    assert [told.lesson.content for told in after] == [7, 8, 9]
    assert {told.lesson.page.stems for told in after} == {b"x"}


def test_of_others_pages_only_what_tells_copies_is_fetched(db):
    one, new = trainer(db), trainer(db)
    tell(db, one.worker, 1, 4)
    link_told = Link("http://mine.test/", 5)
    db.execute(
        "INSERT INTO told_link VALUES (9, %s, 2, %s)", (one.worker, pack([link_told]))
    )
    hearing = Hearing(new.worker, [9])
    hearing.begin_outlines({one.worker: 3}, db)
    [told] = hearing.fetch(db)
    assert (told.lesson.content, told.links) == (2, [link_told])
    pages = pages_seen(one.worker, (1, 3), [9], db)
    assert [page.content for page in pages] == [2, 3]
    assert pages_seen(one.worker, (0, 4), [3], db) == []


def taught(strategy, count=60):
    """Visit so many links, every other one relevant; some wait in the end."""
    rng = random.Random(1)
    found = [
        link(f"http://h{n}.test/a/", vector=STAR if n % 2 else None)
        for n in range(count)
    ]
    more = [
        link(f"http://w{n}.test/b/", vector=[rng.random() for _ in range(3)])
        for n in range(count)
    ]
    strategy.rank(page_with(found), verdict(0.5), lease("http://seed.test/"))
    for n, one in enumerate(found):
        strategy.rank(page_with([]), verdict(float(n % 2)), lease(one.url))
    strategy.rank(page_with(more), verdict(0.6), lease("http://other.test/"))


def promises(strategy):
    waiting = strategy.waiting
    every = waiting.all()
    _, found = strategy.score(every)
    return dict(zip(waiting.link[every].tolist(), found.tolist(), strict=True))


def test_a_strategy_scores_its_links_by_a_model_of_another():
    teacher, pupil, apart = chooser(), chooser(), chooser()
    taught(teacher)
    some = [
        link(f"http://x{n}.test/", vector=STAR if n % 3 else None) for n in range(30)
    ]
    for strategy in (teacher, pupil, apart):
        strategy.rank(page_with(some), verdict(0.4), lease("http://mine.test/"))
    pupil.adopt(teacher.publish())
    assert pupil.publish() == teacher.publish()
    revised = {print_ for print_, *_ in pupil.revise()}
    assert revised <= {one.fingerprint for one in some}
    weights = [s.correction.weights for s in (teacher, pupil, apart)]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])
    assert promises(pupil) != promises(apart)
    assert pupil.groups.pages == teacher.groups.pages


def test_a_model_that_was_adopted_survives_a_restart():
    teacher, pupil, again = chooser(), chooser(), chooser()
    taught(teacher)
    pupil.rank(
        page_with([link("http://x.test/")]), verdict(0.4), lease("http://m.test/")
    )
    pupil.adopt(teacher.publish())
    taught(pupil, 20)
    again.recall(pupil.changes())
    assert again.publish() == pupil.publish()
    assert promises(again) == promises(pupil)


def test_a_model_without_vectors_is_ignored_by_a_strategy_with_them():
    from strategies.chooser_pages import subject

    other, pupil = chooser(subject(vectors=False)), chooser()
    taught(pupil)
    before = pupil.publish()
    pupil.adopt(other.publish())
    assert pupil.publish() == before


def large_web(count):
    """Pages of many sites about bees, and some that are not."""
    urls_of = [f"http://s{n % 16}.test/p{n}" for n in range(count)]
    urls_of[0] = "http://seed.test/"
    pages = {}
    for n, url in enumerate(urls_of):
        words = "bee honey hive" if n % 3 else "a car and a road"
        onward = {urls_of[m]: f"bee {m}" for m in (2 * n + 1, 2 * n + 2) if m < count}
        pages[url] = page(f"Page {n}", f"{words} number {n} of {n * n}", onward)
    return SmallWeb(pages), urls_of


async def until(is_so, seconds=100):
    for _ in range(seconds * 10):
        if await asyncio.to_thread(is_so):
            return
        await asyncio.sleep(0.1)
    raise TimeoutError("it did not come about")


async def test_the_trainer_is_killed_and_another_one_publishes(crawled, dsn):
    """Words of pages are deleted meanwhile, and every page is found all the same."""
    web, every = large_web(700)
    life = await crawled(web, settings_text=LEARNING)

    def asked(query):
        try:
            return rows(dsn, query)
        except psycopg.errors.UndefinedTable:
            return []

    one = await worker(life, dsn, 1)
    two = await worker(life, dsn, 2)
    await until(lambda: asked("SELECT 1 FROM model"))
    [(name, epoch)] = rows(
        dsn, "SELECT name, epoch FROM trainer JOIN worker ON worker.id = owner"
    )
    victim = one if name.endswith(f":{one.pid}") else two
    victim.kill()
    await victim.wait()
    three = await worker(life, dsn, 3)
    left = [process for process in (one, two, three) if process is not victim]
    ended = await asyncio.gather(*map(end_of, left))
    assert [one.code for one in ended] == [0, 0], [one.err for one in ended]
    assert {json.loads(one.out)["ended"] for one in ended} == {"exhausted"}
    found = rows(dsn, "SELECT url FROM link WHERE state IN ('kept', 'irrelevant')")
    assert sorted(url for (url,) in found) == sorted(every)
    [(last, epochs)] = rows(dsn, "SELECT max(version), max(epoch) FROM model")
    assert last >= 2 and epochs > epoch
    [(words, lessons)] = rows(
        dsn, "SELECT (SELECT count(*) FROM lesson_page), (SELECT count(*) FROM lesson)"
    )
    assert words < lessons
    pulled = await opilio("pull", dsn, life.home / "copy")
    assert pulled.code == 0, pulled.err
    status = await opilio("status", life.home / "copy", "--json")
    assert json.loads(status.out)["pages"] == len(every)


class Crawl:
    """What a model needs of one."""

    query_judges = None

    def __init__(self, judge, strategy):
        self.judge, self.strategy = judge, strategy


def test_a_model_of_another_strategy_is_ignored():
    """Somebody has changed the settings of the crawl meanwhile."""
    teacher, pupil = chooser(), chooser()
    taught(teacher)
    model = model_of(Crawl(None, teacher), {1: 61})
    before = pupil.publish()
    adopt(Crawl(None, pupil), model._replace(kinds=["builtins.NoneType", "x.Other"]))
    assert pupil.publish() == before
    adopt(Crawl(None, pupil), model)
    assert pupil.publish() == teacher.publish()
