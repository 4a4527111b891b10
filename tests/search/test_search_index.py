"""Index and catalogue never part: segments may be behind, gone, or another's."""

import random
import shutil
from pathlib import Path

import pytest

from opilio.search.concepts import Concepts
from opilio.search.index import Index, catch_up, read_list
from search.searched_pages import HARDWARE, Pages


@pytest.fixture
def pages(tmp_path: Path):
    made = Pages(tmp_path)
    for number in range(20):
        made.add(f"comet number{number} cpu", f"Page {number}")
    yield made
    made.db.close()


def grow(pages: Pages) -> int:
    return catch_up(pages.db, pages.folder / "index", few=4, many=16)


def test_segments_answer_as_the_table_does(pages: Pages):
    before = pages.found("number7 comet")
    assert grow(pages) == 20
    assert pages.found("number7 comet") == before
    assert grow(pages) == 0  # nothing is new
    pages.add("comet number7 too")
    assert pages.found("number7")[:2] == [21, 8]


def test_small_segments_are_joined_once_they_are_many_entries(pages: Pages):
    sizes = []
    for _ in range(12):
        for _ in range(5):
            pages.add("a comet")
        grow(pages)
        parts = read_list(pages.folder / "index").segments
        sizes.append(len(parts))
        assert [one.last for one in parts[:-1]] == [one.first for one in parts[1:]]
    assert max(sizes) < 10
    folders = [path for path in (pages.folder / "index").iterdir() if path.is_dir()]
    assert len(folders) == sizes[-1]
    assert len(pages.searcher().search("comet", size=100).hits) == 80


def test_an_index_that_is_gone_or_damaged_is_made_anew(pages: Pages):
    grow(pages)
    shutil.rmtree(pages.folder / "index")
    assert len(pages.found("comet")) == 10
    assert grow(pages) == 20
    (pages.folder / "index" / "segments.json").write_text("{")
    assert len(pages.found("comet")) == 10
    assert grow(pages) == 20


def test_an_index_that_knows_more_than_the_catalogue_is_cut_back(pages: Pages):
    grow(pages)
    pages.db.execute("DELETE FROM indexed WHERE entry > 15")  # put back from a copy
    assert len(pages.searcher().search("comet", size=50).hits) == 15
    grow(pages)
    assert read_list(pages.folder / "index").last == 15


def test_what_a_page_said_before_is_not_found_any_more(pages: Pages):
    grow(pages)
    pages.drop(8)
    assert pages.found("number7") == []


def test_segments_made_in_another_mode_are_not_used(pages: Pages):
    grow(pages)
    paper = Concepts(HARDWARE, "paper")
    assert pages.found("cpu number7", paper) == [8]
    assert Index(pages.db, pages.folder / "index", paper.kept).stored == []


def test_a_search_that_is_open_takes_up_what_is_new(pages: Pages):
    searcher = pages.searcher()
    pages.add("a meteor")
    assert not searcher.search("meteor").hits
    searcher.refresh()
    assert searcher.search("meteor").hits
    grow(pages)
    searcher.refresh()
    assert searcher.search("meteor").hits


def test_any_order_of_adding_dropping_and_growing_finds_what_is_there(tmp_path: Path):
    rng = random.Random(1)
    pages, there = Pages(tmp_path), set()
    for _ in range(120):
        match rng.randrange(4):
            case 0 | 1:
                there.add(pages.add("comet"))
            case 2 if there:
                pages.drop(dropped := rng.choice(sorted(there)))
                there.remove(dropped)
            case _:
                grow(pages)
    hits = pages.searcher().search("comet", size=200).hits
    assert {int(hit.url.rpartition("/")[2]) for hit in hits} == there
    pages.db.close()
