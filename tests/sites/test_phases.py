"""Which links the evolver asks for, phase by phase; equations as papers.md has them."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.profiles.models import load_sites
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.settings import BoundsSettings
from opilio.sites.host_budgets import SPENT, limits
from opilio.sites.phases import Choice, Phase, foremost
from opilio.sites.waiting_links import WaitingLinks
from opilio.storage.database import open_database
from opilio.subject.compile import compile_topic
from opilio.topic import Topic

DOMAIN = SubjectConcepts(
    compile_topic(Topic(name="bees", keywords=("bee", "honey", "hive")))
)


class Known:
    """A crawl.db with sites and links that wait."""

    def __init__(self, path: Path) -> None:
        self.db = open_database(path)
        self.links = 0
        self.hosts: dict[str, int] = {}
        self.spent: list[int] = []

    def host(self, name: str) -> int:
        if name not in self.hosts:
            self.hosts[name] = len(self.hosts) + 1
            self.db.execute(
                "INSERT INTO host (id, name, domain) VALUES (?, ?, ?)",
                (self.hosts[name], name, name),
            )
        return self.hosts[name]

    def link(self, url: str, anchor="", found_on=0, state="waiting") -> int:
        self.links += 1
        self.db.execute(
            "INSERT INTO link VALUES (?, ?, ?, ?, 0, ?, NULL, 1, 0, 0, 0, 0, ?, ?, "
            "NULL)",
            (
                self.links,
                url,
                self.links,
                self.host(url.split("/")[2]),
                state,
                found_on,
                anchor,
            ),
        )
        return self.links

    def site(self, name: str, pages: int, in_domain: int, **concepts: int) -> int:
        """A site whose homepage is a seed; answers the id of that."""
        home = self.link(f"http://{name}/", state="kept")
        self.db.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, score) "
            "VALUES (?, ?, 0, 200, 9, 0.5)",
            (home, home),
        )
        self.db.execute(
            "INSERT INTO site (host, pages, in_domain, concepts, entry, root) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (self.host(name), pages, in_domain, json.dumps(concepts), home, home),
        )
        return home

    def best(self, phase: Phase, mode="paper", most=10, without=()):
        links = WaitingLinks(DOMAIN)
        links.take(self.db)
        links.close(without)
        choice = Choice(load_sites(self.db, DOMAIN, mode), links, self.spent)
        chosen = choice.best(phase, most)
        return [(one.url, pytest.approx(one.score)) for one in chosen]


@pytest.fixture
def known(tmp_path: Path):
    made = Known(tmp_path / "crawl.db")
    yield made
    made.db.close()


def test_phase_1_is_equation_3_to_the_letter(known):
    """C.4-3: R = 0.5, P = {1.0, 0.5, 0.25} gives 0.625. Yang, section 4.3: "prefers
    expanding the websites that are well profiled in the website models"."""
    home = known.site("a.test", 8, 4, bee=4, honey=2, hive=1)
    known.link("http://a.test/x", found_on=home)
    known.link("http://b.test/x", found_on=home)  # in no site that is known well
    assert known.best(Phase.FILL) == [("http://a.test/x", 0.625)]


@pytest.mark.parametrize("mode", ["paper", "fixed"])
def test_phase_1_leaves_indefinite_sites_to_phase_2(known, mode):
    """C.5-7: a site with fewer than three pages is indefinite."""
    home = known.site("new.test", 2, 2, bee=1, honey=1)
    known.link("http://new.test/x", "honey", found_on=home)
    assert known.best(Phase.FILL, mode) == []
    assert [url for url, _ in known.best(Phase.COMPLETE, mode)] == ["http://new.test/x"]


def test_a_concept_that_a_site_lacks_counts_only_in_fixed_mode(known):
    """C.5-4: equation 3 leaves out P = 0, against what is meant."""
    full = known.site("full.test", 8, 4, bee=4, honey=4, hive=4)
    lacks = known.site("lacks.test", 8, 4, bee=4)
    known.link("http://full.test/x", found_on=full)
    known.link("http://lacks.test/x", found_on=lacks)
    assert known.best(Phase.FILL) == []  # what each has, it has on every page
    assert [url for url, _ in known.best(Phase.FILL, "fixed")] == [
        "http://lacks.test/x",
        "http://full.test/x",
    ]


def test_links_of_a_site_are_told_apart_by_their_anchors_in_fixed_mode(known):
    """C.5-5: equation 3 gives all of them the same; then anchor, then FIFO."""
    home = known.site("a.test", 8, 4, bee=2)
    for name, anchor in (("x", "imprint"), ("y", ""), ("z", "honey")):
        known.link(f"http://a.test/{name}", anchor, home)
    letters = [url[-1] for url, _ in known.best(Phase.FILL)]
    assert letters == ["x", "y", "z"]
    letters = [url[-1] for url, _ in known.best(Phase.FILL, "fixed")]
    assert letters == ["z", "x", "y"]


def test_a_site_without_a_page_of_the_domain_is_not_filled_in(known):
    home = known.site("a.test", 8, 0)
    known.site("b.test", 8, 8, bee=8)
    known.link("http://a.test/x", found_on=home)
    assert known.best(Phase.FILL, "fixed") == []


def test_phase_2_counts_the_terms_of_links_on_sites_hardly_known(known):
    """(5), and C.5-7: indefinite is a site of fewer than three pages."""
    few = known.site("few.test", 1, 1, bee=1)
    well = known.site("well.test", 8, 4, bee=4)
    known.link("http://x.test/", "honey for the bee", few)
    known.link("http://y.test/", "bee honey hive", well)
    known.link("http://z.test/", "imprint", few)
    assert known.best(Phase.COMPLETE) == [("http://x.test/", 2.0)]
    [(_, score)] = known.best(Phase.COMPLETE, "fixed")
    assert score == 2 / sqrt(4)  # C.5-10: long anchors do not win


def test_phase_3_is_equation_6(known):
    """C.4-4: two terms with P = 0.5 and one with 0.25, R = 0.5, give 0.625."""
    home = known.site("a.test", 8, 4, bee=2, honey=1)
    known.link("http://x.test/", "bee bee honey", home)
    known.link("http://y.test/", "hive", home)  # P = 0
    assert known.best(Phase.FOLLOW) == [("http://x.test/", 0.625)]
    assert len(known.best(Phase.FOLLOW, "fixed")) == 2  # smoothed


def test_no_more_are_chosen_than_asked_for_and_none_twice(known):
    home = known.site("a.test", 8, 4, bee=2)
    ids = [known.link(f"http://a.test/{n}", "bee", home) for n in range(6)]
    assert len(known.best(Phase.FILL, most=2)) == 2
    rest = known.best(Phase.FILL, without=ids[:4])
    assert [url for url, _ in rest] == ["http://a.test/4", "http://a.test/5"]


def test_hosts_and_domains_whose_budget_is_spent_are_left_out(known):
    home = known.site("a.test", 8, 4, bee=2)
    known.link("http://a.test/x", "bee", home)
    known.link("http://b.test/x", "bee", home)
    known.db.execute("UPDATE host SET taken = id, domain = 'test'")  # 1 and 2

    def left(**told: int) -> int:
        rows = known.db.execute(SPENT, limits(BoundsSettings(**told)))
        known.spent = [host for (host,) in rows]
        return len(known.best(Phase.FOLLOW))

    assert [left(per_host=n) for n in (0, 1, 2, 3)] == [2, 0, 1, 2]
    assert [left(per_domain=n) for n in (0, 2, 3, 4)] == [2, 0, 0, 2]


def test_links_found_later_join_and_those_visited_meanwhile_do_not_count(known):
    home = known.site("a.test", 8, 4, bee=2)
    known.link("http://a.test/x", "bee", home)
    links = WaitingLinks(DOMAIN)
    links.take(known.db)
    known.link("http://a.test/y", "bee", home)
    known.link("http://a.test/z", "bee", home)
    known.db.execute("UPDATE link SET state = 'kept' WHERE url GLOB '*/x'")
    links.take(known.db)
    chosen = Choice(load_sites(known.db, DOMAIN), links).best(Phase.FILL, 2)
    assert [one.url[-1] for one in chosen] == ["y", "z"]


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=40),
    st.integers(1, 45),
)
def test_the_foremost_are_those_that_come_first_if_all_are_sorted(rows, most):
    keys = [np.array(column, float) for column in zip(*rows, strict=True)]
    found = foremost(keys or [np.zeros(0)], np.arange(len(rows)), most)
    in_order = sorted(range(len(rows)), key=lambda n: ([-v for v in rows[n]], n))
    assert found.tolist() == in_order[:most]
