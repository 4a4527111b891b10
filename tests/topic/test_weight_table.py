"""The weight table of a query log, to the example of the paper (Meenu et al.)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.text.words import Vocabulary
from opilio.topic.query_log import LoggedQuery
from opilio.topic.weight_table import (
    Phrases,
    QueryWeights,
    count_queries,
    heaviest,
    normalised,
    terms_of,
)

# Section 3.1.1, the sample queries.
Q1 = "Kejriwal new manifesto for lok sabha polls 2014."
Q2 = "Manifesto of BJP for lok sabha polls 2014."
Q3 = "lok sabha polls 2014 dates"
LOG = [Q1, Q2, Q3]
PAPER = QueryWeights(mode="paper", alpha=0.5, phrases=("lok sabha",))
FIXED = QueryWeights(phrases=("lok sabha",))


def stemmed(table: dict[str, float]) -> dict[str, float]:
    """The terms as a paper prints them, as our keys."""
    key = Vocabulary([]).key
    return {key(term): value for term, value in table.items()}


def test_query_frequencies_are_those_of_section_3_1_1():
    frequency, _, asked = count_queries(LOG, "en", ["lok sabha"])
    assert frequency == stemmed(
        {
            "BJP": 1,
            "date": 1,
            "kejriwal": 1,
            "lok sabha": 3,
            "manifesto": 2,
            "new": 1,
            "poll": 3,
            "2014": 3,
        }
    )
    assert asked == 3
    assert list(frequency) == sorted(frequency)  # step 5


def test_weights_are_those_of_section_3_1_1():
    """Meenu et al., section 3.1.1: "query frequency which is the number of queries
    which contain each term"."""
    assert PAPER.rebuilt(LOG).state == stemmed(
        {
            "BJP": 0.5,
            "date": 0.5,
            "kejriwal": 0.5,
            "lok sabha": 1.5,
            "manifesto": 1.0,
            "new": 0.5,
            "poll": 1.5,
            "2014": 1.5,
        }
    )


def test_the_table_is_table_1():
    table = PAPER.rebuilt(LOG)
    assert table.by_key() == stemmed(
        {"lok sabha": 1.5, "poll": 1.5, "manifesto": 1.0, "2014": 1.5}
    )
    assert table.weights() == {
        "lok sabha": 1.5,
        "polls": 1.5,
        "2014": 1.5,
        "manifesto": 1.0,
    }


def test_the_same_log_again_approaches_its_query_frequency():
    """papers.md D.4, test 2."""
    table = PAPER.rebuilt(LOG)
    seen = []
    for _ in range(40):
        table = table.rebuilt(LOG)
        seen.append(table.by_key()["lok sabha"])
    assert seen[:2] == [2.25, 2.625]
    assert seen[-1] == pytest.approx(3)


def test_a_term_that_is_not_asked_for_any_more_decays_and_drops_out():
    """papers.md D.4, test 2."""
    table = PAPER.rebuilt(LOG).rebuilt([Q3, Q3, Q3])
    assert table.state["manifesto"] == 0.5
    assert "manifesto" not in table.by_key()


def test_alpha_is_the_share_of_the_old_weight():
    """Equation 3 with α = 0.2: W = 0.8·qf + 0.2·W(old); lok sabha 2.4, then 2.88."""
    table = QueryWeights(mode="paper", alpha=0.2, phrases=("lok sabha",)).rebuilt(LOG)
    assert table.state["lok sabha"] == pytest.approx(0.8 * 3)
    again = table.rebuilt(LOG).state["lok sabha"]
    assert again == pytest.approx(0.8 * 3 + 0.2 * 2.4)


def test_a_term_below_the_threshold_still_rises_on_its_past():
    """papers.md D.6-6: dates 0.5, then 0.5·1 + 0.5·0.5."""
    table = PAPER.rebuilt(LOG).rebuilt([Q3])
    assert table.state["date"] == 0.75


def test_fixed_counts_shares_so_that_the_size_of_the_log_does_not_matter():
    few, many = FIXED.rebuilt(LOG), FIXED.rebuilt(LOG * 100)
    assert few.weights() == pytest.approx(many.weights())
    assert few.weights() == {
        "lok sabha": 0.5,
        "polls": 0.5,
        "2014": 0.5,
        "manifesto": pytest.approx(1 / 3),
    }


def test_fixed_leaves_out_what_less_than_two_of_three_queries_have():
    """Half of the share of the queries: .33 is below the threshold of 1/3."""
    table = FIXED.rebuilt(["steam train"] * 33 + ["steam"] * 17)
    assert table.state == {"steam": 0.5, "train": 0.33}
    assert table.weights() == {"steam": 0.5}


def test_terms_of_equal_weight_come_by_name_and_builds_are_counted():
    assert (PAPER.queries, PAPER.builds) == (0, 0)
    table = PAPER.rebuilt(LOG)
    assert list(table.by_key()) == ["2014", "lok sabha", "poll", "manifesto"]
    assert (table.queries, table.builds) == (3, 1)
    assert table.rebuilt([Q3]).builds == 2
    given = [("swarm", 1.0), ("bee", 1.0), ("hive", 2.0), ("comb", 1.0)]
    ordered = [term for term, _ in sorted(given, key=heaviest)]
    assert ordered == ["hive", "bee", "comb", "swarm"]


def test_fixed_takes_the_best_terms_if_none_reaches_its_threshold():
    words = [f"word{number}" for number in range(40)]
    table = FIXED.rebuilt([*words, "word7"])
    assert len(table.weights()) == 10
    assert next(iter(table.weights())) == "word7"
    strict = QueryWeights(threshold=0.4).rebuilt(words)
    assert strict.weights() == {}


def test_a_threshold_of_ones_own_counts():
    table = QueryWeights(mode="paper", threshold=0.5).rebuilt(["steam train", "steam"])
    assert table.weights() == {"steam": 1.0, "train": 0.5}


def test_without_new_queries_the_table_stays():
    table = FIXED.rebuilt(LOG)
    assert table.rebuilt([]) is table
    assert table.rebuilt(["of the", "?!"]) is table


def test_a_query_counts_as_often_as_it_was_asked():
    table = PAPER.rebuilt([LoggedQuery("steam train", 6), "steam engine"])
    assert table.weights() == {"steam": 3.5, "train": 3.0}
    assert table.queries == 7


def test_a_word_twice_in_a_query_counts_once():
    assert count_queries(["train train trains"], "en", [])[0] == {"train": 1}


def test_terms_are_written_as_people_mostly_write_them():
    table = FIXED.rebuilt(["Galaxies", "galaxies far", "a galaxy"])
    assert list(table.weights()) == ["galaxies"]


def test_the_longest_phrase_is_found_in_any_inflection_and_with_small_words():
    phrases = Phrases(["theory of numbers", "theory of numbers field", "solo"], "en")
    assert terms_of("Theories of number", "en", phrases) == {
        "theori of number": "theory of numbers"
    }
    assert terms_of("the theory of numbers fields theory", "en", phrases) == {
        "theori of number field": "theory of numbers field",
        "theori": "theory",
    }


def test_other_languages_have_their_own_stop_words_and_stems():
    table = QueryWeights(language="de").rebuilt(["die Züge der Bahn", "der Zug"])
    assert set(table.by_key()) == {"zug", "zuge", "bahn"} & set(table.by_key())
    assert "der" not in table.state
    hindi = QueryWeights(language="hi").rebuilt(["रेल का इंजन"])
    assert len(hindi.weights()) == 2


def test_a_dumped_table_goes_on_as_if_nothing_had_happened():
    table = FIXED.rebuilt(LOG)
    again = FIXED.load(table.dump())
    assert again == table
    assert again.rebuilt([Q1]) == table.rebuilt([Q1])


def test_a_damaged_dump_is_told():
    with pytest.raises(BadInput, match="weight table"):
        FIXED.load(b'{"state": 3}')


def test_normalised_weights_have_1_at_most():
    """Equation 2."""
    assert normalised({"a": 4, "b": 1}) == {"a": 1, "b": 0.25}
    assert normalised({}) == {}


@given(st.lists(st.lists(st.text(max_size=20), max_size=5), max_size=6))
def test_weights_stay_between_0_and_1_in_fixed(batches: list[list[str]]):
    table = FIXED
    for batch in batches:
        table = table.rebuilt(batch)
        assert all(0 <= weight <= 1 for weight in table.state.values())
        assert table.forms.keys() == table.state.keys()
        vocabulary = Vocabulary(list(table.weights()))
        assert all(vocabulary.keys.values())  # each can be counted on pages
