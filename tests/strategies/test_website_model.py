"""Website models: which queue, which phase, and what a new profile changes."""

from math import sqrt

import pytest

from opilio.records import State, Subject
from opilio.strategies.shared.website_distiller import USER
from opilio.strategies.website_model import LIFTED, SWEEP
from strategies.site_pages import Crawl, lease, link, make, of

# An ontology of two concepts, one of them with two names; the user asks for something.
PC = Subject(
    weights={"cheap": 1.0},
    concepts={
        "cpu": ("CPU", 1.0),
        "processor": ("CPU", 1.0),
        "ram": ("RAM", 0.5),
    },
)
LETTER = {"mode": "paper", "user_share": 0}


def a_profiled_site(crawl: Crawl) -> None:
    """Of site a 3 pages: R = 2/3; of these P(CPU) = 1, P(RAM) = 1/2."""
    crawl.visit("a/1", ["a/2"], 0.9, {"cpu": 5, "ram": 3})
    crawl.visit("a/2", ["a/3"], 0.9, {"processor": 1})
    crawl.visit("a/3", ["a/4"], 0.0, {"ram": 1})


def test_a_link_on_an_indefinite_site_is_scored_by_its_anchor():
    # Eq. 5, C.5-7: N_S < 3; the number of anchor terms in D, times W_2 = 2.
    crawl = Crawl(make("website-model", LETTER, PC))
    anchor = link("a/cpu", "cpu ram processor", {"cpu": 1, "ram": 1, "processor": 1})
    crawl.visit("a/1", [anchor, "a/other", "b/new"], 0.9)
    assert crawl.promise("a/cpu") == 6.0
    assert crawl.parts[of("a/cpu")] == {"ULScore(U,2) phase 2": 6.0}
    # Table 1, F=3: 1 where the models know nothing, else 0.5.
    assert crawl.promise("b/new") == 1.0
    assert crawl.promise("a/other") == 0.5
    assert crawl.parts[of("a/other")] == {"ULScore(U,3)": 0.5}


def test_a_link_inside_a_profiled_site_is_scored_by_what_the_site_lacks():
    # Eq. 3: R·((1-1) + (1-1/2)) = 1/3, times 2; all links inside are alike.
    crawl = Crawl(make("website-model", LETTER, PC))
    a_profiled_site(crawl)
    assert crawl.promise("a/4") == pytest.approx(2 / 3)
    assert list(crawl.parts[of("a/4")]) == ["ULScore(U,2) phase 1"]


def test_a_link_out_of_a_profiled_site_is_scored_by_its_anchor_and_the_site():
    # Eq. 6: R·(2·P(CPU) + 1·P(RAM)) = 2/3·2.5, times 2.
    crawl = Crawl(make("website-model", LETTER, PC))
    a_profiled_site(crawl)
    anchor = link("b/1", "processor cpu ram", {"processor": 1, "cpu": 1, "ram": 1})
    # The profile is that of 3 pages; the 4th does not change it.
    crawl.visit("a/4", [anchor], 0.0)
    assert crawl.promise("b/1") == pytest.approx(2 * 2 / 3 * 2.5)
    assert list(crawl.parts[of("b/1")]) == ["ULScore(U,2) phase 3"]


def test_only_the_phases_that_are_asked_for_choose_links():
    crawl = Crawl(make("website-model", LETTER | {"phases": "3"}, PC))
    a_profiled_site(crawl)
    crawl.visit("a/4", [link("a/5", "cpu", {"cpu": 1}), "a/6"])
    assert crawl.promise("a/5") == pytest.approx(2 * 2 / 3)
    assert crawl.promise("a/6") == 0.5


def test_phases_come_one_after_another_if_they_are_to():
    # C.5-8: a phase runs while it yields a URL with S_2 > 0, then the next.
    crawl = Crawl(make("website-model", LETTER | {"progressive": True}, PC))
    a_profiled_site(crawl)
    crawl.visit("b/1", [link("b/2", "cpu", {"cpu": 9})])
    crawl.visit("a/5", [link("c/1", "cpu", {"cpu": 99}), "c/2"])
    order = ["a/4", "b/2", "c/1", "c/2"]
    assert sorted(order, key=crawl.promise, reverse=True) == order


def test_fixed_scores_count_all_concepts_and_are_never_nothing():
    # C.5-4 and 12: R = (0 + 2·1/5)/(3 + 2); no page in the domain, so P = 1/2 each.
    crawl = Crawl(make("website-model", {"user_share": 0}, PC))
    for number in range(3):
        crawl.visit(f"a/{number}", [f"a/{number + 1}"], 0.0)
    gap = 0.4 / 5 * (0.5 + 0.5)
    assert 2 * gap < 0.5  # so F=3 says more
    assert crawl.promise("a/3") == 0.5
    strict = Crawl(make("website-model", {"user_share": 0, "progressive": True}, PC))
    for number in range(3):
        strict.visit(f"a/{number}", [f"a/{number + 1}"], 0.0)
    parts = strict.parts[of("a/3")]
    assert parts["ULScore(U,2) phase 1"] == pytest.approx(2 * gap)


def test_ties_are_broken_by_the_anchor_and_long_anchors_do_not_win():
    # C.5-5 and 10: count/√len.
    crawl = Crawl(make("website-model", {"user_share": 0}, PC))
    a_profiled_site(crawl)
    short = link("a/s", "cpu", {"cpu": 1})
    long = link("a/l", "all that a cpu needs", {"cpu": 1})
    crawl.visit("a/4", ["a/5", long, short])
    assert crawl.promise("a/s") > crawl.promise("a/l") > crawl.promise("a/5")
    named = 1 / sqrt(5)
    assert crawl.parts[of("a/l")]["Anchor(U,D)"] == pytest.approx(
        0.001 * named / (1 + named)
    )


def test_what_the_user_asks_for_is_served_first():
    # Fig. 5 and C.4-1: R = 0.5, two matching terms: S = 1, ULScore 2; C.5-1: modulated.
    crawl = Crawl(make("website-model", {"mode": "paper"}, PC))
    crawl.visit("a/1", [], 0.9)
    crawl.visit("a/2", [], 0.0)
    crawl.visit("a/3", [], 0.0)
    crawl.visit("a/4", [], 0.9)
    crawl.visit("a/5", [], 0.9)
    crawl.visit("a/6", [], 0.0)  # R = 3/6, in the profile of 6 pages
    wanted = link("b/1", "cheap and cheap", {"cheap": 2})
    crawl.visit("a/7", [wanted, link("b/2", "cpu", {"cpu": 50})])
    assert crawl.parts[of("b/1")] == {
        "ULScore(U,2) user": 2.0,
        "tier: User Priority Queue": USER,
    }
    assert crawl.next() == "b/1"


def test_the_website_queue_is_not_starved():
    # C.5-3: with a share of 3/4, each fourth visit is of the other queue.
    crawl = Crawl(make("website-model", {"user_share": 0.75}, PC))
    asked = [link(f"b/{n}", "cheap", {"cheap": 1}) for n in range(12)]
    crawl.visit("a/0", [*asked, "a/plain", link("a/cpu", "cpu", {"cpu": 1})])
    visited = []
    for _ in range(7):
        visited.append(crawl.next())
        crawl.visit(visited[-1])
    assert visited[3] == "a/cpu"  # the best of the queue
    assert [place[0] for place in visited] == list("bbbabbb")
    assert crawl.next() == "a/plain"
    assert crawl.promise("a/plain") > LIFTED


def test_a_visit_without_a_page_counts_too():
    crawl = Crawl(make("website-model", {"user_share": 0.5}, PC))
    asked = [link(f"b/{n}", "cheap", {"cheap": 1}) for n in range(3)]
    crawl.visit("a/0", [*asked, "a/plain"])
    crawl.strategy.missed(lease("b/0"), State.UNUSABLE)
    crawl.waiting.pop(of("b/0"))
    assert crawl.next() == "b/1"
    crawl.visit("c/1")
    assert crawl.next() == "a/plain"


def test_a_new_profile_revises_links_that_wait():
    crawl = Crawl(make("website-model", LETTER, PC))
    crawl.visit("a/1", [link("b/1", "cpu", {"cpu": 1})], 0.9, {"cpu": 1})
    assert crawl.promise("b/1") == 2.0  # phase 2
    crawl.visit("a/2", [], 0.0)
    assert crawl.promise("b/1") == 2.0
    crawl.visit("a/3", [], 0.0)
    assert crawl.promise("b/1") == 1.0  # phase 3: 2·1/3·1, but F=3 gives 1
    crawl.visit("a/4", [], 0.9, {"cpu": 1})
    crawl.visit("a/5", [], 0.9, {"cpu": 1})
    assert crawl.promise("b/1") == 1.0  # nothing moves between 3 and 6 pages
    crawl.visit("a/6", [], 0.9, {"cpu": 1})
    assert crawl.promise("b/1") == pytest.approx(2 * 4 / 6)


def test_revising_many_links_is_spread_over_pages():
    strategy = make("website-model", LETTER, PC)
    crawl = Crawl(strategy)
    many = [link(f"b/{n}", "cpu", {"cpu": 3}) for n in range(SWEEP + 10)]
    crawl.visit("a/1", many, 0.9, {"cpu": 1})
    crawl.visit("a/2", [], 0.0)
    crawl.visit("a/3", [], 0.0)
    revised = [n for n in range(len(many)) if crawl.promise(f"b/{n}") == 2.0]
    assert revised == list(range(SWEEP))
    crawl.visit("a/4", [], 0.0)
    assert crawl.promise(f"b/{SWEEP + 9}") == 2.0


def test_of_several_sites_the_best_counts():
    crawl = Crawl(make("website-model", LETTER, PC))
    a_profiled_site(crawl)
    crawl.visit("b/1", ["a/5"])
    assert crawl.promise("a/5") == 0.5
    crawl.visit("a/4", ["a/5"])
    assert crawl.promise("a/5") == pytest.approx(2 / 3)


def test_without_an_ontology_the_keywords_are_the_concepts():
    crawl = Crawl(make("website-model", LETTER, Subject(weights={"bee": 1.0})))
    crawl.visit("a/1", [link("a/2", "bee", {"bee": 1})])
    assert crawl.promise("a/2") == 2.0


def test_a_restart_changes_nothing():
    def live(crawl: Crawl, start: int, end: int) -> None:
        for n in range(start, end):
            links = [
                link(f"{'ab'[n % 2]}/{n + 50}", "cpu", {"cpu": 1}),
                link(f"c/{n}", "cheap", {"cheap": 1}),
                f"d/{n % 5}",
            ]
            crawl.visit(f"{'ab'[n % 2]}/{n}", links, n % 3 / 2, {"cpu": n})

    whole = Crawl(make("website-model", {"user_share": 0.5}, PC))
    live(whole, 0, 30)
    first = Crawl(make("website-model", {"user_share": 0.5}, PC))
    live(first, 0, 17)
    second = Crawl(make("website-model", {"user_share": 0.5}, PC))
    second.strategy.recall(first.strategy.changes())
    second.waiting, second.places = first.waiting, first.places
    live(second, 17, 30)
    assert second.waiting == whole.waiting


def test_a_new_table_moves_links_between_the_queues_and_counts_pages_anew():
    bees, chess = Subject(weights={"bee": 1.0}), Subject(weights={"chess": 1.0})
    crawl = Crawl(make("website-model", {}, bees))
    anchors = [link("a/b", "bee", {"bee": 1}), link("a/c", "chess", {"chess": 1})]
    crawl.visit("a/1", anchors, 0.9, {"bee": 3, "chess": 2})
    assert crawl.promise("a/b") > USER > crawl.promise("a/c")
    model = crawl.strategy
    model.seek(chess)
    crawl.rescore("a/1", anchors, 0.0, {"bee": 3, "chess": 2})
    assert crawl.promise("a/c") > USER > crawl.promise("a/b")
    # The page is no longer of the domain; that of its site counts pages once.
    counts = model.distiller.sites["a.test"].counts
    assert (counts.pages, counts.in_domain, dict(counts.concepts)) == (1, 0, {})
    assert model.distiller.everything.pages == 1
    # What was visited meanwhile does not wait again.
    crawl.visit("a/c", [], 0.9, {"chess": 1})
    crawl.rescore("a/1", anchors, 0.9, {"bee": 3, "chess": 2})
    assert model.waiting[of("a/c")] is None
    assert dict(counts.concepts) == {"chess": 2}
