"""Measures: worked by hand, from the papers, and by what must hold for any crawl."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.lab.measures import (
    MORE_IS_BETTER,
    aurc,
    finds,
    harvest_rate,
    measure,
    oracle_shares,
    pages_to,
    recall_at,
    recall_curve,
    target_length,
    through_irrelevant,
    wasted,
)
from opilio.lab.runs import LabVisit, Measures

DOCS = Path(__file__).parents[2] / "docs"
FOUND = st.lists(st.booleans(), max_size=60)


def crawl(word: str) -> list[bool]:
    """A crawl as a word: t for a request that found a target, anything else if not."""
    return [letter == "t" for letter in word]


def page(url: str, via: int = -1, depth: int = 0) -> LabVisit:
    return LabVisit(url, "irrelevant", "", 0.1, depth, via)


def test_the_crawl_of_papers_md_has_its_harvest_and_recall():
    # papers.md E.4-7: crawl [t, x, t, t], T has 5: harvest .75, recall .6 after 4.
    """Aastha, section 4.7.1: "C(t) is the set of first t pages crawled, T is the set of
    targets"."""
    found = crawl("txtt")
    assert harvest_rate(found) == 0.75
    assert recall_at(found, 5, 4) == 0.6
    visits = [page("t1"), page("x"), page("t2"), page("t3")]
    targets = {f"t{n}": n for n in range(1, 6)}
    measures, found_at = measure(visits, targets, 5)
    assert (measures.harvest, measures.recall, measures.unfound) == (0.75, 0.6, 2)
    assert found_at == [1, 3, 4]


def test_recall_grows_with_each_target():
    assert recall_curve(crawl("txtt"), 4).tolist() == [0.25, 0.25, 0.5, 0.75]


def test_a_crawl_that_ended_keeps_its_last_recall():
    assert recall_curve(crawl("tt"), 4, 5).tolist() == [0.25, 0.5, 0.5, 0.5, 0.5]
    assert recall_at(crawl("tt"), 4, 100) == 0.5


def test_aurc_is_the_mean_recall_over_three_times_the_targets():
    # R = 2, so six requests: recall ½ ½ 1, and 1 ever after.
    assert aurc(crawl("txt"), 2) == pytest.approx((0.5 + 0.5 + 4 * 1) / 6)


def test_aurc_does_not_see_what_is_found_after_its_horizon():
    assert aurc(crawl("txx" + "t"), 1) == aurc(crawl("txx"), 1) == 1
    assert aurc(crawl("xxxxxx" + "tt"), 2) == 0


@given(st.integers(1, 200))
def test_a_crawl_that_never_errs_has_the_highest_aurc(targets: int):
    assert aurc([True] * targets, targets) == pytest.approx(5 / 6 + 1 / (6 * targets))


def test_pages_are_counted_to_the_request_that_reaches_the_share():
    found = crawl("xtxttx")
    assert [pages_to(found, 4, share) for share in (0.25, 0.5, 0.75)] == [2, 4, 5]
    assert pages_to(found, 4, 0.8) is None
    assert pages_to([], 4, 0.5) is None


@given(st.integers(1, 1000), st.integers(1, 10))
def test_a_share_is_reached_by_the_least_whole_number_of_targets(
    targets: int, tenths: int
):
    needed = pages_to([True] * targets, targets, tenths / 10)
    assert needed == -(-targets * tenths // 10)


@given(FOUND, st.integers(0, 5))
def test_finding_a_target_earlier_never_lowers_aurc(found: list[bool], unfound: int):
    targets = sum(found) + unfound + 1
    for n in range(1, len(found)):
        if found[n] and not found[n - 1]:
            sooner = [*found[: n - 1], True, False, *found[n + 1 :]]
            assert aurc(sooner, targets) >= aurc(found, targets)


def test_where_nothing_is_to_be_found_recall_is_refused():
    with pytest.raises(ValueError, match="nothing to find"):
        recall_curve([], 0)


def test_more_targets_than_there_are_is_an_error_and_no_recall():
    with pytest.raises(ValueError, match="2 targets found of 1: R is too small"):
        recall_curve(crawl("tt"), 1)


def test_of_urls_with_one_content_the_first_fetched_is_the_find():
    visits = [page("b"), page("x"), page("a"), page("c")]
    assert finds(visits, {"a": 7, "b": 7, "c": 0}) == [True, False, False, True]


def test_neither_a_redirect_nor_a_failure_is_a_find():
    visits = [
        LabVisit("a", "copy", "redirect"),
        LabVisit("b", "unusable", "http_404"),
        LabVisit("c", "copy"),
        LabVisit("a", "kept"),
    ]
    targets = {"a": 1, "b": 2, "c": 3}
    assert finds(visits, targets) == [False, False, True, True]
    assert wasted(visits) == 0.75


def test_target_length_is_the_median_depth_of_what_was_found():
    visits = [page(str(n), depth=n) for n in (0, 5, 1, 2, 9)]
    assert target_length(visits, crawl("txttt")) == 1.5
    assert target_length(visits, crawl("xxxxx")) is None


def test_targets_are_traced_to_the_page_that_links_to_them():
    targets = {"t1": 1, "t2": 2, "t3": 3, "t4": 4}
    visits = [
        page("t1"),  # a seed, which no page led to
        page("x", via=0),
        page("t2", via=0),
        page("t3", via=1),
        LabVisit("old", "copy", "redirect", None, 1, 1),
        page("t4", via=4),  # the link stood on x
    ]
    found = finds(visits, targets)
    assert through_irrelevant(visits, found, targets) == pytest.approx(2 / 3)


def test_what_a_seed_redirects_to_is_a_seed():
    visits = [LabVisit("old", "copy", "redirect"), page("t", via=0)]
    assert through_irrelevant(visits, crawl("xt"), {"t": 1}) is None


def test_a_crawl_without_requests_found_nothing():
    measures, found_at = measure([], {"t": 1}, 1)
    assert found_at == []
    assert measures == Measures(
        harvest=0,
        recall=0,
        aurc=0,
        recall_2R=0,
        recall_50=0,
        recall_R=0,
        recall_3R=0,
        precision_50=0,
        pages_to_50=None,
        pages_to_80=None,
        pages_to_90=None,
        target_length=None,
        unfound=1,
        through_irrelevant=None,
        wasted=0,
    )


@given(st.lists(st.integers(0, 9), max_size=40, unique=True), st.integers(0, 9))
def test_the_measures_of_a_crawl_agree_with_each_other(order: list[int], last: int):
    targets = {str(number): number for number in range(last + 1)}
    measures, found_at = measure([page(str(n)) for n in order], targets, len(targets))
    assert measures.unfound == len(targets) - len(found_at)
    assert measures.recall == pytest.approx(len(found_at) / len(targets))
    assert measures.harvest * len(order) == pytest.approx(len(found_at))
    assert measures.recall_2R <= measures.recall
    assert 0 <= measures.aurc <= measures.recall + 1e-9
    if measures.pages_to_90 is not None:
        assert measures.pages_to_50 <= measures.pages_to_80 <= measures.pages_to_90
        assert measures.pages_to_90 in found_at


def test_stages_are_the_first_50_requests_r_and_3r():
    order = [page("x" if number % 2 else f"t{number}") for number in range(400)]
    targets = {f"t{number}": number for number in range(200)}
    measures, _ = measure(order, targets, 200)
    assert measures.precision_50 == 0.5
    assert measures.recall_50 == 25 / 200
    assert measures.recall_R == 100 / 200
    assert measures.recall_3R == measures.recall == 100 / 200
    short, _ = measure(order[:20], targets, 200)
    assert short.precision_50 == 0.5
    assert short.recall_50 == short.recall_R == 10 / 200
    of_oracle = oracle_shares(short, measures)
    assert of_oracle["recall_50"] == pytest.approx(10 / 25)
    assert of_oracle["recall_3R"] == pytest.approx(0.1)


def test_shares_say_how_near_a_crawl_came_to_the_oracle():
    visits = [page("a"), page("x"), page("b")]
    targets = {"a": 1, "b": 2}
    ours, _ = measure(visits, targets, 2)
    best, _ = measure([visits[0], visits[2]], targets, 2)
    assert oracle_shares(ours, best) == pytest.approx(
        {
            "harvest": 2 / 3,
            "recall": 1,
            "aurc": 5 / 5.5,
            "recall_2R": 1,
            "recall_50": 1,
            "recall_R": 0.5,
            "recall_3R": 1,
            "precision_50": 2 / 3,
            "pages_to_50": 1,
            "pages_to_80": 2 / 3,
            "pages_to_90": 2 / 3,
        }
    )
    assert set(oracle_shares(best, best).values()) == {1}


def test_a_share_of_what_was_never_reached_is_left_out():
    reached, _ = measure([page("a"), page("b")], {"a": 1, "b": 2}, 2)
    nothing, _ = measure([page("x")], {"a": 1, "b": 2}, 2)
    half = msgspec.structs.replace(reached, pages_to_80=None)
    assert "pages_to_80" not in oracle_shares(half, reached)
    assert "pages_to_80" not in oracle_shares(reached, half)
    assert oracle_shares(reached, nothing) == {}
    assert oracle_shares(nothing, reached) == dict.fromkeys(MORE_IS_BETTER, 0)


@pytest.mark.parametrize("name", Measures.__struct_fields__)
def test_a_measure_is_documented(name: str):
    text = (DOCS / "reference/measures.md").read_text("utf-8")
    of_all = name.removeprefix("pages_to")  # `pages_to_50`, `_80`, `_90`
    assert f"`{name}`" in text or f"`{of_all}`" in text
