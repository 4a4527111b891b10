"""A crawl goes from its folder into PostgreSQL and back, and nothing is lost."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from cluster.test_worker import BEES, SETTINGS, rows, worker
from crawling import end_of, opilio, start_opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.storage.database import SCHEMA, TABLE

LEARNING = SETTINGS.replace("best-first", "opilio").replace('"cosine"', '"opilio"')
# Numbers of rows that other rows do not refer to may differ.
COLUMNS = {"indexed": "page, words, features", "event": "at, kind, detail"}
DERIVED = {"new_promise"}  # is copied to `link`


def tables(folder):
    """All rows of a crawl, by table."""
    from opilio.storage.promise_log import copy_all

    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        copy_all(db)
        found = {}
        for name, _ in TABLE.findall(SCHEMA):
            if name in DERIVED:
                continue
            some = "WHERE page <> 0" if name == "indexed" else ""
            columns = COLUMNS.get(name, "*")
            query = f"SELECT {columns} FROM {name} {some}"
            found[name] = sorted(db.execute(query).fetchall(), key=repr)
        db.rollback()
    return found


def bees(count=12):
    pages = dict(BEES)
    for number in range(count):
        pages[f"http://host{number % 4}.test/{number}"] = page(
            f"Bee {number}", "bee honey hive " * (number + 1)
        )
    links = dict.fromkeys(pages, "a bee")
    pages["http://seed.test/one"] = page("One", "a bee", links)
    return SmallWeb(pages)


async def half_a_crawl(crawled, *options, settings=LEARNING, pages=8):
    """A crawl with all that there may be: labels, messages, queries, rules."""
    life = await crawled(bees(), settings_text=settings)
    ended = await life.crawl("--max-pages", pages, *options)
    assert ended.code == 0, ended.err
    await opilio("tell", life.folder, "label", "http://seed.test/", "yes")
    await opilio("tell", life.folder, "boost", "host1.test", "3")
    await opilio("search", life.folder, "honey", "--log")
    assert (await life.crawl("--max-pages", pages + 2)).code == 0
    await opilio("tell", life.folder, "seed", "http://host3.test/late")
    return life


async def test_a_folder_comes_back_as_it_was(crawled, dsn):
    life = await half_a_crawl(crawled)
    before = tables(life.folder)
    assert before["label"] and before["message"] and before["host_rule"]
    assert before["learnt"] and before["robots"] and before["indexed"]
    pushed = await opilio("push", life.folder, dsn, "--json")
    assert pushed.code == 0, pushed.err
    assert tables(life.folder) == before
    pulled = await opilio("pull", dsn, life.home / "copy", "--json")
    assert pulled.code == 0, pulled.err
    assert pulled.json() == pushed.json()
    assert pulled.json()["links"] == len(before["link"])
    assert tables(life.home / "copy") == before
    for name in ("crawl.toml", "models/brief.msgpack", "queries.txt"):
        assert (life.home / "copy" / name).read_bytes() == (
            life.folder / name
        ).read_bytes()
    told = await opilio("tell", life.home / "copy", "--json")
    assert [one["state"] for one in told.json()] == ["done", "done", "waiting"]


async def test_a_crawl_of_workers_comes_back_as_it_was(crawled, dsn, postgres):
    life = await crawled(bees(), settings_text=LEARNING)
    for process in [await worker(life, dsn, 1), await worker(life, dsn, 2)]:
        assert (await end_of(process)).code == 0
    first = await opilio("pull", dsn, life.home / "one")
    assert first.code == 0, first.err
    assert {name for name, _ in tables(life.home / "one")["learnt"]} >= {"judge 01"}
    second = postgres.database()
    pushed = await opilio("push", life.home / "one", second)
    assert pushed.code == 0, pushed.err
    again = await opilio("pull", second, life.home / "two")
    assert again.code == 0, again.err
    assert tables(life.home / "two") == tables(life.home / "one")


@pytest.mark.parametrize("workers", [1, 2])
async def test_workers_continue_a_pushed_crawl(crawled, dsn, workers):
    life = await half_a_crawl(crawled)
    asked = {one.url for one in life.server.requests if "robots" not in one.url}
    await opilio("push", life.folder, dsn)
    life.server.requests.clear()
    started = [
        await start_opilio(
            *("crawl", life.topic, "-o", life.home / f"box-{number}", "-q"),
            *("--proxy", life.server.proxy_url, "--max-pages", "0", "--store", dsn),
        )
        for number in range(workers)
    ]
    for ended in await asyncio.gather(*map(end_of, started)):
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["ended"] == "exhausted"
    again = {one.url for one in life.server.requests if "robots" not in one.url}
    assert not again & asked, "a page was fetched twice"
    states = dict(rows(dsn, "SELECT url, state FROM link"))
    assert "waiting" not in states.values()
    assert states["http://host3.test/late"] == "unusable"  # the seed that was told
    assert rows(dsn, "SELECT sum(pages) FROM progress")[0][0] >= len(asked)
    pulled = await opilio("pull", dsn, life.home / "copy")
    assert pulled.code == 0, pulled.err
    checked = await opilio("doctor", life.home / "copy")
    assert "damage" not in checked.out


async def test_a_database_with_a_crawl_is_refused(crawled, dsn):
    life = await half_a_crawl(crawled, settings=SETTINGS)
    assert (await opilio("push", life.folder, dsn)).code == 0
    again = await opilio("push", life.folder, dsn)
    assert again.code == 2 and "holds a crawl already" in again.err


async def test_an_interrupted_push_and_pull_are_repeated(crawled, dsn):
    life = await half_a_crawl(crawled, settings=SETTINGS)
    before = tables(life.folder)
    for delay in (0.2, 0.5, 0.8):
        process = await start_opilio("push", life.folder, dsn)
        await asyncio.sleep(delay)
        if process.returncode is None:
            process.kill()
        await end_of(process)
    done = await opilio("push", life.folder, dsn)
    assert done.code == 0 or "holds a crawl already" in done.err
    for delay in (0.3, 0.6, 0.9):
        process = await start_opilio("pull", dsn, life.home / "copy")
        await asyncio.sleep(delay)
        if process.returncode is None:
            process.kill()
        await end_of(process)
    done = await opilio("pull", dsn, life.home / "copy")
    assert done.code == 0 or "choose another folder" in done.err
    assert tables(life.home / "copy") == before
