"""What a query finds, in which order, and how that is shown."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.records import Response
from opilio.search.positions import places_of
from opilio.search.spelling import edits
from opilio.text.word_sequence import WordSequence
from search.searched_pages import Pages


@pytest.fixture
def pages(tmp_path: Path):
    made = Pages(tmp_path)
    yield made
    made.db.close()


def test_a_title_weighs_more_than_text_and_rare_words_more_than_frequent(pages: Pages):
    pages.add("all about the comet and its tail", "News")
    pages.add("seen from afar it is a faint dot", "Comet")
    for number in range(5):
        pages.add(f"a star and another star {number}", "Stars")
    assert pages.found("comets")[:2] == [2, 1]
    assert pages.found("star comet")[0] == 2


def test_of_pages_that_say_the_same_the_more_relevant_one_comes_first(pages: Pages):
    pages.add("the comet", "One", score=0.1)
    pages.add("the comet", "Two", score=0.9)
    assert pages.found("comet") == [2, 1]


def test_phrases_must_stand_together_in_any_form_of_their_words(pages: Pages):
    pages.add("a hole that is black")
    pages.add("many black holes were seen")
    assert pages.found('"black hole"') == [2]
    assert set(pages.found("black hole")) == {1, 2}
    assert pages.found('hole -"black hole"') == [1]
    assert pages.found('"hole"') == [1, 2]
    assert pages.found('"hole black"') == []


def test_a_phrase_does_not_go_from_the_title_or_a_heading_into_the_text(pages: Pages):
    pages.add("hole", "black")
    pages.add("<h2>black</h2><p>night</p><h2>hole</h2>", "hole")
    pages.add("so far so far and so on", "a black hole")
    assert pages.found('"black hole"') == [3, 2]  # headings are in a row
    assert pages.found('"so far so far and"') == [3]
    assert pages.found('"so far so far so"') == []


def test_a_phrase_is_found_on_the_worst_of_many_pages(pages: Pages):
    for number in range(3000):
        pages.db.execute(
            "INSERT INTO link (id, url, fingerprint, host, state, promise) "
            "VALUES (?, ?, ?, 1, 'kept', 0)",
            (number + 10, f"http://a.test/{number + 10}", number + 10),
        )
        pages.db.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, score) "
            "VALUES (?, 1, 0, 200, 0, 1.0)",
            (number + 10,),
        )
    often = pages.reader.read(
        Response("http://a.test/", 200, [], b"<p>black and hole", 0.0)
    )
    pages.db.executemany(
        "INSERT INTO indexed (page, words, features) VALUES (?, ?, ?)",
        ((number + 10, often.sequence, b"\x80") for number in range(3000)),
    )
    last = pages.add("a black hole, and " + "nothing else to be seen " * 99)
    assert pages.found('"black hole"') == [last]


some_words = st.lists(st.integers(0, 3), max_size=30)


@given(
    st.lists(st.tuples(some_words, some_words, some_words), min_size=1, max_size=5),
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
)
def test_phrases_are_found_where_their_words_are_in_a_row(
    texts: list[tuple[list[int], list[int], list[int]]], phrase: list[int]
):
    pages = [
        WordSequence(*(np.array(part, np.uint32) for part in text)) for text in texts
    ]
    found = set(places_of(pages).pages_with(phrase).tolist())
    assert found == {
        number
        for number, text in enumerate(texts)
        if any(
            part[start : start + len(phrase)] == phrase
            for part in text
            for start in range(len(part))
        )
    }


def test_conditions_keep_other_pages_out(pages: Pages):
    pages.add("comet", at=100.0)
    pages.add("comet and tail", host=2, at=200000.0)
    pages.add("comet, la cola", language="es")
    assert set(pages.found("comet")) == {1, 2, 3}
    assert pages.found("comet -tail lang:en") == [1]
    assert pages.found("comet site:b.test") == [2]
    assert set(pages.found("comet site:test")) == {1, 2, 3}
    assert pages.found("comet site:est") == []
    assert pages.found("comet site:*") == []
    assert pages.found("comet after:1970-01-02") == [2]


def test_copies_are_folded(pages: Pages):
    text = " ".join(f"word{number}" for number in range(80))
    pages.add(f"comet {text}", "Same")
    pages.add("comet", "Same", copy_of=1)
    pages.add(f"comet {text} changed", "Same")  # nearly the same
    [hit] = pages.searcher().search("comet").hits
    assert sorted(hit.copies) == ["http://a.test/2", "http://a.test/3"]


def test_a_page_that_says_the_same_under_another_title_is_folded(pages: Pages):
    text = " ".join(f"word{number}" for number in range(80))
    pages.add(f"comet {text}", "Comet")
    pages.add(f"comet {text}", "For print")
    pages.add(f"comet {text} changed", "A page of the same template")
    first, second = pages.searcher().search("comet").hits
    assert (first.title, first.copies) == ("Comet", ["http://a.test/2"])
    assert (second.title, second.copies) == ("A page of the same template", [])


def test_short_pages_that_say_the_same_are_folded_too(pages: Pages):
    pages.add("the comet", "Same")
    pages.add("<div>The <b>comet</b></div>", "Same")
    pages.add("the comet", "Another")
    first, second = pages.searcher().search("comet").hits
    assert (first.title, first.copies) == ("Same", ["http://a.test/2"])
    assert (second.title, second.copies) == ("Another", [])


def test_results_come_in_pages(pages: Pages):
    for number in range(25):
        pages.add(f"comet {'tail ' * number}")
    searcher = pages.searcher()
    whole = [hit.url for hit in searcher.search("comet", size=25).hits]
    parts = [searcher.search("comet", page, 10) for page in (1, 2, 3)]
    assert [hit.url for part in parts for hit in part.hits] == whole
    assert [part.total for part in parts] == [25, 25, 25]
    assert not searcher.search("comet", 4, 10).hits
    with pytest.raises(BadInput, match="pages count from 1"):
        searcher.search("comet", 0)


def test_pages_that_ask_not_to_be_shown_or_are_gone_are_not(pages: Pages):
    for title in ("one", "two", "three"):
        pages.add("comet", title)
    pages.db.execute("UPDATE page SET noindex = 1 WHERE id = 1")
    pages.db.execute("UPDATE link SET state = 'unusable' WHERE id = 2")
    assert pages.found("comet") == [3]


def test_stop_words_do_not_decide_unless_there_is_nothing_else(pages: Pages):
    pages.add("of the of the of the of the")
    pages.add("a comet")
    assert pages.found("the comet") == [2]
    assert pages.found("the") == [1]


@pytest.mark.parametrize(
    ("page", "size", "fault"),
    [(1, 0, "^0 results"), (0, 5, "no page 0"), (101, 100, "number 10,000")],
)
def test_a_page_of_results_that_cannot_be_is_refused_for_what_is_at_fault(
    pages: Pages, page: int, size: int, fault: str
):
    with pytest.raises(BadInput, match=fault):
        pages.searcher().search("comet", page, size)


def test_a_word_that_no_page_has_is_respelt(pages: Pages):
    pages.add("the telescopes of the astronomers")
    answer = pages.searcher().search("Telescpoe -dome site:a.test")
    assert answer.suggestion == "telescope -dome site:a.test"
    assert pages.searcher().search("telescope").suggestion == ""
    pages.add("pollen in galaxies")
    assert pages.searcher().search("pollne").suggestion == "pollen"
    assert pages.searcher().search("galaxiex").suggestion == "galaxies"


@given(st.text("abc", min_size=1, max_size=6))
def test_edits_are_one_letter_away(word: str):
    for other in edits(word, ("a", "z")):
        assert other != word and abs(len(other) - len(word)) <= 1
