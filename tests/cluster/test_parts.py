"""WARC files of workers are sealed to folders and object stores, and lost ones are
noticed."""

import asyncio
import json
import os
import shutil
import signal
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from cluster.held_web import HeldWeb
from cluster.test_push import bees
from cluster.test_worker import SETTINGS, rows
from crawling import end_of, opilio, start_opilio
from opilio.cluster.connection import open_postgres
from opilio.cluster.schema import SHARDS, make_ready
from opilio.cluster.shards import HeldShards, register_worker

KEYS = {"AWS_ACCESS_KEY_ID": "a-key", "AWS_SECRET_ACCESS_KEY": "a-very-secret-key"}
OLD = '[store]\npart_seconds = 0.2\nlost_after = 1.0\nlease = 1.0\nwarc = "{}"\n'
FIRST = 2  # pages that are answered before the worker is killed


@pytest.fixture(scope="module")
def s3():
    """The environment for an object store on this machine, with a bucket."""
    moto = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", **KEYS}
    boto3.client(
        "s3",
        endpoint_url=address["AWS_ENDPOINT_URL"],
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        region_name="us-east-1",
    ).create_bucket(Bucket="crawls")
    yield {**os.environ, **address, "AWS_DEFAULT_REGION": "us-east-1"}
    server.stop()


def settings(place, delay=0.02):
    text = SETTINGS.replace("[store]\n", OLD.format(place)).replace("lease = 2.0\n", "")
    return text.replace("delay = 0.02", f"delay = {delay}")


async def start(life, dsn, number, env=None):
    return await start_opilio(
        *("crawl", life.topic, "-o", life.home / f"box-{number}", "-q"),
        *("--proxy", life.server.proxy_url, "--settings", life.settings),
        *("--store", dsn),
        env=env,
    )


def parts(dsn):
    return rows(dsn, "SELECT name, place, is_sealed, is_lost, length FROM part")


async def count_reaches(dsn, query, least, seconds=60):
    for _ in range(int(seconds * 20)):
        with suppress(psycopg.errors.UndefinedTable):  # the worker starts
            if rows(dsn, query)[0][0] >= least:
                return
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{query} did not reach {least} in {seconds} s")


async def killed_in_the_middle(crawled, dsn, text, count=12):
    """A crawl whose worker has recorded exactly its first pages in a WARC file that is
    not sealed, and was killed; the web is still held."""
    web = HeldWeb(bees(count), first=FIRST)
    life = await crawled(web, settings_text=text.replace("0.2\n", "3600.0\n", 1))
    first = await start(life, dsn, 1)
    await count_reaches(dsn, "SELECT count(*) FROM page", FIRST)
    first.send_signal(signal.SIGKILL)
    await end_of(first)
    assert [part[2:4] for part in parts(dsn)] == [(False, False)], "nothing is sealed"
    return life, web


async def test_parts_go_to_an_object_store_and_are_read_from_there(
    crawled, dsn, s3, tmp_path
):
    life = await crawled(bees(), settings_text=settings("s3://crawls/bees", 0.1))
    env = {**s3, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    ended = await asyncio.gather(
        *[end_of(await start(life, dsn, number, env)) for number in (1, 2)]
    )
    assert [one.code for one in ended] == [0, 0], [one.err for one in ended]
    found = parts(dsn)
    assert len(found) > 2, "parts are rotated by age"
    assert all(is_sealed and not is_lost for _, _, is_sealed, is_lost, _ in found)
    assert all(place.startswith("s3://crawls/bees/") for _, place, *_ in found)
    assert not list(life.home.glob("box-*/**/*.warc.gz")), "nothing is left behind"
    pulled = await opilio("pull", dsn, life.home / "copy", env=env)
    assert pulled.code == 0, pulled.err
    exported = life.home / "all.jsonl"
    done = await opilio("export", life.home / "copy", "-o", exported, env=env)
    assert done.code == 0, done.err
    assert len(exported.read_text().splitlines()) > 10
    told = "".join(one.err + one.out for one in (*ended, pulled, done))
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in told
    dumped = rows(
        dsn, "SELECT convert_from(value, 'utf8') FROM setting WHERE name='plan'"
    )
    assert "s3://crawls/bees" in dumped[0][0]
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in dumped[0][0]


async def test_a_pushed_crawl_goes_to_the_object_store(crawled, dsn, s3):
    life = await crawled(bees(2), settings_text=settings("s3://crawls/pushed"))
    assert (await life.crawl()).code == 0
    for _ in range(2):  # a copy that is there is kept
        pushed = await opilio("push", life.folder, dsn, env=s3)
    assert "holds a crawl" in pushed.err
    [(_, place, is_sealed, _, _)] = parts(dsn)
    assert is_sealed and place.startswith("s3://crawls/pushed/")
    shutil.rmtree(life.folder)
    pulled = await opilio("pull", dsn, life.home / "copy", env=s3)
    assert pulled.code == 0, pulled.err


async def test_a_store_that_fails_does_not_end_the_crawl(crawled, dsn, s3):
    life = await crawled(bees(2), settings_text=settings("s3://no-such-bucket/bees"))
    ended = await end_of(await start(life, dsn, 1, s3))
    assert ended.code == 0, ended.err
    assert "no-such-bucket" in ended.err
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in ended.err
    assert not any(is_sealed for _, _, is_sealed, _, _ in parts(dsn))
    assert list(life.home.glob("box-1/work/*/warc/*.warc.gz")), "nothing is lost"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("ftp://me:hunter2@files.test/warc", "must not contain a password"),
        ("warc", "another folder on each machine"),
        ("nonsense://bucket", "cannot be used"),
    ],
)
async def test_places_that_cannot_be_used_are_refused(crawled, dsn, place, message):
    life = await crawled(bees(1), settings_text=settings(place))
    ended = await end_of(await start(life, dsn, 1))
    assert ended.code == 2 and message in ended.err
    assert "hunter2" not in ended.err + ended.out
    assert not rows(dsn, "SELECT 1 FROM setting WHERE name = 'plan'")


def crawled_urls(dsn):
    query = "SELECT url FROM page JOIN link USING (fingerprint)"
    return {url for (url,) in rows(dsn, query)}


async def test_pages_of_a_machine_that_is_gone_are_fetched_again(crawled, dsn):
    life, web = await killed_in_the_middle(crawled, dsn, settings(""))
    lost = crawled_urls(dsn)
    [(gone, *_)] = parts(dsn)
    shutil.rmtree(life.home / "box-1" / "work")
    second = await start(life, dsn, 2)
    await count_reaches(dsn, "SELECT count(*) FROM lost_page", FIRST)
    web.let_go()
    ended = await end_of(second, 100)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["ended"] == "exhausted"
    assert [name for name, *_, is_lost, _ in parts(dsn) if is_lost] == [gone]
    assert not rows(dsn, "SELECT 1 FROM link WHERE state = 'waiting'")
    counted = "SELECT (SELECT sum(pages) FROM progress), (SELECT sum(pages) FROM site)"
    good = rows(dsn, "SELECT count(*) FROM page WHERE status < 300")[0][0]
    assert rows(dsn, counted) == [(good, good)]
    assert lost <= crawled_urls(dsn)
    pulled = await opilio("pull", dsn, life.home / "copy")
    assert pulled.code == 0, pulled.err
    checked = await opilio("doctor", life.home / "copy")
    assert "damage" not in checked.out


async def test_a_worker_that_comes_back_to_an_empty_folder_notices_at_once(
    crawled, dsn
):
    """Before the crawl ends, although the others have an hour to come back."""
    text = settings("").replace("lost_after = 1.0", "lost_after = 3600.0")
    life, web = await killed_in_the_middle(crawled, dsn, text, count=0)
    shutil.rmtree(life.home / "box-1" / "work")
    web.let_go()
    ended = await end_of(await start(life, dsn, 1), 100)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["ended"] == "exhausted"
    assert [part[3] for part in parts(dsn)].count(True) == 1
    assert crawled_urls(dsn) == set(web.answers)
    assert not rows(dsn, "SELECT 1 FROM link WHERE state = 'waiting'")


def test_a_crawl_ends_only_after_every_machine_has_looked_for_its_parts(dsn):
    """Whoever finds that nothing is left cannot see the files of other machines."""
    with closing(open_postgres(dsn)) as db:
        make_ready(db)
        dead, one, two = (
            HeldShards(register_worker(db, "m:1", 60.0, home), 60.0)
            for home in ("box-1", "box-1", "box-2")
        )
        for held, count in ((one, SHARDS // 2), (two, SHARDS)):
            held.take(db, count)
            held.renew(db, is_idle=True, heard=0)
        assert two.standing(db).is_finished
        db.execute(
            "INSERT INTO part (name, worker, length, place, home) "
            "VALUES ('a', %s, 1, '/nowhere', 'box-1')",
            (dead.worker,),
        )
        looked = "UPDATE worker SET looked_at = clock_timestamp() WHERE id = %s"
        db.execute(looked, (one.worker,))
        assert two.standing(db).is_finished, "its worker may still seal it"
        db.execute(
            "UPDATE worker SET until = clock_timestamp() WHERE id = %s", (dead.worker,)
        )
        for held in (one, two):
            assert not held.standing(db).is_finished
            assert held.standing(db).must_look == (held is one)
        db.execute(looked, (two.worker,))
        assert not two.standing(db).is_finished
        db.execute(looked, (one.worker,))
        assert two.standing(db).is_finished
        assert not one.standing(db).must_look


async def test_parts_of_a_killed_worker_are_sealed_by_the_next_one(crawled, dsn):
    life, web = await killed_in_the_middle(crawled, dsn, settings(""))
    web.let_go()
    ended = await end_of(await start(life, dsn, 1))
    assert ended.code == 0, ended.err
    assert all(is_sealed and not is_lost for _, _, is_sealed, is_lost, _ in parts(dsn))
    assert not rows(dsn, "SELECT 1 FROM lost_page")
    asked = Counter(one.url for one in life.server.requests)
    assert {asked[url] for url in web.open} == {1}, "what was recorded is fetched once"


async def test_a_sealed_part_is_given_up_by_command(crawled, dsn):
    life = await crawled(bees(6), settings_text=settings("", 0.1))
    assert (await end_of(await start(life, dsn, 1))).code == 0
    listed = (await opilio("parts", dsn, "--json")).json()
    assert {part["state"] for part in listed} == {"sealed"}
    pages = sum(part["pages"] for part in listed)
    assert pages == rows(dsn, "SELECT count(*) FROM page")[0][0]
    gone = max(listed, key=lambda part: part["pages"])
    Path(gone["place"]).unlink()
    told = await opilio("parts", dsn, "--lost", gone["name"])
    assert told.out.startswith(f"{gone['pages']} pages will be fetched again")
    unknown = await opilio("parts", dsn, "--lost", "other.warc.gz")
    assert unknown.code == 2 and "no WARC file other.warc.gz" in unknown.err
    assert (await end_of(await start(life, dsn, 1))).code == 0
    assert rows(dsn, "SELECT count(*) FROM page")[0][0] == pages
    assert "lost" in (await opilio("parts", dsn)).out
    assert (await opilio("pull", dsn, life.home / "copy")).code == 0
