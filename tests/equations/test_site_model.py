"""The equations of paper C (Yang) with the numbers of papers.md C.4."""

import pytest

from opilio.equations.site_model import (
    KNOWN_SCORE,
    NEW_SCORE,
    REFRESH_WEIGHTS,
    SEARCH_SCORE,
    THW,
    Profile,
    SiteCounts,
    Source,
    WebType,
    literal_profile,
    main_concepts,
    smoothed_profile,
    ul_score,
    web_type,
)

BOTH = ["CPU", "RAM"]


def test_a_search_string_outranks_any_link_of_a_usual_score():
    # C.4-1, table 1: search string 300; F=3 new 1.0, known 0.5; F=2 with R = 0.5 and
    # two matching anchor terms 2.0.
    """Yang, 4.1: "all search strings are treated as the top-priority requests"."""
    assert [*Source] == [1, 2, 3]  # F
    assert ul_score(Source.SEARCH, SEARCH_SCORE) == 300
    assert ul_score(Source.EXTRACTED, NEW_SCORE) == 1.0
    assert ul_score(Source.EXTRACTED, KNOWN_SCORE) == 0.5
    assert ul_score(Source.MODEL, 0.5 * 2) == 2.0
    assert ul_score(Source.MODEL, 149.9) < ul_score(Source.SEARCH, 100)


def test_the_relation_is_the_share_of_pages_in_the_domain():
    # C.4-2, eq. 2: 3 domain pages of 4.
    site = SiteCounts()
    for in_domain in (True, True, False, True):
        site.add(in_domain, [])
    assert literal_profile(site).relation == 0.75


def test_the_gap_is_what_the_site_does_not_cover():
    # C.4-3, eq. 3: R = 0.5, P = {1.0, 0.5, 0.25}.
    profile = Profile(0.5, {"a": 1.0, "b": 0.5, "c": 0.25})
    assert profile.gap() == pytest.approx(0.625)
    # C.5-4: a concept without a page counts in full, if it is to.
    assert profile.gap(concepts=4) == pytest.approx(0.625 + 0.5)


def test_an_outbound_link_is_worth_what_its_anchor_names():
    # C.4-4, eq. 6: R = 0.5, anchor with 2 terms of C1 (0.5) and 1 of C2 (0.25).
    profile = Profile(0.5, {"C1": 0.5, "C2": 0.25})
    assert profile.outbound({"C1": 2, "C2": 1}) == pytest.approx(0.625)
    assert profile.outbound({"C3": 5}) == 0


def test_what_is_refreshed_goes_by_the_type_of_the_site():
    # C.4-5, table 2; equation 7 itself is in tests/sites/test_refresh.py.
    com, net, org, edu, gov = (
        REFRESH_WEIGHTS[kind]
        for kind in (WebType.COM, WebType.NET, WebType.ORG, WebType.EDU, WebType.GOV)
    )
    assert (com, edu) == (0.62, 0.08)
    assert com > net == org > edu > gov
    assert REFRESH_WEIGHTS[WebType.OTHER] == edu  # not in the table


def test_pages_count_for_their_main_concepts():
    # C.4-6, figure 6: THW = 2.
    site = SiteCounts()
    for counts in (
        {"CPU": 5, "RAM": 3, "GPU": 1},
        {"RAM": 2},
        {"GPU": 4, "CPU": 4},
    ):
        site.add(True, main_concepts(counts, 2))
    assert site.concepts == {"CPU": 2, "RAM": 2, "GPU": 1}
    assert main_concepts(dict.fromkeys("ABCDEF", 1), THW) == [*"ABCDE"]  # C.5-11
    assert literal_profile(site).proportions["GPU"] == pytest.approx(1 / 3)


def test_pages_outside_the_domain_count_for_no_concept():
    # Figure 6: only OntoPages(S).
    site = SiteCounts()
    site.add(False, ["CPU"])
    assert literal_profile(site) == Profile(0.0, {})


def test_a_page_that_is_gone_counts_no_more():
    site = SiteCounts()
    assert literal_profile(site) == Profile(0.0, {})
    site.add(True, BOTH)
    site.add(True, ["CPU"])
    site.add(False, [])
    site.remove(True, ["CPU"])
    assert literal_profile(site) == Profile(1 / 2, {"CPU": 1.0, "RAM": 1.0})
    site.remove(False, [])
    assert literal_profile(site) == Profile(1.0, {"CPU": 1.0, "RAM": 1.0})


@pytest.mark.parametrize(
    ("host", "number"),
    [
        ("www.x.com", 1),
        ("x.net", 2),
        ("www.x.edu", 3),
        ("x.gov", 4),
        ("x.org:8080", 5),
        ("x.info", 0),
        ("www.x.edu.tw", 3),  # C.5-9
        ("x.ac.in", 3),
        ("x.co.uk", 1),
        ("x.gov.uk", 4),
        ("co.in", 0),
        ("x.co", 0),  # Colombia
        ("x.de", 0),
        ("localhost", 0),
    ],
)
def test_the_name_of_a_host_tells_its_type(host: str, number: int):
    # C.4-8 and the webpage profile [39]: com 1, net 2, edu 3, gov 4, org 5, other 0.
    assert web_type(host) == number


def test_a_new_site_is_believed_to_be_like_all_others():
    # C.5-12: (N_SD + α·π)/(N_S + α), α = 2.
    everything, site = SiteCounts(), SiteCounts()
    for number in range(8):
        everything.add(number < 4, ["CPU"])
    new = smoothed_profile(site, everything, BOTH)
    assert new.relation == pytest.approx(0.5)  # π = (4+1)/(8+2)
    assert new.proportions == pytest.approx({"CPU": 5 / 6, "RAM": 1 / 6})
    site.add(True, ["CPU"])
    assert smoothed_profile(site, everything, BOTH).relation == pytest.approx(2 / 3)


def test_nothing_seen_at_all_is_as_likely_as_not():
    profile = smoothed_profile(SiteCounts(), SiteCounts(), BOTH)
    assert profile == Profile(0.5, {"CPU": 0.5, "RAM": 0.5})
