"""`repair` may be killed at any step, and its cost grows with the crawl only."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crawling import Crawled, opilio
from opilio.errors import BadInput
from opilio.frontier.sqlite import SqliteFrontier
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import open_database
from opilio.store.damage_check import is_unjudged, quick_check
from opilio.store.folder import CrawlFolder
from opilio.store.repair import Repaired, fault_of, repair_crawl
from opilio.store.repair_pages import add_found
from opilio.text import urls

OLD = Path(__file__).parent.parent / "crawls-0.1"
# What changes files; SQLite opens its own, so its connections count, too.
STEPS = frozenset(
    ("os.rename", "os.link", "os.remove", "os.truncate", "sqlite3.connect", "open")
)
LINKS = "SELECT url, state, reason FROM link ORDER BY url"
PAGES = "SELECT url, warc, warc_offset FROM page JOIN link USING (id) ORDER BY url"


def rows(folder: CrawlFolder, query: str) -> list[tuple]:
    with closing(sqlite3.connect(folder.database)) as db:
        return db.execute(query).fetchall()


def damaged(home: Path) -> CrawlFolder:
    """A crawl with a torn WARC file, damaged rows and the last pages missing, and a
    part of it in the file beside the database."""
    shutil.copytree(OLD / "bees", home)
    folder = CrawlFolder(home)
    db = open_database(folder.database)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.begin()
    db.execute("UPDATE link SET state = 'krpt' WHERE id % 5 = 0")
    db.execute("DELETE FROM page WHERE number > (SELECT max(number) - 3 FROM page)")
    db.execute(
        "INSERT INTO link SELECT id + 1, 'http://only-in-the-wal.test/', ?, 1, 0, "
        "'waiting', NULL, 0.5, 0, 1, 0, 0, 1, NULL, NULL FROM link "
        "ORDER BY id DESC LIMIT 1",
        (urls.fingerprint("http://only-in-the-wal.test/"),),
    )
    db.commit()
    for end in ("", "-wal"):  # as a kill leaves them
        name = folder.database.name + end
        shutil.copyfile(home / name, home / f"left{end}")
    db.close()
    for end in ("", "-wal"):
        shutil.move(home / f"left{end}", home / (folder.database.name + end))
    [warc, *_] = sorted(folder.warcs.iterdir())
    os.truncate(warc, warc.stat().st_size - 100)
    return folder


def repair_until(folder: CrawlFolder, step: int) -> bool:
    """Repair in a process that is killed before the given change of a file; whether it
    was."""
    child = os.fork()
    if not child:
        left = step

        def count(event: str, args: tuple[object, ...]) -> None:
            nonlocal left
            reads = event == "open" and not str(args[1]).startswith(("w", "a", "r+"))
            if event in STEPS and not reads and str(folder.path) in str(args[0]):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        repair_crawl(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def test_a_repair_that_is_killed_at_any_step_loses_nothing(tmp_path: Path) -> None:
    whole = damaged(tmp_path / "whole")
    done = repair_crawl(whole)
    assert done.found_again and done.cut_files and done.lost_links
    links, pages = rows(whole, LINKS), rows(whole, PAGES)
    assert ("http://only-in-the-wal.test/", "waiting", None) in links
    step = 1
    while True:
        folder = damaged(tmp_path / f"killed-{step}")
        was_killed = repair_until(folder, step)
        if was_killed:
            assert folder.database.exists()
            with closing(open_database(folder.database)) as db:
                if folder.repaired.exists():
                    with pytest.raises(BadInput, match="interrupted"):
                        quick_check(db, folder.database)
                else:
                    assert is_unjudged(db) or fault_of(folder)
            repair_crawl(folder)
        assert (rows(folder, LINKS), rows(folder, PAGES)) == (links, pages), step
        assert not folder.repaired.exists()
        assert list(folder.path.glob("crawl.db.damaged-*"))
        with closing(open_database(folder.database)) as db:
            assert is_unjudged(db)
        if not was_killed:
            break
        step += 1
    assert step > 6


def test_repair_keeps_the_damaged_database(tmp_path: Path) -> None:
    """What cannot be read today may be read by better tools tomorrow."""
    shutil.copytree(OLD / "bees", tmp_path / "bees")
    folder = CrawlFolder(tmp_path / "bees")
    data = folder.database.read_bytes()
    folder.database.write_bytes(data[:4096] + b"\0" * 4096 + data[8192:])
    name = repair_crawl(folder).kept_copy
    assert (tmp_path / "bees" / name).read_bytes()[4096:8192] == bytes(4096)


def test_the_cost_of_a_repair_grows_with_the_pages_only(tmp_path: Path) -> None:
    """Each page costs the same number of SQLite's steps, however many there are."""
    costs = {}
    for copies in (5, 50):
        shutil.copytree(OLD / "bees", tmp_path / f"x{copies}")
        folder = CrawlFolder(tmp_path / f"x{copies}")
        [warc] = folder.warcs.iterdir()
        warc.write_bytes(renumbered(warc.read_bytes(), copies))
        folder.database.unlink()
        with closing(open_database(folder.database)) as db:
            steps = [0]

            def count(steps: list[int] = steps) -> int:
                steps[0] += 1
                return 0

            db.begin()
            db.set_progress_handler(count, 10)
            pages = add_found(folder, db)
            db.set_progress_handler(None, 0)
            assert pages == 8 * copies
            costs[copies] = steps[0] / pages
    assert costs[50] < 1.5 * costs[5]


def renumbered(data: bytes, copies: int) -> bytes:
    """The records of a WARC file, so many times, each time with other URLs."""
    whole = gzip.decompress(data)
    records = re.split(rb"(?=WARC/1\.[01]\r\n)", whole)[1:]
    made = []
    for copy in range(copies):
        for record in records:
            url = rb"(WARC-Target-URI: \S+?)(?=\r\n)"
            other = re.sub(url, rb"\g<1>?copy=%d" % copy, record, count=1)
            made.append(gzip.compress(other))
    return b"".join(made)


async def test_nothing_is_left_of_pages_that_are_lost(crawled) -> None:
    links = {f"http://seed.test/{n}": f"honey {n}" for n in range(8)}
    texts = {
        url: page(f"Honey {n}", f"The bees of hive {n} make honey. " * 9, {"/": "home"})
        for n, url in enumerate(links)
    }
    web = SmallWeb({"http://seed.test/": page("Bees", "honey hive", links)} | texts)
    life: Crawled = await crawled(web)
    assert (await life.crawl()).code == 0
    before = life.rows("SELECT * FROM site")
    assert life.rows("SELECT count(*) FROM extracted") == [(9,)]
    folder = CrawlFolder(life.folder)
    with closing(open_database(folder.database)) as db:
        db.execute("UPDATE page SET warc_offset = warc_offset + 7 WHERE number > 4")
    done = repair_crawl(folder)
    assert done == Repaired(fetched_again=5)
    for table in ("extracted", "page_profile", "page"):
        assert life.rows(f"SELECT count(*) FROM {table}") == [(4,)]
    [(pages, relevant)] = life.rows("SELECT pages, in_domain FROM site")
    assert (pages, relevant) == (4, 4)
    assert (await life.crawl()).code == 0
    assert life.rows("SELECT * FROM site") == before
    assert (await opilio("doctor", life.folder)).code == 0


async def test_an_interrupted_repair_is_completed_by_the_next(crawled) -> None:
    life: Crawled = await crawled(SmallWeb({"http://seed.test/": page("B", "honey")}))
    assert (await life.crawl()).code == 0
    folder = CrawlFolder(life.folder)
    with closing(open_database(folder.database)) as db:
        db.execute("DELETE FROM page")
        db.execute("UPDATE link SET state = 'krpt'")
    repair_crawl(folder)  # and killed before the pages are judged again
    refused = await life.crawl()
    assert refused.code == 2 and "opilio repair" in refused.err
    assert (await opilio("repair", life.folder)).code == 0
    assert life.states()["http://seed.test/"] == ("kept", None)
    assert (await life.crawl()).code == 0


async def test_what_was_learnt_is_not_copied_but_made_again(crawled) -> None:
    """A damaged chain of promises, or text of a page, spoils nothing."""
    links = {f"/{n}": f"honey {n}" for n in range(6)}
    web = {
        f"http://seed.test/{n}": page(f"H {n}", "honey " * (n + 5)) for n in range(6)
    }
    web["http://seed.test/"] = page("Bees", "honey hive", links)
    life: Crawled = await crawled(SmallWeb(web))
    assert (await life.crawl("--max-pages", 4)).code == 0
    with closing(open_database(life.folder / "crawl.db")) as db:
        db.execute("UPDATE link SET state = 'krpt' WHERE id = 2")
        db.execute("UPDATE extracted SET packed = x'00ff'")
        db.execute("UPDATE learnt SET state = x'c1'")
        db.execute("UPDATE page_profile SET concepts = '{'")
        db.execute("INSERT INTO new_promise VALUES (7, 0, 5, x'c1')")
    assert (await opilio("repair", life.folder)).code == 0
    assert life.rows("SELECT count(*) FROM new_promise") == [(0,)]
    assert (await opilio("doctor", life.folder)).code == 0
    ended = await life.crawl("--max-pages", 0)
    assert ended.code == 0, ended.err
    states = life.states()
    assert {states[url] for url in web} == {("kept", None)}
    told = await opilio("export", life.folder, "-o", life.folder / "x.jsonl")
    assert told.code == 0, told.err


async def test_a_link_that_is_too_long_is_no_damage(crawled) -> None:
    links = {f"http://long.test/{'x' * 5_000}": "honey", f"/{'y' * 2_500}": "honey"}
    web = {"http://seed.test/": page("Bees", "honey hive", links)}
    life: Crawled = await crawled(SmallWeb(web))
    for _ in range(2):  # it is checked when it is opened again
        ended = await life.crawl()
        assert ended.code == 0, ended.err
    assert life.rows("SELECT count(*) FROM link WHERE reason = 'trap_length'") == [(2,)]
    assert (await opilio("doctor", life.folder)).code == 0
    assert (await opilio("repair", life.folder)).out == "Nothing was damaged.\n"


def test_sites_of_crawls_of_older_versions_are_independent(tmp_path: Path) -> None:
    """Their folders have no standings: pages that were visited speak for themselves."""
    shutil.copytree(OLD / "bees", tmp_path / "bees")
    with closing(open_database(tmp_path / "bees" / "crawl.db")) as db:
        db.begin()
        names = dict(db.execute("SELECT domain, sum(taken) FROM host GROUP BY 1"))
        frontier = SqliteFrontier(db, PolitenessSettings(), BoundsSettings())
        domains = frontier._agenda.queue.domains
        visited = {name for name, taken in names.items() if taken}
        assert visited and len(visited) < len(names)
        for name in names:
            assert domains[name].branch == (name if name in visited else "")
