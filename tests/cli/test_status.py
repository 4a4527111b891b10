"""`opilio status` says what a crawl is doing, each figure once."""

import asyncio
import os
import re

from crawling import SETTINGS
from in_process import run
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticAnswer
from opilio.store.folder import CrawlFolder
from opilio.store.lifecycle import owner_of

BEES = "The bee makes honey in the hive. " * 20
PAGES = {
    "http://seed.test/": page(
        "Bees", BEES, {f"/{name}": "a bee" for name in ("a", "copy", "sea", "gone")}
    ),
    "http://seed.test/a": page("A bee", f"{BEES} drone"),
    "http://seed.test/copy": page("A bee", f"{BEES} drone"),
    "http://seed.test/sea": page("The sea", "The ship sails over the sea. " * 20),
}


async def test_topic_strategy_reasons_and_figures_are_shown_once(crawled):
    life = await crawled(SmallWeb(PAGES), settings_text=SETTINGS)
    await life.crawl("--strategy", "best-first", "--judge", "cosine")
    lines = run("status", life.folder).out.splitlines()
    assert lines[0] == "bees  strategy best-first, judge cosine"
    assert re.fullmatch(r"stopped .*: no links are left; add seeds .*", lines[1])
    text = [" ".join(line.split()) for line in lines]
    assert "2 relevant (harvest rate 50.0%, 50.0% of the last 100 pages)" in text
    assert "1 not relevant" in text and "1 copy of another page" in text
    assert "Links: 5 to 1 host" in text and "1 answered 404 (Not Found)" in text
    assert sum("relevant (" in line for line in text) == 1
    figures = run("status", life.folder, "--json").json()
    assert figures["pages"] == figures["kept"] + sum(figures["not_kept"].values()) == 4
    assert (figures["running"], figures["stopped"]) == (0, "exhausted")


async def test_a_crawl_is_running_killed_or_stopped(crawled):
    late = {"http://seed.test/a": SyntheticAnswer(200, delay=100.0)}
    life = await crawled(SmallWeb(PAGES | late), settings_text=SETTINGS)
    process = await life.start()
    try:
        await asyncio.wait_for(life.until_committed(1), 60)
        told = run("status", life.folder)
        assert f"(process {process.pid})" in told.out and "running since" in told.out
        assert run("status", life.folder, "--json").json()["running"] == process.pid
    finally:
        process.kill()
        await process.wait()
    told = run("status", life.folder).out
    assert "not running; started" in told and "killed or failed" in told


def test_only_a_process_that_holds_the_lock_counts(tmp_path):
    folder = CrawlFolder(tmp_path)
    assert owner_of(folder) == 0
    (tmp_path / "lock").write_text(str(os.getpid()))  # left behind, the id used again
    assert owner_of(folder) == 0
    folder.lock()
    assert owner_of(folder) == os.getpid()
    folder.unlock()
    assert owner_of(folder) == 0
    (tmp_path / "lock").write_text("nobody")
    assert owner_of(folder) == 0
