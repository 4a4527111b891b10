"""Pages and their links come with vectors, if these are asked for."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from opilio.read import kernels as read_kernels
from opilio.read import (
    page_and_link_vectors,
    plain_link_words,
    plain_vectors,
    word_vector_cache,
)
from opilio.read.html import PageReader
from opilio.records import Link, Page, ReaderSetup, Response
from opilio.subject.page_reader import make_reader
from opilio.vectors.words import Vectors
from read.kernel_choice import KERNELS, chosen
from read.pages import SAMPLES
from vectors.tables import PIECES, load_table, make_table

HTML = """<title>Water</title><h2>Bees</h2><p>Honey, the river, <a href=/one>the fishs
of the lake</a> and sailing. <a href=/two><img alt="a ship"></a><a href=/three>xyzzy</a>
"""
DIMENSIONS = len(PIECES)

if read_kernels.COMPILED:
    from opilio.read import _kernels as compiled


@pytest.fixture(params=KERNELS, autouse=True)
def kernels(request: pytest.FixtureRequest):
    with chosen(request.param):
        yield


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    return load_table(make_table(tmp_path / "table.npz"))


def read(html: str, vectors: Vectors | None, **asked: bool) -> Page:
    reader = PageReader(ReaderSetup(("water",), "en", **asked), vectors=vectors)
    return reader.read(response(html))


def response(html: str) -> Response:
    return Response("http://a.test/", 200, (), html.encode(), 0.0)


def expected(*parts: tuple[float, str]) -> list[float]:
    total = np.zeros(DIMENSIONS)
    for weight, pieces in parts:
        part = np.zeros(DIMENSIONS)
        for piece in pieces.split():
            part[PIECES.index(piece)] += 1
        total += weight * part / np.linalg.norm(part)
    return list(total / np.linalg.norm(total))


def vector(link: Link) -> list[float]:
    return list(np.frombuffer(link.vector, np.int8) / 127)


def test_a_link_is_its_anchor_its_surroundings_and_its_heading(vectors):
    first, second, third = read(HTML, vectors).links
    around = "bee ##s honey river sail ##ing"
    wanted = expected((1, "fish ##s lake"), (0.5, around), (0.3, "bee ##s"))
    assert vector(first) == pytest.approx(wanted, abs=1 / 127)
    assert np.argmax(vector(second)) == PIECES.index("ship")
    assert vector(third)[PIECES.index("ship")] == 0


def test_a_page_has_vectors_of_title_opening_and_text(vectors):
    html = f"<title>Water</title><p>{'ship ' * 60}{'lake ' * 340}{'bee ' * 99}"
    found = np.frombuffer(read(html, vectors).vectors, np.int8).reshape(3, -1) / 127
    wanted = [
        expected((1, "water")),
        expected((1, "ship")),
        expected((1, "ship " * 60 + "lake " * 340)),
    ]
    assert found == pytest.approx(np.array(wanted), abs=1 / 127)


def test_nothing_is_made_unless_it_is_asked_for(vectors):
    without = read(HTML, None, context=True)
    assert (without.vectors, without.links[0].vector) == (b"", b"")
    assert read(HTML, vectors).blocks == []


def test_vectors_change_nothing_else(vectors):
    for html in SAMPLES:
        asked = {"context": True, "blocks": True, "words": True}
        page = read(html, vectors, **asked)
        links = [msgspec.structs.replace(link, vector=b"") for link in page.links]
        bare = msgspec.structs.replace(page, links=links, vectors=b"")
        assert bare == read(html, None, **asked)


def test_what_was_read_before_does_not_matter(vectors, monkeypatch):
    monkeypatch.setattr(word_vector_cache, "MOST_OF_A_PAGE", 8)
    monkeypatch.setattr(word_vector_cache, "MEMORY", 0)
    page = read(HTML, vectors)
    used = PageReader(ReaderSetup(("water",), "en"), vectors=vectors)
    assert used.known is not None and len(used.known.matrix) == 17
    others = ["lake fish ship", "honey bee hive sailing", "the " * 9 + "abc def"]
    for number in range(30):
        others.append(f"lake w{number} v{number} ship")
        used.read(response(f"<a href=/x>{others[number % len(others)]}</a>"))
        used.read(response(f"<a href=/x>{others[-1]}</a>"))
        assert used.known.known <= 16
        assert used.read(response(HTML)) == page


def test_words_that_were_met_again_are_remembered(vectors, monkeypatch):
    monkeypatch.setattr(word_vector_cache, "MOST_OF_A_PAGE", 8)
    monkeypatch.setattr(word_vector_cache, "MEMORY", 0)
    reader = PageReader(ReaderSetup((), "en"), vectors=vectors)
    learnt: list[str] = []
    sums = vectors.sums

    def noted(texts):
        learnt.extend(word for text in texts for word in text)
        return sums(texts)

    monkeypatch.setattr(vectors, "sums", noted)
    for number in range(20):
        reader.read(response(f"<p>lake ship w{number}"))
    assert learnt.count("lake") == learnt.count("ship") == 1
    assert learnt.count("w7") == 1


def test_a_page_of_many_words_costs_what_its_first_ones_cost(vectors, monkeypatch):
    monkeypatch.setattr(word_vector_cache, "MOST_OF_A_PAGE", 5)
    html = f"<p>{' '.join(f'w{n}' for n in range(4))} lake ship bee"
    found = np.frombuffer(read(html, vectors).vectors, np.int8).reshape(3, -1) / 127
    assert list(found[2]) == pytest.approx(expected((1, "lake")), abs=1 / 127)


def test_words_in_another_language_have_the_vectors_of_their_meanings(tmp_path):
    setup = ReaderSetup(
        ("water",),
        "en",
        dictionaries={"hi": {"झील": ("lake",), "जहाज": ("sailing ship", "hive")}},
        vectors=str(make_table(tmp_path / "table.npz")),
    )
    page = make_reader(setup).read(response("<a href=/x>झील</a><p><a href=/y>जहाज"))
    first, second = page.links
    lake, ship = expected((1, "lake")), expected((1, "sail ##ing ship"))
    size = PIECES.index("lake")
    assert vector(first)[size] > 0.8 and np.dot(vector(first), lake) > 0.8
    assert np.dot(vector(second), ship) > 0.8
    assert vector(second)[PIECES.index("hive")] == 0  # only its first meaning counts


def test_kernels_refuse_what_would_lead_outside():
    numbers = np.zeros((1, 1), np.int64)
    matrix, rows = np.zeros((2, 4), np.float32), np.zeros(3, np.int32)
    weights = np.ones(1, np.float32)
    if read_kernels.blend is plain_vectors.blend:
        return  # numpy looks after itself

    def blend(rows, ends):
        read_kernels.blend(matrix, rows, numbers, ends, numbers[0], weights)

    with pytest.raises(IndexError):
        blend(rows, numbers + 4)
    with pytest.raises(IndexError):
        blend(rows + 2, numbers)
    with pytest.raises(ValueError):
        blend(rows, np.zeros((2, 1), np.int64))
    table, keys = np.ones((4, 2), np.uint64), np.arange(3, 6, dtype=np.uint64)
    with pytest.raises(IndexError):
        read_kernels.find_rows(table, keys, numbers, numbers + 4)
    with pytest.raises(ValueError):
        read_kernels.find_rows(table[:3], keys, numbers, numbers)
    with pytest.raises(ValueError):
        read_kernels.put_rows(table, keys, rows[:2])
    with pytest.raises(IndexError):
        read_kernels.put_rows(table, np.arange(3, 8, dtype="u8"), np.zeros(5, "i4"))
    with pytest.raises(ValueError):
        read_kernels.link_stretches(keys.view(np.int64), [(0, 0, 0, 0)], [1, 2, 3], [])
    one_link = [(0, 0, 0, 0)], [1, 2, 3, 4, 5], [(0, 0)]
    with pytest.raises(ValueError):
        read_kernels.link_words(keys.view(np.int64), keys[:2], *one_link)
    with pytest.raises(ValueError):
        read_kernels.link_words(keys.view(np.int64), keys, *one_link[:2], [])


@pytest.mark.skipif(not read_kernels.COMPILED, reason="nothing was compiled")
def test_both_kernels_answer_the_same():
    rng = np.random.default_rng(3)

    def places(columns: int, end: int) -> list[tuple[int, ...]]:
        drawn = np.sort(rng.integers(0, end, (30, columns)))
        return [tuple(each) for each in drawn.tolist()]

    starts = np.sort(rng.choice(1500, 200, replace=False)).astype(np.int64)
    ends = [1000, 1010, 1020, *np.sort(rng.integers(1020, 1600, 60)).tolist()]
    of_links = starts, places(4, 1200), ends, places(2, 1100)
    ours = compiled.link_stretches(*of_links)
    plain = plain_vectors.link_stretches(*of_links)
    filled = plain[1] > plain[0]
    for each, other in zip(ours, plain, strict=True):
        assert (each[filled] == other[filled]).all()
    assert (ours[0][~filled] == ours[1][~filled]).all()
    stems = rng.integers(0, 2**63, 200).astype(np.uint64)
    told = compiled.link_words(starts, stems, *of_links[1:])
    assert told == plain_link_words.link_words(starts, stems, *of_links[1:])
    assert any(len(words) > 100 for words in told)
    keys = rng.integers(2, 40, 200).astype(np.uint64) << np.uint64(58)
    keys[5] = 0
    known = np.unique(keys[keys > 0])[::2].copy()
    numbers = np.arange(len(known), dtype=np.int32)
    tables = [np.ones((64, 2), np.uint64) for _ in range(2)]
    compiled.put_rows(tables[0], known, numbers)
    plain_vectors.put_rows(tables[1], known, numbers)
    assert (tables[0] == tables[1]).all()
    rows = compiled.find_rows(tables[0], keys, *ours)
    assert (rows == plain_vectors.find_rows(tables[0], keys, *ours)).all()
    assert {-1, 0} < set(rows.tolist())
    matrix = rng.normal(size=(len(known), 13)).astype(np.float32)
    matrix[0] = 0
    given = matrix, np.maximum(rows, 0), *ours
    blended = [
        np.frombuffer(
            blend(*given, page_and_link_vectors.GROUPS, page_and_link_vectors.WEIGHTS),
            "i1",
        )
        for blend in (compiled.blend, plain_vectors.blend)
    ]
    assert np.abs(blended[0].astype(int) - blended[1]).max() <= 1
    assert np.abs(blended[0]).max() > 40
