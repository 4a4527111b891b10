"""Index and catalogue never part: segments may be behind, gone, or another's."""

import random
import shutil
from pathlib import Path

import pytest

from opilio.search.concepts import Concepts
from opilio.search.index import FORMAT, Index, catch_up, read_list
from opilio.search.segment import FILES
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
            pages.add("a comet", f"Another {pages.count}")
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


def test_an_index_of_an_older_format_is_made_anew(pages: Pages):
    grow(pages)
    path = pages.folder / "index" / "segments.json"
    path.write_text(path.read_text().replace(f'"format":{FORMAT}', '"format":1'))
    assert pages.found('"comet number7"') == [8]
    assert grow(pages) == 20
    assert pages.found('"comet number7"') == [8]


def to_nothing(path: Path) -> None:
    path.unlink()


def to_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def to_noise(path: Path) -> None:
    path.write_bytes(random.Random(2).randbytes(path.stat().st_size))


def to_flipped(path: Path) -> None:
    *most, last = path.read_bytes()
    path.write_bytes(bytes([*most, last ^ 1]))


DAMAGES = (to_nothing, to_a_folder, to_half, to_noise, to_flipped)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [*FILES, "../segments.json", "../lock"])
def test_a_damaged_file_changes_no_answer_and_is_made_anew(pages: Pages, damage, name):
    grow(pages)
    before = pages.found("number7 comet")
    folder = pages.folder / "index" / read_list(pages.folder / "index").segments[0].name
    if name != "../lock" or damage is to_a_folder:
        damage(folder / name)
    assert pages.found("number7 comet") == before
    catch_up(pages.db, pages.folder / "index", few=4, many=16, thorough=True)
    index = Index(pages.db, pages.folder / "index")
    assert index.stored and not index.is_damaged
    assert pages.found("number7 comet") == before


def test_damage_of_a_length_is_seen_by_every_growing(pages: Pages):
    grow(pages)
    to_half(pages.folder / "index" / "1-16" / "words-pages.npy")
    assert grow(pages) == 20
    assert grow(pages) == 0


def test_a_file_in_place_of_the_folder_or_of_a_segment_is_replaced(pages: Pages):
    folder = pages.folder / "index"
    folder.write_text("not a folder")
    assert len(pages.found("comet")) == 10
    assert grow(pages) == 20
    shutil.rmtree(folder / "1-16")
    (folder / "1-16").write_text("not a folder")
    assert len(pages.found("comet")) == 10
    assert grow(pages) == 20
    assert len(Index(pages.db, folder).stored) == 2


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
                there.add(pages.add("comet", f"Page {pages.count}"))
            case 2 if there:
                pages.drop(dropped := rng.choice(sorted(there)))
                there.remove(dropped)
            case _:
                grow(pages)
    hits = pages.searcher().search("comet", size=200).hits
    assert {int(hit.url.rpartition("/")[2]) for hit in hits} == there
    pages.db.close()
