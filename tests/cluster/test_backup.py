"""A crawl is backed up by pg_dump and continues where pg_restore has put it."""

import json
import subprocess

from bench.postgres_server import BINARIES

from cluster.test_worker import BEES, SETTINGS, rows
from crawling import end_of, start_opilio
from opilio.lab.synthetic.small import SmallWeb


async def crawl(life, dsn, *more):
    process = await start_opilio(
        *("crawl", life.topic, "-o", life.home / "box", "-q"),
        *("--proxy", life.server.proxy_url, "--settings", life.settings),
        *("--store", dsn, *more),
    )
    ended = await end_of(process)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["ended"]


async def test_a_restored_crawl_continues(crawled, postgres, dsn, tmp_path):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    assert await crawl(life, dsn, "--max-pages", "3") == "budget"
    before = rows(dsn, "SELECT url, state FROM link ORDER BY url")
    copy, file = postgres.database(), tmp_path / "bees.dump"
    dump = [f"{BINARIES}/pg_dump", "-Fc", "-n", "opilio", "-f", file, dsn]
    subprocess.run(dump, check=True)
    subprocess.run([f"{BINARIES}/pg_restore", "-d", copy, file], check=True)
    assert rows(copy, "SELECT url, state FROM link ORDER BY url") == before
    assert await crawl(life, copy, "--max-pages", "0") == "exhausted"
    assert rows(copy, "SELECT count(*) FROM page") == [(len(BEES),)]
    asked = [one.url for one in life.server.requests if "robots" not in one.url]
    assert sorted(asked) == sorted(BEES)  # each page once
