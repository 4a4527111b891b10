"""The order of seeds: papers A (III.A), D (3.2.1) and E (2.5.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.seeds.given_urls import canonical_given
from opilio.seeds.priority import choose_seeds, common_to_engines, priority_of, spread
from opilio.seeds.seed import Priority

FINDINGS = st.dictionaries(
    st.sampled_from(["google", "yahoo", "msn", "brave"]),
    st.lists(st.sampled_from([f"http://u{n}.test/" for n in range(12)]), max_size=15),
)


def test_the_classes_of_kumar_and_vig() -> None:
    """Golden, papers.md A.6-6: High = across engines, Medium = within one, Low = once.
    G=[u1,u2,u2], Y=[u1,u3], M=[u4] -> u1 High, u2 Medium, u3 and u4 Low. Kumar & Vig,
    III.A: "URLs occurring across Search Engines more than once"."""
    findings = {"google": ["u1", "u2", "u2"], "yahoo": ["u1", "u3"], "msn": ["u4"]}
    classes = {url: priority_of(url, findings) for url in ("u1", "u2", "u3", "u4")}
    assert classes == {
        "u1": Priority.HIGH,
        "u2": Priority.MEDIUM,
        "u3": Priority.LOW,
        "u4": Priority.LOW,
    }
    # u4 is the first of its engine, u3 the second: rank decides inside a class.
    assert [seed.url for seed in choose_seeds(findings, 10)] == ["u1", "u2", "u4", "u3"]


def test_what_repeats_in_one_engine_and_is_known_to_another_is_high() -> None:
    """Paper A, III.A: Medium is for URLs "not across the Search Engines"."""
    assert priority_of("u", {"a": ["u", "u"], "b": ["u"]}) is Priority.HIGH


def test_the_seeds_of_meenu_are_common_to_all_engines() -> None:
    """Paper D, 3.2.1: "the seed URLs which are common" in all three."""
    findings = {"g": ["a", "b", "c"], "y": ["c", "b", "d"], "m": ["c", "e"]}
    assert [seed.url for seed in choose_seeds(findings, 10, common=True)] == ["c"]


def test_without_any_in_all_engines_two_are_enough_and_then_one() -> None:
    """Golden, papers.md D.6-11: fall back to >= 2 engines, then top-k."""
    two = {"g": ["a", "b"], "y": ["b", "c"], "m": ["d"]}
    assert [seed.url for seed in choose_seeds(two, 10, common=True)] == ["b"]
    none = {"g": ["a", "b"], "y": ["c"], "m": ["d"]}
    assert [seed.url for seed in choose_seeds(none, 3, common=True)] == ["a", "c", "d"]


def test_engines_that_found_nothing_have_no_say_in_what_is_common() -> None:
    assert common_to_engines({"g": ["a", "b"], "y": ["b"], "m": []}) == {"b"}
    assert common_to_engines({"g": []}) == set()


def test_ranks_are_fused_as_cormack_et_al_do_with_k_60() -> None:
    """Σ 1/(60 + rank): first and thirteenth beat fifth and eighth, by k = 61 not."""
    google = ["a", "g2", "g3", "g4", "b"]
    yahoo = [*(f"y{n}" for n in range(1, 8)), "b", "y9", "y10", "y11", "y12", "a"]
    findings = {"google": google, "yahoo": yahoo}
    assert [seed.url for seed in choose_seeds(findings, 2)] == ["a", "b"]


def test_a_seed_knows_its_place_in_the_answer_of_each_engine() -> None:
    """Paper A, III.A; what repeats does not count twice."""
    [seed, *_] = choose_seeds({"g": ["a", "a", "u"], "y": ["u"], "m": ["a"]}, 1)
    assert seed.url == "a"
    assert seed.ranks == {"g": 1, "m": 1}
    [_, seed, *_] = choose_seeds({"g": ["a", "a", "u"], "y": ["u"], "m": ["a"]}, 2)
    assert seed.ranks == {"g": 2, "y": 1}


@pytest.mark.parametrize("limit", [0, -1, 500, 10_000])
def test_fewer_than_500_seeds_are_taken(limit: int) -> None:
    """Paper E, 2.5.1: "The top N (N<500) URL's"."""
    with pytest.raises(BadInput, match=rf"seeds.limit is {limit}; .* from 1 to 499"):
        choose_seeds({"g": ["u"]}, limit)


def test_the_top_499_are_taken_in_the_order_of_a_single_engine() -> None:
    found = [f"u{n}" for n in range(600)]
    assert [seed.url for seed in choose_seeds({"g": found}, 499)] == found[:499]


@given(FINDINGS, st.integers(1, 499))
def test_high_comes_before_medium_before_low_and_promises_fall(
    findings: dict[str, list[str]], limit: int
) -> None:
    seeds = choose_seeds(findings, limit)
    found = {url for urls in findings.values() for url in urls}
    assert len(seeds) == min(limit, len(found))
    assert len({seed.url for seed in seeds}) == len(seeds)
    promises = [seed.promise for seed in seeds]
    assert promises == sorted(set(promises), reverse=True)
    assert all(0 < promise < 1 for promise in promises)
    order = [*Priority]
    classes = [order.index(seed.priority) for seed in seeds]
    assert classes == sorted(classes)
    for seed in seeds:
        vouching = {name for name, urls in findings.items() if seed.url in urls}
        assert set(seed.sources) == vouching
        assert (seed.priority is Priority.HIGH) == (len(vouching) > 1)


def test_given_addresses_become_canonical_and_come_once() -> None:
    given = ["http://uiet.puchd.ac.in:80/", "HTTP://Ex.com/a/../b#x", "http://ex.com/b"]
    assert canonical_given(given) == ["http://uiet.puchd.ac.in/", "http://ex.com/b"]


@pytest.mark.parametrize("address", ["", "ex.com", "javascript:alert(1)", "ftp://x/"])
def test_what_is_no_address_is_refused_by_name(address: str) -> None:
    with pytest.raises(BadInput, match="is not a URL; write http"):
        canonical_given(["http://fine.test/", address])


def test_promises_of_a_class_are_evenly_spread_between_its_floor_and_the_next():
    assert list(spread(["a"], 0.25)) == [("a", 0.375)]
    assert list(spread(["a", "b", "c"], 0.5)) == [
        ("a", 0.6875),
        ("b", 0.625),
        ("c", 0.5625),
    ]
