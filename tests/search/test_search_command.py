"""`opilio search` on real crawls: while they run, after kill -9, without an index."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from crawling import SETTINGS, TOPIC, opilio, start_opilio
from in_process import run
from opilio.assembly.index import keep_index
from opilio.assembly.plan import load_plan
from opilio.assembly.search import open_index
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.search.concepts import Concepts
from opilio.search.index import FEW, catch_up
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.subject.stored_subject import load_subject
from search.searched_pages import Pages

BEES = "The bee makes honey in the hive. " * 20
LINKS = {f"/{n}": f"page {n}" for n in range(30)}
WEB = SmallWeb(
    {"http://seed.test/": page("Bees", BEES, LINKS)}
    | {
        f"http://seed.test/{n}": page(f"Honey {n}", f"{BEES} drone{n} [bold]x[/]")
        for n in range(30)
    }
)
SLOW = SETTINGS.replace("delay = 0.0", "delay = 0.7")


def entries(life) -> tuple[set[int], set[int]]:
    """The pages that were kept, and those that can be searched."""
    with (
        closing(
            sqlite3.connect(f"file:{life.folder}/crawl.db?mode=ro", uri=True)
        ) as db,
        db,
    ):
        kept = {id for (id,) in db.execute("SELECT id FROM page WHERE relevant")}
        indexed = {id for (id,) in db.execute("SELECT page FROM indexed WHERE page")}
    return kept, indexed


async def test_pages_are_found_while_the_crawl_runs_and_after_a_kill(crawled):
    life = await crawled(WEB, settings_text=SLOW)
    process = await life.start()
    try:
        await asyncio.wait_for(life.until_committed(2), 60)
        ended = await opilio("search", life.folder, "honey", "--json")
        assert ended.code == 0, ended.err
        assert ended.json()["total"] >= 2
        process.kill()  # -9
        await process.wait()
        kept, indexed = entries(life)
        assert kept == indexed and kept
        ended = await opilio("search", life.folder, "honey", "--json")
        assert ended.json()["total"] == len(kept)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    plan = life.folder / "crawl.toml"
    plan.write_text(plan.read_text().replace("delay = 0.7", "delay = 0.0"))
    again = await life.crawl()
    kept, indexed = entries(life)
    assert again.code == 0 and kept == indexed and len(kept) == 31


async def test_a_crawl_without_an_index_is_indexed_by_the_first_search(crawled):
    settings = f"{SETTINGS}[search]\nindex = false\n"
    life = await crawled(WEB, settings_text=settings)
    await life.crawl()
    assert entries(life)[1] == set()
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute("DROP TABLE indexed")  # as older versions left it
    first = await opilio("search", life.folder, "drone7", "--json")
    assert first.code == 0, first.err
    assert "Indexing 31 pages" in first.err
    [hit] = first.json()["hits"]
    assert hit["url"] == "http://seed.test/7"
    assert ["drone7", True] in hit["snippet"]
    second = await opilio("search", life.folder, "drone7", "-h")
    assert "--page" in second.out
    kept, indexed = entries(life)
    assert kept == indexed


async def test_an_answer_for_people_and_the_log_of_queries(crawled):
    life = await crawled(WEB, topic_text=f"{TOPIC}[query_log]\nsearches = true\n")
    await life.crawl()
    ended = await opilio("search", life.folder, "Drone3 honey site:seed.test")
    assert ended.code == 0, ended.err
    assert "http://seed.test/3" in ended.out
    assert "[bold]x[/]" in ended.out  # what pages say is not markup
    assert "1 to 10 of 31; more: --page 2" in ended.out
    hinted = await opilio("search", life.folder, "hony", "--no-log")
    assert "did you mean: honey" in hinted.out
    await opilio("search", life.folder, "hony bee")
    await opilio("search", life.folder, "hony")
    assert (life.folder / "queries.txt").read_text() == "drone3 honey\nbee\n"
    refused = await opilio("search", life.folder, "lang:english", "bee")
    assert refused.code == 2 and "two letters" in refused.err
    nowhere = await opilio("search", life.home / "none", "bee")
    assert nowhere.code == 2 and "holds no crawl" in nowhere.err


async def test_a_search_changes_nothing_unless_it_is_asked_to(crawled):
    life = await crawled(WEB)
    await life.crawl("--max-pages", 3)
    before = {path: path.read_bytes() for path in life.folder.glob("*.*")}
    told = run("search", life.folder, "honey")
    assert told.code == 0 and "http://seed.test/" in told.out
    # SQLite makes a -wal (empty) and a -shm even to read.
    shared = (".db-wal", ".db-shm")
    after = [path for path in life.folder.glob("*.*") if path.suffix not in shared]
    assert {path: path.read_bytes() for path in after} == before
    assert (await life.crawl("--max-pages", 4)).json()["asked_for"] == []
    run("search", life.folder, "queen", "--log")
    assert (life.folder / "queries.txt").read_text() == "queen\n"
    assert (await life.crawl("--max-pages", 5)).json()["asked_for"] == ["queen"]


async def test_a_query_may_begin_with_a_minus_and_options_still_work(crawled):
    life = await crawled(WEB)
    await life.crawl()
    for query in (["-drone3 honey"], ["-drone3", "honey"], ["honey", "-honeydew"]):
        ended = await opilio("search", life.folder, *query, "--json")
        assert ended.code == 0, ended.err
        assert ended.json()["total"] == (31 if query[0] == "honey" else 30)
    wordless = await opilio("search", life.folder, "-honey")
    assert wordless.code == 2 and "'-honey' contains no word" in wordless.err
    unknown = await opilio("search", life.folder, "honey", "--nonsense")
    assert unknown.code == 2 and "No such option" in unknown.err


@pytest.mark.parametrize("options", [(), ("--json",)])
async def test_a_reader_that_has_seen_enough_is_no_failure(crawled, options):
    life = await crawled(WEB)
    await life.crawl()
    unread, output = os.pipe()
    os.close(unread)
    try:
        process = await start_opilio(
            "search", life.folder, "honey", *options, stdout=output
        )
    finally:
        os.close(output)
    _, told = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, told) == (0, b"")


async def test_a_log_that_cannot_be_written_does_not_keep_the_answer(crawled):
    life = await crawled(WEB)
    await life.crawl()
    (life.folder / "queries.txt").mkdir()
    ended = await opilio("search", life.folder, "honey", "--json", "--log")
    assert ended.code == 0 and ended.json()["total"] == 31
    assert "cannot follow this query" in ended.err


async def test_a_damaged_index_is_told_of_and_made_again(crawled):
    life = await crawled(WEB)
    await life.crawl()
    folder = CrawlFolder(life.folder)
    with closing(open_database(folder.database, read_only=True)) as db:
        last = catch_up(db, folder.index, few=1)
        assert last >= 31  # a page whose main text came late has two entries
        damaged = folder.index / f"1-{last}" / "words-counts.npy"
        good = damaged.read_bytes()
        damaged.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        first = await opilio("search", life.folder, "honey", "--json")
        assert first.code == 0 and first.json()["total"] == 31
        assert "is damaged" in first.err
        assert damaged.read_bytes() == good
        damaged.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        grow = keep_index(folder, load_plan(folder), load_subject(folder.subject))
        grow()
        assert damaged.read_bytes() == good


@pytest.fixture
def closed_folder():
    """A folder with a crawl.db in which nobody may write, root for once included."""
    with TemporaryDirectory() as name:  # nobody but root may enter pytest's own
        folder, user = Path(name), os.geteuid()
        open_database(folder / "crawl.db").close()
        folder.chmod(0o555)
        if not user:
            os.seteuid(65534)
        yield folder
        os.seteuid(user)
        folder.chmod(0o755)


def test_a_crawl_in_a_folder_that_cannot_be_written_can_be_read(closed_folder):
    with pytest.raises(PermissionError):
        (closed_folder / "new").touch()
    with closing(open_database(closed_folder / "crawl.db", read_only=True)) as db:
        index = open_index(db, CrawlFolder(closed_folder), Concepts())
        assert index.pages == 0
    assert [path.name for path in closed_folder.iterdir()] == ["crawl.db"]


def test_an_index_that_cannot_be_written_is_done_without(tmp_path, logged):
    pages = Pages(tmp_path)
    for _ in range(FEW):
        pages.add("a comet")
    (tmp_path / "index").symlink_to("/proc/self")  # where not even root can write
    index = open_index(pages.db, CrawlFolder(tmp_path), Concepts())
    assert index.pages == FEW and "cannot be written" in logged[0]
    pages.db.close()


async def test_a_crawl_that_goes_on_follows_what_was_searched_for(crawled):
    life = await crawled(WEB)
    await life.crawl("--max-pages", "2")
    for _ in range(3):
        await opilio("search", life.folder, "drone7", "--log")
    await life.crawl("--max-pages", "3")
    learnt = life.rows("SELECT state FROM learnt WHERE name = 'weights'")
    assert learnt and b"drone7" in bytes(learnt[0][0])
