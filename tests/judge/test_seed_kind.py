"""What the chosen seeds stand for: whole sites, or pages of a kind."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.judge.seed_kind import (
    DOUBTFUL,
    HUB,
    NAMED,
    ORDINARY,
    PLAIN,
    RARE,
    SEED_SITE,
    SITES,
    USUAL,
    SeedKind,
    shares_of,
)


def shares(first: list[float], hosts: list[int]) -> list[float]:
    """The shares of pages that are all seeds."""
    seeds = np.ones(len(first), bool)
    found = shares_of(np.array(first, np.float32), seeds, np.array(hosts))
    return found.tolist()


def kind(
    share: list[float], homes: list[str], named: list[bool], ordinary: float = ORDINARY
) -> SeedKind:
    shares = np.array(share, np.float32)
    return SeedKind.of_seeds(shares, homes, np.array(named), ordinary)


def test_a_seed_counts_by_what_the_keywords_say_and_less_if_it_leads_to_many_hosts():
    assert shares([0.8, 0.4], [1, 1]) == pytest.approx([1, 0.25])
    hub = int(HUB)
    one = 1 + (1 / HUB) ** 2
    assert shares([0.8, 0.8], [1, hub]) == pytest.approx([1, one / 2], rel=1e-4)


def test_a_seed_that_the_keywords_hardly_speak_for_is_a_weak_example():
    assert shares([DOUBTFUL / 2], [0]) == pytest.approx([0.25])


def test_pages_that_are_no_seeds_have_no_share():
    seeds = np.array([False, True])
    first = np.array([0.9, 0.6], np.float32)
    assert shares_of(first, seeds, np.array([0, 0])).tolist() == [0, 1]
    assert not shares_of(first, ~seeds & seeds, np.array([0, 0])).any()


def test_a_home_page_among_the_seeds_stands_for_sites():
    found = kind([1, 0.1], ["bees.test", "hub.test"], [False, False])
    assert (found.sites, found.named) == (1, 0)
    assert list(found.homes) == ["bees.test"]  # the other one is a weak example


def test_a_keyword_in_the_address_of_a_seed_stands_for_pages_of_a_kind():
    found = kind([1, 0.9], ["", "bees.test"], [True, False])
    assert (found.sites, found.named) == (0, 1)
    assert found.near("bees.test", 3.0) == 0  # sites say nothing then


def test_other_pages_of_a_site_count_more_if_sites_are_sought():
    assert SeedKind().near("a.test", 0.5) == 0.5
    assert SeedKind(sites=1).near("a.test", 0.5) == 0.5 * (1 + SITES)


def test_the_site_of_a_seed_is_near_whatever_its_pages_say():
    found = SeedKind(sites=1, homes={"bees.test": 0.8})
    assert found.near("bees.test", -2.0) == 0.8 * SEED_SITE * (1 + SITES)
    assert found.near("bees.test", 3.0) == 3.0 * (1 + SITES)


def test_addresses_count_if_pages_of_a_kind_are_sought():
    assert SeedKind(named=1).address(1.0, 0.5) == pytest.approx(NAMED - USUAL)
    assert SeedKind(named=1).address(0.0, 0.5) == -USUAL
    assert SeedKind().address(1.0, 0.5) == pytest.approx(PLAIN * 0.25)
    assert SeedKind().address(0.0, 0.5) == 0


def test_rare_keywords_in_the_address_of_a_seed_name_no_kind_of_pages():
    assert kind([1], [""], [True], RARE).named == 0
    assert kind([1], [""], [True], (RARE + ORDINARY) / 2).named == pytest.approx(0.5)
