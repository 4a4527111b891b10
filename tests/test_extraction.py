"""Main texts are extracted once for each kept page, in the readers, and shared."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import opilio
from bee_web import bee_web
from crawling import serving
from opilio.lab.synthetic.server import Server
from opilio.lab.synthetic.small import SmallWeb
from opilio.read.main_content.extract import VERSION
from opilio.storage.packed import pack_extraction, unpack_extraction
from opilio.store.extractions import load_extraction
from opilio.text.word_sequence import unpack_words, word

TOPIC = opilio.Topic(
    name="bees", keywords=["honey bee", "hive"], seeds=["http://seed.test/"]
)


class NotTheSeed:
    """A judge that finds every page but the seed relevant."""

    def judge(self, page: opilio.Page) -> opilio.Verdict:
        kept = page.url != "http://seed.test/"
        return opilio.Verdict(0.75 if kept else 0.25, kept)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(bee_web()) as server:
        yield server


def crawl_of(server: Server, folder: Path, **given: object) -> opilio.Crawl:
    quick = {"delay": 0.0, "ip_delay": 0.0, "commit_every": 0.02, "min_free": 0}
    asked = quick | {"proxy": server.proxy_url, "max_pages": 6} | given
    return opilio.Crawl(folder, TOPIC, **asked)  # type: ignore[arg-type]


def stored(folder: Path) -> dict[str, str]:
    """URL -> main text of each page that has one."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        rows = db.execute("SELECT url, packed FROM extracted JOIN link USING (id)")
        return {url: unpack_extraction(packed).text for url, packed in rows}


def relevant(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        rows = db.execute("SELECT url FROM page JOIN link USING (id) WHERE relevant")
        return {url for (url,) in rows}


def test_every_kept_page_and_no_other_has_its_main_text(server: Server, tmp_path: Path):
    crawl = crawl_of(server, tmp_path / "crawl", judge=NotTheSeed())
    crawl.run()
    texts = stored(tmp_path / "crawl")
    assert texts and texts.keys() == relevant(tmp_path / "crawl")
    assert all(texts.values())
    for page in crawl.pages():  # those of the others are extracted now
        assert page.text == texts.get(page.url, page.text)
        assert page.text and page.markdown and page.content.version == VERSION


def test_what_is_stored_is_not_extracted_again(server: Server, tmp_path: Path):
    crawl = crawl_of(server, tmp_path / "crawl")
    crawl.run()
    db = tmp_path / "crawl" / "crawl.db"
    mark = opilio.records.Extraction(text="a honey bee that somebody stored")
    with closing(sqlite3.connect(db)) as writer, writer:
        writer.execute("UPDATE extracted SET packed = ?", (pack_extraction(mark),))
    assert {page.text for page in crawl.pages(relevant=True)} == {mark.text}
    [hit, *_] = crawl.search("honey bee").hits
    assert "somebody stored" in "".join(piece.text for piece in hit.snippet)


def words_of(folder: Path, stem: str) -> list[bool]:
    """Whether the index has a stem, for each page in it."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        rows = db.execute("SELECT words FROM indexed WHERE page").fetchall()
    found = [unpack_words(words) for (words,) in rows]
    return [word(stem) in {*one.title, *one.headings, *one.text} for one in found]


def test_the_search_index_is_made_of_main_texts(tmp_path: Path):
    folder = tmp_path / "crawl"
    prose = "<p>" + "The honey bee of the hive gathers nectar for the hive. " * 8
    markup = (
        "<title>Honey bees</title><nav><ul><li><a href=/zebra>Zebra menus</a>"
        "<li><a href=/b>Hives</a></ul></nav>"
        f"<main><h1>Honey bees</h1>{prose}<h2>Swarms</h2>{prose}{prose}</main>"
        "<footer class=site-footer><a href=/i>Zebra imprint</a></footer>"
    )
    with serving(SmallWeb({"http://seed.test/": markup})) as server:
        crawl = crawl_of(server, folder)
        crawl.run()
    assert words_of(folder, "nectar") == words_of(folder, "swarm") == [True]
    assert words_of(folder, "zebra") == [False]
    assert crawl.search("nectar").total == 1 and crawl.search("zebra").total == 0
    crawl.rejudge()
    assert words_of(folder, "nectar") == [True]
    assert words_of(folder, "zebra") == [False]
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        db.execute("DELETE FROM indexed")  # as if it was crawled without an index
    assert crawl.search("nectar").total == 1 and crawl.search("zebra").total == 0


def test_judging_again_extracts_again(server: Server, tmp_path: Path):
    folder = tmp_path / "crawl"
    crawl = crawl_of(server, folder, judge=NotTheSeed())
    crawl.run()
    before = stored(folder)
    with closing(sqlite3.connect(folder / "crawl.db")) as writer, writer:
        writer.execute("UPDATE extracted SET packed = x''")
    crawl.rejudge(judge="cosine")
    after = stored(folder)
    assert after.keys() == relevant(folder) != before.keys()
    assert all(after[url] == text for url, text in before.items() if url in after)


def test_a_page_without_a_stored_text_has_none(tmp_path: Path):
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE extracted (id INTEGER PRIMARY KEY, packed BLOB)")
        assert load_extraction(db, 1) is None
