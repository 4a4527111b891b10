"""How close a site is to the topic: its best pages, its home page, and labels."""

from __future__ import annotations

import msgspec
import pytest

from opilio.judge.site_evidence import KeptSites, SiteEvidence


def seen(homes: bool = True) -> SiteEvidence:
    """Three sites, the first of which is about the keywords."""
    evidence = SiteEvidence()
    for site, home, other in (("a", 0.3, 0.2), ("b", 0.0, 0.2), ("c", 0.0, 0.0)):
        evidence.add(site, home, is_home=homes)
        evidence.add(site, other)
    evidence.rescale()
    return evidence


def test_the_best_pages_and_the_home_page_count_half_each():
    evidence = seen()
    usual = (0.3**4 + 2 * 0.2**4) / 6
    best = ((0.3**4 + 0.2**4 + usual) / 3) ** 0.25
    assert evidence.near("a") == pytest.approx((best + 0.3) / 2)


def test_without_a_home_page_the_best_pages_tell():
    evidence = seen(homes=False)
    usual = (0.3**4 + 2 * 0.2**4) / 6
    assert evidence.near("b") == pytest.approx(((0.2**4 + usual) / 3) ** 0.25)


def test_a_site_whose_home_page_does_not_mention_the_subject_is_farther():
    assert seen().of("b") < seen(homes=False).of("b")


def test_sites_are_compared_with_each_other():
    evidence = seen()
    near = [evidence.of(site) for site in "abc"]
    assert near == sorted(near, reverse=True)
    assert sum(near) == pytest.approx(0, abs=1e-6)
    assert evidence.of("new") == 0


def test_a_home_page_of_like_meaning_brings_its_site_nearer():
    evidence = SiteEvidence()
    for site, meaning in (("a", 0.2), ("b", 0.5), ("c", 0.2), ("d", 0.0)):
        evidence.add(site, 0.1, is_home=True, meaning=meaning)
    evidence.rescale()
    assert evidence.of("b") > evidence.of("a") == evidence.of("c")
    # Of d the meaning is not known, so it is neither nearer nor farther.
    assert evidence.of("b") > evidence.of("d") > evidence.of("a")


def test_meaning_and_keywords_count_alike():
    evidence = SiteEvidence()
    sites = (("a", 0.3, 0.1), ("b", 0.1, 0.5), ("c", 0.2, 0.3))
    for site, cosine, meaning in sites:
        evidence.add(site, cosine, is_home=True, meaning=meaning)
    evidence.rescale()
    # Where they contradict each other, no site stands out.
    assert [evidence.of(site) for site in "abc"] == pytest.approx([0] * 3, abs=0.1)


def test_the_meaning_of_other_pages_says_nothing_about_their_site():
    evidence = seen()
    before = evidence.of("b")
    evidence.add("b", 0.0, meaning=0.9)
    assert evidence.meanings == {}
    assert evidence.of("b") < before


def test_a_label_speaks_for_its_site():
    evidence = seen()
    before = {site: evidence.of(site) for site in "abc"}
    evidence.label([("a", False), ("c", True), ("c", True)])
    assert evidence.of("a") == pytest.approx((before["a"] - 3) / 2)
    assert evidence.of("b") == before["b"]
    assert evidence.of("c") == pytest.approx((before["c"] + 6) / 3)
    evidence.label([])
    assert evidence.of("a") == before["a"]


def test_labels_say_nothing_while_few_sites_are_known():
    evidence = SiteEvidence()
    evidence.add("a", 0.3)
    evidence.rescale()
    evidence.label([("a", True)])
    assert evidence.of("a") == 0


def test_what_is_stored_is_restored_also_from_before_home_pages_counted():
    evidence = seen()
    again = SiteEvidence()
    stored = msgspec.msgpack.encode(evidence.kept())
    again.restore(msgspec.msgpack.decode(stored, type=KeptSites))
    assert [again.of(site) for site in "abc"] == [evidence.of(site) for site in "abc"]
    older = msgspec.msgpack.encode(msgspec.msgpack.decode(stored)[:5])
    again.restore(msgspec.msgpack.decode(older, type=KeptSites))
    assert again.homes == {}
    assert again.of("a") == seen(homes=False).of("a")


def test_scales_are_restored_as_they_were_measured_last():
    evidence = seen()
    for number in range(4):
        evidence.add(f"d{number}", 0.2, is_home=True, meaning=0.1 * number + 0.1)
    evidence.rescale()
    evidence.add("late", 0.4, is_home=True, meaning=0.9)
    again = SiteEvidence()
    stored = msgspec.msgpack.encode(evidence.kept())
    again.restore(msgspec.msgpack.decode(stored, type=KeptSites))
    for site in ("a", "d0", "d3", "late"):
        assert again.of(site) == evidence.of(site)
