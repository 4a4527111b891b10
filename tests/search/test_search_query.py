"""The query language: what is typed, and what it asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.search.query import parse_query


def test_words_phrases_and_conditions_are_told_apart():
    query = parse_query(
        'Star "black hole" -dwarf -"red giant" '
        "site:Example.org lang:EN after:1970-01-02"
    )
    assert query.words == ("star", "black", "hole")
    assert query.phrases == (("black", "hole"),)
    assert query.without == (("dwarf",), ("red", "giant"))
    assert query.sites == ("example.org",)
    assert query.languages == ("en",)
    assert query.after == 86400.0


def test_a_star_at_the_end_of_a_word_makes_it_a_beginning():
    query = parse_query('Volcan* ash "lava flow*" -star* ab* volcan* x*y 5 *')
    assert query.beginnings == ("volcan",)
    assert query.words[:4] == ("volcan", "ash", "lava", "flow")
    assert query.without == (("star",),)


def test_a_phrase_that_was_not_closed_goes_to_the_end():
    query = parse_query('star  "black hole ')
    assert query.phrases == (("black", "hole"),)
    assert query.text == 'star "black hole"'
    for text in ('star "black hole"', 'a 5" telescope', 'star "', 'star ""'):
        assert parse_query(text).text == text


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("", "contains no word; give one"),
        ("-star", "contains no word; give one"),
        ("site:x.org", "contains no word; give one"),
        ("star lang:english", "two letters"),
        ("star after:yesterday", "YYYY-MM-DD"),
        ("star -site:x.org", "without a minus"),
        ("star site:", "site:SOMETHING"),
        ("star lang: en", "lang:SOMETHING"),
        ('star after:""', "after:SOMETHING"),
        ("star site:http://", "site:example.org"),
        ("star site:/", "site:example.org"),
        ("star " * 65, "at most 64"),
        ("s" * 2001, "at most 2,000"),
    ],
)
def test_what_cannot_be_understood_is_an_error_with_a_remedy(text: str, remedy: str):
    with pytest.raises(BadInput, match=remedy):
        parse_query(text)


@pytest.mark.parametrize(
    ("site", "host"),
    [
        ("http://Hostile.test/", "hostile.test"),
        ("http://hostile.test/p1", "hostile.test"),
        ("https://hostile.test:443/p1?a=b", "hostile.test"),
        ("hostile.test:80", "hostile.test"),
        ("hostile.test:8080", "hostile.test:8080"),
        ("hostile.test/", "hostile.test"),
        (".test", "test"),
        ('"hostile.test"', "hostile.test"),
    ],
)
def test_a_site_may_be_given_as_an_address(site: str, host: str):
    assert parse_query(f"bee site:{site}").sites == (host,)


@given(st.text(max_size=200))
def test_any_text_is_a_query_or_bad_input(text: str):
    try:
        query = parse_query(text)
    except BadInput:
        return
    assert query.words
    assert all(query.phrases) and all(query.without)
