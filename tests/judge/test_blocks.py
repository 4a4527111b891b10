"""Golden tests of paper E, sections 4.5.1 and 4.5.2 (papers.md, E.2, E.4, E.6)."""

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judged_pages import block, page
from opilio.errors import BadInput
from opilio.judge.blocks import Blocks, block_relevance, term_weights
from opilio.records import Block, BlockKind, Subject

TABLE = {"crawler": 1.0, "focus": 0.5}
LENGTH = sqrt(1.25)
SUBJECT = Subject(weights=TABLE)

INTRODUCTION = block({"crawler": 4, "focus": 1}, 10.0, "Introduction")
FOCUSED = block({"crawler": 1, "focus": 2}, 8.0, "Focused Crawling")
WEATHER = block({}, 12.0, "Weather")
MENU = block({"crawler": 9, "focus": 9}, 7.0, "Menu", BlockKind.NAVIGATION)


def test_term_weights_are_shares_of_the_most_frequent_term():
    """Section 4.5.1, t_i = n_i/n_max (papers.md E.4-4)."""
    counts = {"t1": 4, "t2": 2, "t3": 0, "t4": 1}
    assert list(term_weights(counts, 4).values()) == [1, 0.5, 0, 0.25]
    assert term_weights({}, 0) == {}


def test_block_relevance_as_printed():
    """Section 4.5.2: weights (1, .5), block (4, 2) -> t = (1, .5): the same angle.
    Aastha, section 4.5.2: "The range of Relevance (t, b) lies between 0 and 1"."""
    relevance = block_relevance(TABLE, "paper")
    assert relevance(block({"crawler": 4, "focus": 2}, 99.0)) == pytest.approx(1.0)
    assert relevance(block({"crawler": 3}, 99.0)) == pytest.approx(1 / LENGTH)
    assert relevance(block({"crawler": 1, "focus": 1}, 99.0)) == pytest.approx(
        1.5 / sqrt(1.25 * 2)
    )
    assert relevance(block({}, 99.0)) == 0.0
    assert relevance(block({"weather": 2}, 99.0)) == 0.0


def test_a_long_block_with_one_word_of_the_topic_says_little_when_fixed():
    long, short = block({"crawler": 1}, 40.0), block({"crawler": 1}, 10.0)
    assert block_relevance(TABLE, "paper")(long) == pytest.approx(1 / LENGTH)
    relevance = block_relevance(TABLE)
    assert relevance(long) == pytest.approx(1 / LENGTH / 40)
    assert relevance(short) == pytest.approx(1 / LENGTH / 10)


def test_a_heading_of_one_word_is_no_page_on_the_topic():
    assert block_relevance(TABLE)(block({"crawler": 1}, 1.0)) == pytest.approx(
        1 / LENGTH / 6
    )


def test_the_page_is_the_sum_of_its_blocks_in_paper_mode():
    """Page relevance exceeds 1 and grows with the headings (papers.md E.6-4)."""
    blocks = [INTRODUCTION, FOCUSED, WEATHER, MENU]
    judge = Blocks(SUBJECT, "paper")
    verdict = judge.judge(page(blocks=blocks))
    total = sum(map(block_relevance(TABLE, "paper"), blocks))
    assert total > 1
    assert verdict.parts["sum"] == pytest.approx(total)
    assert verdict.score == pytest.approx(total / (1 + total))
    twice = judge.judge(page(blocks=blocks * 2))
    assert twice.parts["sum"] == pytest.approx(2 * total)
    assert twice.score < 1


def test_the_maximum_decides_by_the_best_block():
    verdict = Blocks(SUBJECT, "maximum").judge(
        page(blocks=[WEATHER, INTRODUCTION, FOCUSED, MENU])
    )
    best = ((1 + log(4)) + 0.5) / (LENGTH * 10)
    assert verdict.score == pytest.approx(best)
    assert verdict.parts["1 Introduction"] == pytest.approx(best)
    assert list(verdict.parts) == ["1 Introduction", "2 Focused Crawling"]


def test_the_mean_weighs_each_block_by_its_length_and_its_parts_add_up():
    verdict = Blocks(SUBJECT).judge(page(blocks=[INTRODUCTION, FOCUSED, WEATHER]))
    first = ((1 + log(4)) + 0.5) / LENGTH
    second = (1 + 0.5 * (1 + log(2))) / LENGTH
    assert verdict.score == pytest.approx((first + second) / 30)
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)
    assert list(verdict.parts) == ["0 Introduction", "1 Focused Crawling"]
    assert verdict.relevant


def test_navigation_footer_and_advertising_do_not_count_when_fixed():
    judge = Blocks(SUBJECT)
    plain = judge.judge(page(blocks=[INTRODUCTION, WEATHER]))
    for kind in (BlockKind.NAVIGATION, BlockKind.FOOTER, BlockKind.ADVERTISING):
        around = block({"crawler": 9}, 7.0, "Crawlers", kind)
        verdict = judge.judge(page(blocks=[INTRODUCTION, WEATHER, around]))
        assert verdict.score == plain.score
    assert judge.judge(page(blocks=[MENU])).score > 0  # there is nothing else to go by


@pytest.mark.parametrize("mode", ["fixed", "maximum", "paper"])
def test_a_page_without_blocks_is_one_block(mode):
    judge = Blocks(SUBJECT, mode)
    assert judge.reads.blocks
    whole = judge.judge(page({"crawler": 3}, norm=20.0))
    single = judge.judge(page(blocks=[block({"crawler": 3}, 20.0)]))
    assert whole.score == pytest.approx(single.score)
    assert judge.judge(page()).score == 0.0


def test_blocks_without_a_heading_and_with_a_long_one_have_short_names():
    long = block({"crawler": 1}, 9.0, "Crawler " * 50)
    parts = Blocks(SUBJECT).judge(page(blocks=[block({"focus": 1}, 9.0), long])).parts
    assert "0 (no heading)" in parts
    assert max(map(len, parts)) == len("1 ") + 60


@pytest.mark.parametrize("mode", ["fixed", "maximum"])
def test_rounding_takes_no_score_above_one(mode):
    """Of 37 terms once each the sum of the products is 1 + 2⁻⁵²."""
    terms = dict.fromkeys((f"term{n}" for n in range(37)), 1)
    judge = Blocks(Subject(weights=dict.fromkeys(terms, 1.0)), mode)
    for count in (1, 9):
        verdict = judge.judge(page(blocks=[block(terms, sqrt(37))] * count))
        assert verdict.score == pytest.approx(1.0)
        assert verdict.score <= 1.0


def test_the_threshold_of_the_topic_wins_over_the_judges_own():
    seen = page(blocks=[INTRODUCTION, FOCUSED])
    assert Blocks(SUBJECT).judge(seen).relevant
    assert not Blocks(Subject(weights=TABLE, threshold=0.9)).judge(seen).relevant


def test_a_topic_without_a_weight_table_is_refused():
    with pytest.raises(BadInput, match="'blocks' needs a weight table"):
        Blocks(Subject())


@pytest.mark.parametrize(("mode", "least"), [("fixed", 0.03), ("maximum", 0.09)])
def test_a_page_is_relevant_from_the_threshold_of_its_mode_on(mode, least):
    """R of one block with one term of the table, once: 1 / (√1.25 · ‖b‖)."""
    judge = Blocks(SUBJECT, mode)
    for score, relevant in ((least * 1.02, True), (least * 0.98, False)):
        verdict = judge.judge(page(blocks=[block({"crawler": 1}, 1 / LENGTH / score)]))
        assert verdict.score == pytest.approx(score)
        assert verdict.relevant is relevant
    own = Blocks(Subject(weights={"crawler": 1.0}, threshold=0.125), mode)
    assert own.judge(page(blocks=[block({"crawler": 1}, 8.0)])).relevant
    assert not own.judge(page(blocks=[block({"crawler": 1}, 8.01)])).relevant


COUNTED = st.dictionaries(
    st.sampled_from([*TABLE, "weather"]), st.integers(1, 50), max_size=3
)


@given(
    st.lists(st.tuples(COUNTED, st.floats(0, 100), st.sampled_from(BlockKind))),
    st.sampled_from(["fixed", "maximum", "paper"]),
)
def test_every_score_is_between_0_and_1(drawn, mode):
    blocks = [
        Block(kind=kind, terms=terms, norm=norm, most=max(terms.values(), default=0))
        for terms, norm, kind in drawn
    ]
    verdict = Blocks(SUBJECT, mode).judge(page(blocks=blocks))
    assert 0 <= verdict.score <= 1
    assert all(part >= 0 for part in verdict.parts.values())


def test_the_paper_needs_nearly_two_blocks_on_the_topic():
    """Its threshold of .65 on Σ/(1+Σ) is a sum of 1.857: one block wholly on the topic
    (.5) is not enough, two (.667) are, and 1.8 of them (.643) are not."""
    judge = Blocks(SUBJECT, "paper")
    on_topic = block({"crawler": 4, "focus": 2}, 9.0)
    aside = block({"crawler": 1, "focus": 9}, 9.0)
    one, two = page(blocks=[on_topic]), page(blocks=[on_topic, on_topic])
    assert judge.judge(one).score == pytest.approx(0.5)
    assert not judge.judge(one).relevant
    assert judge.judge(two).score == pytest.approx(2 / 3)
    assert judge.judge(two).relevant
    nearly = judge.judge(page(blocks=[on_topic, aside]))
    assert 0.5 < nearly.score < 0.65
    assert not nearly.relevant
    assert judge.threshold == 0.65
    assert Blocks(Subject(weights=TABLE, threshold=0.4), "paper").judge(one).relevant
