"""The effect of labels is measured on labels that nothing learns from."""

import asyncio

import opilio
from bee_web import bee_web
from crawling import serving
from opilio.store.folder import CrawlFolder
from opilio.store.label_check import CheckedLabel, LabelCheck, label_check_in
from opilio.store.lookup import opened

SETTINGS = {"delay": 0.0, "min_free": 0, "commit_every": 0.1, "novelty": 0}


async def labelled(folder, *messages: tuple) -> LabelCheck:
    """The check after labels that were given to a crawl that waits for its end."""
    topic = opilio.Topic(
        name="bees", keywords=["honey bee", "hive"], seeds=["http://seed.test/"]
    )
    with serving(bee_web(pages=60)) as server:
        crawl = opilio.Crawl(
            folder, topic, proxy=server.proxy_url, max_pages=40, **SETTINGS
        )
        await crawl.arun()
        for words in messages:
            opilio.tell(folder, "label", *words, wait=0)
        on = opilio.Crawl(folder, proxy=server.proxy_url, max_pages=45, **SETTINGS)
        await asyncio.wait_for(on.arun(), 60)
    with opened(CrawlFolder(folder)) as db:
        return label_check_in(db)


async def test_a_label_that_is_held_out_shows_what_others_taught(tmp_path):
    no = [(f"http://seed.test/{n}", "no") for n in range(3, 9)]
    held_out = ("http://seed.test/1", "no", "check")
    check = await labelled(tmp_path / "bees", held_out, *no)
    (one,) = check.labels
    assert not one.relevant
    assert 0 < one.score < one.without  # like those that were said to be irrelevant
    assert not one.was_right
    with opened(CrawlFolder(tmp_path / "bees")) as db:
        rows = db.execute("SELECT relevant FROM label").fetchall()
        state = db.execute(
            "SELECT state FROM link WHERE url = 'http://seed.test/1'"
        ).fetchone()
    assert len(rows) == 7
    assert state[0] == "irrelevant"  # whatever the judge says


async def test_a_label_that_is_learnt_from_after_all_checks_nothing(tmp_path):
    url = "http://seed.test/1"
    check = await labelled(tmp_path / "bees", (url, "no", "check"), (url, "yes"))
    assert check.labels == []


def test_a_page_has_one_label_and_old_ones_are_left_out():
    check = LabelCheck()
    for page in [1, *range(100), 99]:
        check = check.with_label(CheckedLabel(page, True, 0.0, 0.0, False, False))
    pages = [one.page for one in check.labels]
    assert pages == list(range(40, 100))
