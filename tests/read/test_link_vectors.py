"""Pages and their links come with vectors, if these are asked for."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from opilio.read import word_rows
from opilio.read.html import PageReader
from opilio.reader import make_reader
from opilio.types import Link, Page, ReaderSetup, Response
from opilio.vectors import Vectors
from read.kernel_choice import KERNELS, chosen
from read.pages import SAMPLES
from vectors.tables import PIECES, load_table, make_table

HTML = """<title>Water</title><h2>Bees</h2><p>Honey, the river, <a href=/one>the fishs
of the lake</a> and sailing. <a href=/two><img alt="a ship"></a><a href=/three>xyzzy</a>
"""
DIMENSIONS = len(PIECES)


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
    monkeypatch.setattr(word_rows, "MOST", 8)
    monkeypatch.setattr(word_rows, "MOST_OF_A_PAGE", 8)
    page = read(HTML, vectors)
    used = PageReader(ReaderSetup(("water",), "en"), vectors=vectors)
    for other in ("lake fish ship", "honey bee hive sailing", "the " * 9 + "abc def"):
        used.read(response(f"<a href=/x>{other}</a>"))
        assert used.known is not None and used.known.known <= 8
        assert used.read(response(HTML)) == page


def test_a_page_of_many_words_costs_what_its_first_ones_cost(vectors, monkeypatch):
    monkeypatch.setattr(word_rows, "MOST_OF_A_PAGE", 5)
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
