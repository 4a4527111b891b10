"""A crawl in PostgreSQL becomes a folder that every command can use."""

import json
import shutil

from cluster.test_worker import BEES, SETTINGS, worker
from crawling import end_of, opilio
from opilio.lab.synthetic.small import SmallWeb


async def pulled(life, dsn, name="copy"):
    return await opilio("pull", dsn, life.home / name, "--json")


async def test_a_pulled_crawl_has_everything(crawled, dsn):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    for process in [await worker(life, dsn, 1), await worker(life, dsn, 2)]:
        await end_of(process)
    done = await pulled(life, dsn)
    assert done.code == 0, done.err
    figures = json.loads(done.out)
    assert figures["links"] == figures["pages"] == len(BEES)
    assert figures["warc_files"] >= 1
    copy = life.home / "copy"
    status = await opilio("status", copy, "--json")
    assert json.loads(status.out)["pages"] == len(BEES) - 1  # one is a redirect
    found = await opilio("search", copy, "honey", "--json")
    assert "http://other.test/" in found.out
    explained = await opilio("explain", copy, "http://other.test/far")
    assert explained.code == 0 and "seed.test" in explained.out
    exported = await opilio("export", copy, "-o", life.home / "all.jsonl")
    assert exported.code == 0, exported.err
    assert "honey and hive" in (life.home / "all.jsonl").read_text()
    checked = await opilio("doctor", copy)
    assert "damage" not in checked.out or checked.code == 0
    resumed = await opilio("crawl", copy, "-q", "--proxy", life.server.proxy_url)
    assert json.loads(resumed.out)["ended"] == "exhausted"


async def test_a_missing_warc_file_is_named_and_nothing_is_left_behind(crawled, dsn):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    await end_of(await worker(life, dsn, 1))
    shutil.rmtree(life.home / "box-1" / "warc")
    done = await pulled(life, dsn)
    assert done.code != 0
    assert "is not on this machine" in done.err and ".warc" in done.err
    assert not (life.home / "copy" / "crawl.db").exists()


async def test_an_empty_database_and_a_full_folder_are_refused(crawled, dsn):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    empty = await pulled(life, dsn)
    assert empty.code != 0 and "holds no crawl" in empty.err
    await end_of(await worker(life, dsn, 1))
    assert (await pulled(life, dsn)).code == 0
    again = await pulled(life, dsn)
    assert again.code != 0 and "choose another folder" in again.err
