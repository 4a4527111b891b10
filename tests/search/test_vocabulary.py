"""Beginnings of words: which words there are, and which pages they find."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.search.candidates import seek
from opilio.search.concepts import Concepts
from opilio.search.index import catch_up
from opilio.search.query import parse_query
from opilio.search.rank import MOST_WORDS
from opilio.search.vocabulary import beginning_with, vocabulary_of
from opilio.text.words import tokens
from search.searched_pages import Pages


@pytest.fixture
def pages(tmp_path: Path):
    made = Pages(tmp_path)
    yield made
    made.db.close()


@given(
    st.lists(st.text("abcß \u0915", max_size=12), max_size=8),
    st.text("abcß", min_size=1),
)
def test_the_words_that_begin_so_are_found(names: list[str], start: str):
    words = {word for name in names for word in tokens(name)}
    expected = sorted(word for word in words if word.startswith(start))
    assert beginning_with(start, vocabulary_of(names)) == expected


def test_a_beginning_finds_pages_with_any_word_that_titles_have(pages: Pages):
    pages.add("fire", "A volcano")
    pages.add("smoke", "Volcanic ash")
    pages.add("a ball game", "Volleyball")
    pages.add("all about volcanoes")
    pages.add("tephra")
    assert set(pages.found("volcan*")) == {1, 2, 4}
    assert set(pages.found("vol*")) == {1, 2, 3, 4}
    assert set(pages.found("volcan* -ash")) == {1, 4}
    assert pages.found("tep*") == [], "no title has such a word"
    assert pages.found("tephra*") == [5], "what was typed is a word, too"


def test_a_beginning_is_looked_up_on_disk_as_in_the_table(pages: Pages):
    for number in range(9):
        pages.add("fire", f"volcano{number}")
    before = pages.found("volc*")
    assert len(before) == 9
    assert catch_up(pages.db, pages.folder / "index", few=2) == 9
    assert pages.found("volc*") == before


def test_words_that_begin_alike_count_as_one_and_the_rarest_are_left(pages: Pages):
    many = [f"star{number:02}" for number in range(MOST_WORDS + 8)]
    pages.add(" ".join(many), " ".join(many))
    pages.add(" ".join(many[:MOST_WORDS]))
    pages.add(f"one {many[-1]}")
    pages.add(f"the comet and {many[0]}")
    assert set(pages.found("star*")) == {1, 2, 4}
    assert pages.found("star* comet")[0] == 4


def test_words_of_a_beginning_are_marked_and_it_is_not_respelt(pages: Pages):
    pages.add("fire", "Volcanoes")
    searcher = pages.searcher()
    sought = seek(searcher.index, Concepts(), parse_query("volca*"), "en")
    assert sought.stems == {"volcano"}
    answer = searcher.search("volca*")
    assert (answer.total, answer.suggestion) == (1, "")
