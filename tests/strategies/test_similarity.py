"""The cosine of counted terms and the weight table."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.records import NOTHING, Counted
from opilio.strategies.shared.similarity import Similarity

# papers.md D.4: the weight table of the worked example
POLLS = {"lok sabha": 1.5, "manifesto": 1.0, "poll": 1.5, "2014": 1.5}


def test_only_poll_once_gives_the_cosine_of_papers_d4_test_3():
    similarity = Similarity(POLLS)
    assert similarity.cos(Counted({"poll": 1}, 1.0)) == pytest.approx(0.5388, abs=5e-5)


def test_the_longer_a_text_the_less_one_term_says():
    similarity = Similarity(POLLS)
    assert similarity.cos(Counted({"poll": 1}, 2.0)) == pytest.approx(0.5388 / 2, 1e-3)


@pytest.mark.parametrize("counted", [NOTHING, Counted({"other": 3}, 2.0), Counted({})])
def test_a_text_without_terms_of_the_table_has_nothing_in_common(counted: Counted):
    assert Similarity(POLLS).cos(counted) == 0.0


def test_an_empty_table_has_nothing_in_common_with_any_text():
    assert Similarity({}).cos(Counted({"poll": 1}, 1.0)) == 0.0
    assert Similarity({"poll": 0.0}).cos(Counted({"poll": 1}, 1.0)) == 0.0


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0.01, 100), min_size=1),
    st.dictionaries(st.sampled_from("abcdef"), st.just(1), min_size=1),
)
def test_a_cosine_is_between_nothing_and_one(
    weights: dict[str, float], terms: dict[str, int]
):
    found = Similarity(weights).cos(Counted(terms, sqrt(len(terms))))
    assert 0 <= found <= 1
    assert (found > 0) == bool(weights.keys() & terms.keys())
