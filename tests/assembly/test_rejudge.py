"""A crawl is judged again by another topic, judge or strategy, without a network."""

import sqlite3
from contextlib import closing

import pytest

from crawling import SETTINGS, TOPIC
from in_process import run, run_beside
from opilio.assembly.rejudge import rejudge
from opilio.errors import BadInput
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.store.folder import CrawlFolder
from opilio.topic import load_topic

BEES = "The bee makes honey in the hive. " * 20
SEA = "The ship sails over the sea. " * 20
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees", BEES, {"/old": "a hive", "/honey": "honey", "/sea": "waves"}
        ),
        "http://seed.test/honey": page("Honey", f"honey {BEES}", {"/later": "a bee"}),
        "http://seed.test/sea": page("The sea", SEA, {"/ships": "ships at sea"}),
        "http://seed.test/old": redirect("/new"),
    }
)
ONE = f"{SETTINGS}[crawl]\nin_flight = 1\nmax_pages = 2\n"
SHIPS = TOPIC.replace('["bee", "honey", "hive"]', '["ship", "sea"]')
SMOOTH = Dials(
    pages=300,
    hosts=6,
    topics=3,
    dead_links=0.0,
    decoys=0.0,
    robots_failing=0,
    failing_hosts=0.0,
)
LINKS = "SELECT id, url, state, reason, promise, level, found_on, parts FROM link"
PAGES = "SELECT id, number, score, relevant, parts FROM page ORDER BY number"


@pytest.mark.parametrize(
    ("judge", "strategy"),
    [("cosine", "best-first"), ("cosine", "weight-table"), ("opilio", "opilio")],
)
async def test_the_same_topic_changes_nothing(crawled, judge, strategy):
    """Judging again is crawling again: with nothing changed, every score, promise
    and level is what it was, also with a judge and a strategy that learn. (Only when
    visits failed is not known, and a strategy may learn from that.)"""
    web = SyntheticWeb(SMOOTH)
    life = await crawled(
        web, topic_text=web.topic_file("beekeeping"), settings_text=ONE
    )
    ended = await life.crawl(
        "--judge", judge, "--strategy", strategy, "--max-pages", 40
    )
    assert ended.code == 0, ended.err
    queries = (LINKS, PAGES, "SELECT * FROM edge ORDER BY page, link")
    queries += ("SELECT id, in_domain, concepts FROM page_profile ORDER BY id",)
    queries += ("SELECT * FROM site ORDER BY host",)
    before = [life.rows(query) for query in queries]
    await life.stop_server()
    found = await rejudge(CrawlFolder(life.folder))
    for query, rows in zip(queries, before, strict=True):
        for row, old in zip(life.rows(query), rows, strict=True):
            assert row == old
    assert found.pages > 30 and not found.gained and not found.lost
    assert (found.kept, found.waiting) == (found.kept_before, found.waiting_before)


async def test_pages_marked_noindex_count_neither_before_nor_after(crawled):
    hidden = page("Bees", "bees make honey").replace(
        "<title>", '<meta name="robots" content="noindex"><title>'
    )
    front = page("Bees", "honey bees", {"/hidden": "bees", "/shown": "hive"})
    shown = page("Hive", "a hive of honey bees")
    start = "http://seed.test"
    pages = {f"{start}/": front, f"{start}/hidden": hidden, f"{start}/shown": shown}
    life = await crawled(SmallWeb(pages))
    ended = await life.crawl("--judge", "cosine", "--max-pages", 3)
    assert ended.code == 0, ended.err
    assert life.rows("SELECT sum(relevant), sum(noindex) FROM page") == [(3, 1)]
    found = await rejudge(CrawlFolder(life.folder))
    assert (found.pages, found.kept_before, found.kept) == (3, 2, 2)


async def test_visits_that_failed_are_told_where_they_may_have_been(crawled):
    """A strategy that hears of all failures at the end would expect nothing more."""
    web = SyntheticWeb(Dials(pages=600, hosts=8, topics=3, dead_links=0.2))
    life = await crawled(
        web, topic_text=web.topic_file("beekeeping"), settings_text=ONE
    )
    await life.crawl("--max-pages", 80)
    [(failed,)] = life.rows("SELECT count(*) FROM link WHERE reason = 'http_404'")
    assert failed > 10
    waiting = "SELECT sum(promise) FROM link WHERE state = 'waiting'"
    [(before,)] = life.rows(waiting)
    await rejudge(CrawlFolder(life.folder))
    [(after,)] = life.rows(waiting)
    assert after == pytest.approx(before, rel=0.1)


async def test_another_topic_turns_the_verdicts_and_promises_round(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--judge", "cosine", "--strategy", "best-first")
    await life.stop_server()
    states = life.states()
    assert states["http://seed.test/sea"][0] == "waiting"
    assert states["http://seed.test/later"][0] == "waiting"
    life.topic.write_text(SHIPS)
    refused = await run_beside(*life.command())
    assert refused.code == 2 and "opilio rejudge" in refused.err
    told = await run_beside("rejudge", life.folder, life.topic)
    assert told.code == 0, told.err
    assert "relevant pages  2 → 0  (0 gained, 2 lost)" in told.out
    assert "No longer relevant" in told.out and "http://seed.test/honey" in told.out
    assert life.states()["http://seed.test/"][0] == "irrelevant"
    assert {reason for _, reason in life.states().values()} <= {None, "redirect"}
    [(promise,)] = life.rows("SELECT max(promise) FROM link WHERE state = 'waiting'")
    assert promise == 0  # by best-first: the score of the page it stands on
    [(detail,)] = life.rows("SELECT detail FROM event WHERE kind = 'rejudged'")
    assert detail == '{"pages": 2, "kept": 0}'
    assert not run("search", life.folder, "honey", "--json").json()["hits"]
    assert "ship" in (life.folder / "crawl.toml").read_text()


async def test_the_crawl_continues_by_the_new_topic(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--judge", "cosine", "--strategy", "best-first")
    life.topic.write_text(SHIPS)
    await rejudge_by(life)
    ended = await life.crawl("--max-pages", 9)
    assert ended.code == 0, ended.err
    assert life.states()["http://seed.test/sea"] == ("kept", None)
    assert run("search", life.folder, "ship", "--json").json()["hits"]


async def rejudge_by(life, **options):
    return await rejudge(CrawlFolder(life.folder), load_topic(life.topic), options)


async def test_another_judge_and_strategy_are_written_down(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--judge", "cosine", "--strategy", "best-first")
    refused = await life.crawl("--judge", "blocks")
    assert f"opilio rejudge {life.folder} --judge blocks" in refused.err
    found = await rejudge_by(
        life, crawl={"judge": "blocks", "strategy": "breadth-first"}
    )
    assert (found.pages, found.kept) == (2, 2)
    plan = (life.folder / "crawl.toml").read_text()
    assert 'judge = "blocks"' in plan and 'strategy = "breadth-first"' in plan
    ended = await life.crawl("--max-pages", 9)
    assert ended.code == 0, ended.err


async def test_links_that_leave_the_scope_no_longer_wait(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--judge", "cosine", "--strategy", "best-first")
    life.topic.write_text(f'{TOPIC}[scope]\nexclude_paths = ["/sea*"]\n')
    await rejudge_by(life)
    assert life.states()["http://seed.test/sea"] == ("unusable", "scope")
    life.topic.write_text(TOPIC)
    found = await rejudge_by(life)
    assert life.states()["http://seed.test/sea"] == ("waiting", None)
    assert found.waiting == found.waiting_before + 1


async def test_a_page_whose_record_is_lost_keeps_its_verdict_and_links(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--judge", "cosine", "--strategy", "best-first")
    before = life.states()
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute(
            "UPDATE page SET warc_length = 10 WHERE id = "
            "(SELECT id FROM link WHERE url = 'http://seed.test/honey')"
        )
    db.close()
    told = await run_beside("rejudge", life.folder)
    assert told.code == 1
    assert "not readable    1" in told.out
    assert life.states() == before


async def test_a_failure_half_way_changes_nothing(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--judge", "cosine", "--strategy", "best-first")
    before = life.rows(LINKS), life.rows(PAGES), life.rows("SELECT * FROM learnt")
    plan = (life.folder / "crawl.toml").read_text()
    life.topic.write_text(SHIPS)

    def die(done, pages):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await rejudge(CrawlFolder(life.folder), load_topic(life.topic), {}, die)
    after = life.rows(LINKS), life.rows(PAGES), life.rows("SELECT * FROM learnt")
    assert after == before
    assert (life.folder / "crawl.toml").read_text() == plan


async def test_a_crawl_that_runs_is_left_alone(crawled, tmp_path):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl()
    home = CrawlFolder(life.folder)
    home.lock()
    with pytest.raises(BadInput, match="another process"):
        await rejudge(CrawlFolder(life.folder))
    home.unlock()
