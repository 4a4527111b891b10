"""Pages that were kept are read again as the crawl read them, without damaged ones."""

import csv
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from crawling import Crawled, listening, opilio
from opilio.assembly.index import keep_index
from opilio.assembly.plan import Plan
from opilio.assembly.reader_process import ReaderProcess
from opilio.assembly.search import SILENT, open_search
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.read.pool import start_process
from opilio.records import ReaderSetup, Response, Subject
from opilio.search.index import catch_up
from opilio.search.searcher import Answer
from opilio.storage.warc_reading import responses
from opilio.store.folder import CrawlFolder
from opilio.store.index_entries import save_entry
from opilio.topic import Topic
from search.searched_pages import Pages

TOPIC = """
name = "bees"
keywords = ["bee", "honey", "honey bee"]
seeds = ["http://seed.test/"]
"""
BEES = "The honey bee flies, and a bee makes wax. " * 20
LINKS = {f"/{n}": f"honey {n}" for n in range(8)}
WEB = SmallWeb(
    {"http://seed.test/": page("Bees", BEES, LINKS)}
    | {
        # Words that do not compress, so that the middle of the records is the page.
        f"http://seed.test/{n}": page(
            f"Honey {n}",
            BEES + " ".join(f"{i * (n + 7919) ** 5:x}" for i in range(300)),
        )
        for n in range(8)
    }
)
FILE = "000001.warc.gz"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lives(tmp_path_factory) -> AsyncIterator[dict[str, Path]]:
    """A crawl that has ended, and the same after a search that it follows."""
    async with serve(WEB) as server:
        life = Crawled(tmp_path_factory.mktemp("again"), server, topic_text=TOPIC)
        ended = await life.crawl("--strategy", "mcore", "--option", "look_ahead=0")
        assert ended.code == 0, ended.err
        first = shutil.copytree(life.folder, life.home / "first")
        await opilio("search", life.folder, "wax", "--log")
        assert (await life.crawl()).code == 0
    yield {"first": Path(first), "searched": life.folder}


@pytest.fixture
def done(lives, tmp_path: Path) -> Path:
    """The folder of the crawl, to be changed."""
    return Path(shutil.copytree(lives["first"], tmp_path / "crawl"))


def flip(folder: Path, url: str) -> None:
    """Damage 40 bytes of what was kept of a page; or mend them, the second time."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        [(offset, length)] = db.execute(
            "SELECT warc_offset, warc_length FROM page JOIN link USING (id) "
            "WHERE url = ?",
            (url,),
        ).fetchall()
    path = folder / "warc" / FILE
    data = bytearray(path.read_bytes())
    start = offset + length // 2
    data[start : start + 40] = bytes(byte ^ 255 for byte in data[start : start + 40])
    path.write_bytes(data)


def forget_texts(folder: Path) -> None:
    """Remove the stored texts of pages, as in a crawl of an earlier version: so they
    have to be read from the WARC files."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        assert db.execute("DELETE FROM extracted").rowcount


def forget_index(folder: Path) -> list[tuple]:
    """Let a crawl be as if it had been made without an index; the entries it had."""
    shutil.rmtree(folder / "index", ignore_errors=True)
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        found = entries(folder)
        db.execute("DELETE FROM indexed")
    return found


def entries(folder: Path) -> list[tuple]:
    """What pages can be found by."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        return db.execute(
            "SELECT page, words, features FROM indexed WHERE page ORDER BY page"
        ).fetchall()


def found(folder: Path, query: str) -> tuple[Answer, list[str]]:
    """What a search answers, and what it tells."""
    with listening() as told, open_search(CrawlFolder(folder)) as searcher:
        answer = searcher.search(query, size=20)
    return answer, told


async def test_a_page_is_explained_by_what_the_crawl_seeks_now(lives):
    url = "http://seed.test/3"
    for name, terms in ("first", {"bee", "honey bee", "honey"}), ("searched", {"wax"}):
        told = (await opilio("explain", lives[name], url, "--json")).json()
        counted = {term["term"]: term["count"] for term in told["terms"]}
        assert terms <= set(counted)
        # mcore takes the longest term alone, and the page was judged by that.
        assert (counted["honey bee"], counted["bee"], counted["honey"]) == (20, 20, 1)


def test_late_entries_equal_those_of_the_crawl(done: Path):
    kept = forget_index(done)
    assert len(kept) == 9
    answer, told = found(done, "wax")
    assert answer.total == 9
    assert told == ["Indexing 9 pages that were crawled without an index"]
    assert entries(done) == kept


def test_a_damaged_record_costs_one_snippet(done: Path):
    forget_texts(done)
    flip(done, "http://seed.test/3")
    answer, told = found(done, "wax")
    snippets = {hit.url: bool(hit.snippet) for hit in answer.hits}
    assert len(snippets) == 9
    assert [url for url, has_one in snippets.items() if not has_one] == [
        "http://seed.test/3"
    ]
    [line] = told
    assert line.startswith(f"1 record of {FILE} could not be read: ")
    assert "restore it from a backup" in line


def test_pages_beside_a_damaged_one_are_indexed_and_itself_once_it_is_mended(
    done: Path,
):
    kept = forget_index(done)
    forget_texts(done)
    flip(done, "http://seed.test/3")
    for indexed in "9 pages", "1 page ":
        answer, told = found(done, "wax")
        assert answer.total == 8
        assert told[0].startswith(f"Indexing {indexed}")
        assert told[1].startswith(f"1 record of {FILE} could not be read: ")
    flip(done, "http://seed.test/3")
    answer, told = found(done, "wax")
    assert answer.total == 9 and len(told) == 1
    assert [page for page, *_ in entries(done)] == [page for page, *_ in kept]


async def test_a_search_with_a_damaged_record_succeeds(done: Path):
    forget_texts(done)
    flip(done, "http://seed.test/3")
    ended = await opilio("search", done, "wax", "--json")
    assert ended.code == 0
    assert len(ended.json()["hits"]) == 9
    assert len(ended.err.splitlines()) == 1 and FILE in ended.err


@pytest.mark.parametrize("form", ["jsonl", "parquet", "warc", "csv"])
async def test_an_export_lacks_what_is_damaged_and_says_so(
    done: Path, tmp_path: Path, form: str
):
    forget_texts(done)
    flip(done, "http://seed.test/3")
    out = tmp_path / "out"
    ended = await opilio("export", done, "--format", form, "-o", out)
    assert ended.code == 1
    assert f"1 record of {FILE} could not be read" in ended.err
    assert "restore it from a backup" in ended.err
    if form == "warc":
        with out.open("rb") as file:
            urls = [response.url for response in responses(file)]
        assert len(urls) == 8 and "http://seed.test/3" not in urls
    elif form == "csv":  # which has no texts, but the facts that pages state
        with out.open(newline="") as file:
            assert len(list(csv.DictReader(file))) == 9
    else:
        texts = exported(out, form)
        assert len(texts) == 9
        assert [url for url, text in texts.items() if not text] == [
            "http://seed.test/3"
        ]


def exported(out: Path, form: str) -> dict[str, str | None]:
    """URL -> text, as it was exported."""
    if form == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
    return {row["url"]: row["text"] for row in rows}


async def test_site_models_are_made_again_without_what_is_damaged(done: Path):
    flip(done, "http://seed.test/3")
    ended = await opilio("sites", done, "--rebuild")
    assert ended.code == 0
    assert "8 pages read again; 1 not in the WARC files" in ended.err
    assert f"1 record of {FILE} could not be read" in ended.err


def test_the_crawl_goes_on_when_its_index_cannot_open_the_database(tmp_path: Path):
    folder = CrawlFolder(tmp_path)
    folder.database.mkdir()  # so that SQLite cannot open it
    subject = Subject()
    keep_index(folder, Plan(topic=Topic(name="t")), subject)()


def test_a_page_that_kills_its_reader_leaves_the_others_readable(monkeypatch):
    # A process that starts from nothing finds the jobs of the tests.
    monkeypatch.setattr("opilio.read.pool.start_process", start_process)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "read"))
    kept = [
        (number, Response("http://a.test/", 200, (), body, 0.0))
        for number, body in enumerate([b"first", b"abort", b"last"])
    ]
    setup = ReaderSetup((), "en")
    with closing(ReaderProcess(setup, "reader_jobs:make_echo")) as reader:
        read = [
            (number, response is not None, page and page.title)
            for number, response, page in reader.pages([*kept, (3, None)])
        ]
    assert read == [
        (0, True, "first"),
        (1, True, None),
        (2, True, "last"),
        (3, False, None),
    ]


def test_a_page_that_nobody_can_read_is_not_found(tmp_path: Path):
    pages = Pages(tmp_path)
    for title in "Wax", "Hive":
        pages.add("The bee makes wax.", title)
    pages.drop(2)
    save_entry(pages.db, 2, SILENT)
    assert pages.found("wax") == [1]
    assert catch_up(pages.db, tmp_path / "index", few=1) == 3
    assert pages.found("wax") == [1]
    pages.db.close()
