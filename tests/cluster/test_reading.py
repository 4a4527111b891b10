"""Commands read a crawl on many machines from its database, and tell it things."""

import asyncio
import json
import os
import sqlite3
import time
import urllib.request

import pytest

from cluster.test_parts import count_reaches
from cluster.test_push import bees, half_a_crawl, tables
from cluster.test_worker import BEES, SETTINGS, rows, worker
from crawling import end_of, opilio, start_opilio
from opilio.cluster import mirror as mirror_module
from opilio.cluster.connection import open_postgres
from opilio.cluster.mirror import keep_current
from opilio.cluster.schema import make_ready
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.store.inbox import send
from opilio.store.messages import PauseCrawl, ResumeCrawl

SECRET = "pass-word-7"
QUIET = 2.0  # seconds without a request, while a dozen hosts wait for theirs
PLAN = b'[topic]\nname = "bees"\nkeywords = ["bee"]\n'


@pytest.fixture
def env(tmp_path):
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}


def secret(dsn):
    return dsn.replace("opilio@", f"opilio:{SECRET}@")


async def told(dsn, env, *words):
    done = await opilio("tell", secret(dsn), *words, "--json", env=env)
    assert SECRET not in done.out + done.err
    return json.loads(done.out)


async def until(is_so, what, seconds=60):
    """Wait for something that must happen."""
    for _ in range(seconds * 20):
        if is_so():
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{what}: not in {seconds} s")


def mirror(env):
    [folder] = [
        path for path in (path_of(env)).iterdir() if (path / "crawl.toml").exists()
    ]
    return folder


def path_of(env):
    from pathlib import Path

    return Path(env["XDG_CACHE_HOME"]) / "opilio" / "mirrors"


async def test_commands_read_from_the_database(crawled, dsn, env):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    await end_of(await worker(life, dsn, 1))
    named = secret(dsn)
    seen = []

    async def run(*words):
        done = await opilio(*words, env=env)
        assert done.code == 0, done.err
        seen.append(done.out + done.err)
        return done

    status = (await run("status", named, "--json")).json()
    assert status["pages"] == len(BEES) - 1 and not status["running"]
    assert status["stopped"] == "exhausted"
    await run("status", named)
    found = await run("search", named, "honey", "--json")
    assert "http://other.test/" in found.out
    explained = await run("explain", named, "http://other.test/far", "--json")
    assert explained.json()["blocks"], "its record is read from where it is"
    exported = life.home / "all.jsonl"
    await run("export", named, "-o", exported)
    assert "honey and hive" in exported.read_text()
    card = life.home / "set"
    await run("export", named, "--format", "huggingface", "-o", card)
    written = "".join(p.read_text() for p in card.rglob("*.md"))
    assert "opilio export" in written and SECRET not in written
    sites = await run("sites", named, "--json")
    assert "other.test" in sites.out
    assert SECRET not in "".join(seen)
    for path in path_of(env).rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
    for words in (("search", "x", "--expand", 3), ("sites", "--rebuild")):
        refused = await opilio(words[0], named, *words[1:], env=env)
        assert refused.code == 2 and "opilio pull DSN DIR" in refused.err
    crawl = await opilio("rejudge", mirror(env), env=env)
    assert crawl.code == 2 and "only its workers change" in crawl.err


async def test_a_mirror_follows_the_crawl(crawled, dsn, env):
    """What is copied step by step is the same as what is copied at once."""
    life = await crawled(bees(1000), settings_text=SETTINGS.replace("0.02", "0.2"))
    process = await worker(life, dsn, 1)
    counts = []
    end = time.monotonic() + 180
    while len(set(counts)) < 3 and time.monotonic() < end:
        status = await opilio("status", dsn, "--json", env=env)
        if status.code == 0:
            counts.append(status.json()["pages"])
    process.send_signal(2)
    await end_of(process)
    await opilio("status", dsn, "--json", env=env)
    assert counts == sorted(counts)
    assert len(set(counts)) == 3, "the mirror was not brought up to date while it ran"
    once = await opilio("pull", dsn, life.home / "once")
    assert once.code == 0, once.err
    assert facts(mirror(env)) == facts(life.home / "once")


def facts(folder):
    """What a crawl holds, without ids."""
    db = sqlite3.connect(folder / "crawl.db")
    queries = {
        "link": "SELECT link.url, link.state, link.reason, link.depth, source.url, "
        "link.anchor FROM link LEFT JOIN link AS source ON source.id = link.found_on",
        "page": "SELECT url, status, title, score, relevant, warc, warc_offset "
        "FROM page JOIN link USING (id)",
        "edge": "SELECT a.url, b.url FROM edge JOIN link AS a ON a.id = page "
        "JOIN link AS b ON b.id = link",
        "indexed": "SELECT url, words, features FROM indexed "
        "JOIN link ON link.id = page",
        "site": "SELECT name, pages, in_domain, concepts, modified FROM site "
        "JOIN host ON host.id = site.host",
        "robots": "SELECT * FROM robots",
        "extracted": "SELECT url, packed FROM extracted JOIN link USING (id)",
        "page_profile": "SELECT url, headings FROM page_profile JOIN link USING (id)",
    }
    found = {
        name: sorted(map(repr, db.execute(query))) for name, query in queries.items()
    }
    db.close()
    return found


async def test_a_mirror_of_a_pushed_crawl_is_complete(crawled, dsn, env):
    life = await half_a_crawl(crawled)
    await opilio("push", life.folder, dsn)
    assert (await opilio("status", dsn, env=env)).code == 0
    ours, theirs = tables(life.folder), tables(mirror(env))
    for name in ("link", "page", "edge", "label", "learnt", "host_rule", "message"):
        assert theirs[name] == ours[name], name


async def test_workers_act_on_what_they_are_told(crawled, dsn, env):
    pages = {
        "http://seed.test/": page(
            "Bees", "bee honey", {f"http://h{n}.test/": "bee" for n in range(12)}
        ),
        "http://late.test/": page("Late", "bee honey hive"),
        **{
            f"http://h{n}.test/": page(
                f"H{n}", "bee", {f"/{m}": "bee" for m in range(400)}
            )
            for n in range(12)
        },
        **{
            f"http://h{n}.test/{m}": page("x", "bee")
            for n in range(12)
            for m in range(400)
        },
    }
    life = await crawled(SmallWeb(pages), settings_text=SETTINGS.replace("0.02", "0.3"))
    asked = life.server.requests
    workers = [await worker(life, dsn, 1), await worker(life, dsn, 2)]
    await until(lambda: len(asked) >= 20, "20 requests")
    assert (await told(dsn, env, "pause"))["outcome"] == "paused"
    now = life.server.clock
    await until(lambda: now() - asked[-1].at > QUIET, "a pause without requests")
    assert (await told(dsn, env, "block", "h3.test"))["state"] == "done"
    blocked = sum("h3.test" in one.url for one in asked)
    assert (await told(dsn, env, "resume"))["outcome"] == "resumed"
    seed = await told(dsn, env, "seed", "http://late.test/", "--wait", 30)
    assert seed["state"] == "done" and seed["outcome"] == "it is visited next"
    label = await told(dsn, env, "label", "http://seed.test/", "no", "--wait", 30)
    if label["state"] != "done":
        for one in workers:
            one.send_signal(2)
        raise AssertionError([label, [(await end_of(one)).err for one in workers]])
    refused = await told(dsn, env, "label", "http://nowhere.test/", "no", "--wait", 30)
    assert refused["state"] == "refused"
    query = await told(dsn, env, "query", "honey")
    assert query["state"] == "refused" and "no pages for a query" in query["outcome"]
    more = len(asked) + 40
    await until(lambda: len(asked) >= more, "40 more requests")
    assert sum("h3.test" in one.url for one in asked) == blocked
    late = [one for one in asked if one.url == "http://late.test/"]
    assert len(late) == 1
    stopped = await told(dsn, env, "stop")
    assert stopped["outcome"] == "stopped"
    ended = [json.loads((await end_of(one)).out)["ended"] for one in workers]
    assert ended == ["told", "told"]
    verdict = "SELECT state, relevant FROM page JOIN link USING (fingerprint) "
    assert rows(dsn, f"{verdict} WHERE url = 'http://seed.test/'") == [
        ("irrelevant", 0)
    ]
    assert len(rows(dsn, "SELECT 1 FROM label")) == 1
    listed = await told(dsn, env)
    assert [one["state"] for one in listed].count("done") == 6
    again = await told(dsn, env, "stop")
    assert again["outcome"] == "that run had ended already"


async def test_the_server_shows_and_steers_a_crawl_on_many_machines(
    crawled, dsn, env, tmp_path
):
    pytest.importorskip("starlette", reason="the extra `serve` is not installed")
    # Several minutes of work, unless it is told to stop.
    life = await crawled(bees(2000), settings_text=SETTINGS.replace("0.02", "0.5"))
    process = await worker(life, dsn, 1)
    await count_reaches(dsn, "SELECT count(*) FROM page", 2)
    token = tmp_path / "token"
    server = await start_opilio(
        "serve", secret(dsn), "--port", 0, "--token-file", token, env=env
    )
    try:
        line = (await server.stdout.readline()).decode()
        base = line.split()[1].partition("/login")[0]

        def ask(path, body=None):
            headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
            data = json.dumps(body).encode() if body else None
            if data:
                headers["Content-Type"] = "application/json"
            asked = urllib.request.Request(f"{base}/api/v1/{path}", data, headers)
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return json.loads(answer.read())

        [crawl] = (await asyncio.to_thread(ask, "crawls"))["crawls"]
        name = crawl["name"] if "name" in crawl else crawl["crawl"]
        assert SECRET not in json.dumps(crawl)
        for told, verb in enumerate(("pause", "resume", "stop"), 1):
            body = {"verb": verb, "words": []}
            await asyncio.to_thread(ask, f"crawls/{name}/tell", body)
            done = "SELECT count(*) FROM message WHERE state = 'done'"
            await count_reaches(dsn, done, told)
        ended = await end_of(process)
        assert json.loads(ended.out)["ended"] == "told", ended.err
        pages = rows(dsn, "SELECT count(*) FROM page WHERE status < 300")[0][0]
        end = time.monotonic() + 60
        while crawl["pages"] != pages and time.monotonic() < end:
            await asyncio.sleep(0.2)
            [crawl] = (await asyncio.to_thread(ask, "crawls"))["crawls"]
        assert crawl["pages"] == pages, "the server's copy is not brought up to date"
    finally:
        server.send_signal(2)
        ended = await end_of(server)
    assert SECRET not in ended.out + ended.err


def test_messages_in_a_copy_are_sent_however_long_it_takes_to_copy(
    dsn, env, monkeypatch
):
    """A copy is brought up to date less often the longer that takes; what the crawl is
    told does not wait for that."""
    monkeypatch.setenv("XDG_CACHE_HOME", env["XDG_CACHE_HOME"])
    monkeypatch.setattr(mirror_module, "THRIFT", 1e9)
    monkeypatch.setattr(mirror_module, "MOST_BEHIND", 1e9)
    with open_postgres(dsn) as db:
        make_ready(db)
        db.execute("INSERT INTO setting VALUES ('plan', %s)", (PLAN,))
    with keep_current(dsn) as folder:
        for message, paused in ((PauseCrawl(), "1"), (ResumeCrawl(), "0")):
            send(folder, message)
            end = time.monotonic() + 60
            while rows(dsn, "SELECT value FROM meta") != [(paused,)]:
                assert time.monotonic() < end, f"{message} was not sent"
                time.sleep(0.05)


async def test_python_programs_read_and_steer_it(crawled, dsn, env, monkeypatch):
    import opilio as package

    monkeypatch.setenv("XDG_CACHE_HOME", env["XDG_CACHE_HOME"])
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    await end_of(await worker(life, dsn, 1))
    crawl = package.Crawl(dsn)
    assert crawl.status().pages == len(BEES) - 1
    assert any("honey" in each.text for each in crawl.pages())
    assert crawl.search("honey").total
    told_it = crawl.tell("block", "other.test")
    assert told_it.state == "done"
    assert [one.text for one in crawl.messages()] == ["block other.test"]
    with pytest.raises(package.errors.BadInput, match="only its workers change"):
        await asyncio.to_thread(crawl.run)
