"""The words that tell what pages are about."""

from math import hypot, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.text.words import LONGEST, Vocabulary
from opilio.topic.keywords import keywords, static_table

STARS = [
    "The star and its planets: a planet orbits the star. Time flies. "
    "Retrieved from here today.",
    "Planets orbit stars in time; the telescope saw a star in time. "
    "Retrieved from here today.",
    "A comet orbits the star; comets are seen in time. Retrieved from here today.",
    "Stars, planets and comets through the telescope. In time. "
    "Retrieved from here today.",
]
SHIPS = ["A ship sails by the stars in time.", "The ship and its telescope."]


def test_the_paper_weighs_by_tf_times_df_and_divides_by_the_greatest():
    """Meenu et al., equation 2; Aastha, 2.5.2. Aastha, section 2.5.2: "retrieve its
    document frequency df and finally computes weight"."""
    pages = ["atom atom acid", "atom acid", "salt salt salt"]
    # atom 3·2 = 6, acid 2·2 = 4, salt 3·1 = 3
    assert static_table(pages) == {
        "atom": 1.0,
        "acid": pytest.approx(4 / 6),
        "salt": 0.5,
    }


def test_ten_terms_are_given_and_fewer_than_fifty_can_be():
    """Aastha, 4.5.1: t1 to t10; 2.5.2: top N (N<50)."""
    pages = [" ".join(f"word{chr(97 + n % 26)}{n}" for n in range(80))] * 2
    assert len(keywords(pages)) == 10
    assert len(keywords(pages, top=49)) == 49
    assert len(keywords(pages, top=1)) == 1
    for top in (0, 50):
        with pytest.raises(BadInput, match="1 to 49"):
            keywords(pages, top=top)


def test_terms_are_whole_words_as_they_are_mostly_written():
    assert list(keywords(["Galaxies and galaxies; a galaxy"])) == ["galaxies"]


def test_stop_words_numbers_and_letters_are_no_keywords():
    assert list(keywords(["the x 42 zebra 1999 of it was"])) == ["zebra"]


def test_words_that_are_common_everywhere_count_half():
    pages = ["orbit time", "time orbit"]
    assert keywords(pages) == {"orbit": 1.0, "time": pytest.approx(0.5)}
    assert keywords(pages, mode="paper") == {"orbit": 1.0, "time": 1.0}


def test_the_frame_of_the_pages_is_left_out():
    assert "retrieved" not in keywords(STARS, top=20)
    assert "today" not in keywords(STARS, top=20)


def test_irrelevant_pages_show_what_does_not_tell_the_topic():
    alone, against = keywords(STARS), keywords(STARS, SHIPS)
    assert against["planets"] > against["telescope"]
    share = alone["telescope"] / alone["planets"]
    assert against["telescope"] / against["planets"] < share


def test_fixed_weights_by_hand():
    """Σ_p (1 + ln tf)/|p|, and ln((n + 1)/(b + ½)) with two irrelevant pages."""
    often = 1 + log(2)
    first, second = hypot(often, 1), sqrt(2)
    quark = often / first + 1 / second
    assert keywords(["quark quark boson", "quark gluon"]) == pytest.approx(
        {"quark": 1, "gluon": 1 / second / quark, "boson": 1 / first / quark}
    )
    assert keywords(["quark boson"], ["a boson", "ships"]) == pytest.approx(
        {"quark": 1, "boson": log(3 / 1.5) / log(3 / 0.5)}
    )


def test_words_of_2_to_64_letters_are_keywords():
    words = ["λ", "ox", "o" * LONGEST, "u" * (LONGEST + 1)]
    assert set(keywords([words])) == set(words[1:3])


def test_one_long_page_does_not_outweigh_the_others():
    pages = ["acid salt", "acid base", "acid metal", "salt " + "ship " * 1000]
    assert next(iter(keywords(pages))) == "acid"
    assert next(iter(keywords(pages, mode="paper"))) == "ship"


def test_tokens_are_taken_too_and_no_pages_give_no_words():
    assert keywords([["zebra", "zebras"]]) == {"zebra": 1.0}
    assert keywords([]) == {}
    assert keywords(["", "the"]) == {}


def test_other_languages_have_their_own_words():
    assert "zug" in keywords(["der Zug und die Bahn", "Zug"], language="de")
    assert "रेल" in keywords(["रेल का इंजन और रेल"], language="hi")


@given(st.lists(st.text(), max_size=6), st.lists(st.text(), max_size=3))
def test_weights_lie_above_0_up_to_1_and_each_term_has_a_key(
    pages: list[str], irrelevant: list[str]
):
    found = keywords(pages, irrelevant)
    assert all(0 < weight <= 1 for weight in found.values())
    keys = Vocabulary(list(found)).keys
    assert all(keys.values()) and len(set(keys.values())) == len(found)
