"""Koundal's ordering metric: golden tests of papers.md, part B."""

from collections.abc import Mapping

import numpy as np
import pytest

from opilio.records import Block, Counted, Knowledge, Lease, Page, Subject
from opilio.strategies.ordering import Ordering, OrderingOptions, ordering
from opilio.strategies.shared.ordering_fit import fit
from opilio.text.urls import fingerprint
from strategies.ranked_pages import lease, link, page, promises, reasons, verdict

# Terms that name a concept with that nearness each.
CONCEPTS = {
    term: (term.title(), near)
    for term, near in {"half": 0.5, "four": 0.4, "three": 0.3, "one": 0.1}.items()
}
ONTOLOGY = Subject(concepts=CONCEPTS, weights={"half": 1.0})
KEYWORDS = Subject(weights={"bird": 1.0})


def make(subject: Subject = ONTOLOGY, **options: object) -> Ordering:
    return Ordering(OrderingOptions(**options), Knowledge(subject=subject))


def read(strategy: Ordering, name: str, found: Page, score=0.6) -> dict[str, float]:
    """Let it read a page; answers what its links promise."""
    return promises(strategy.rank(found, verdict(score), lease(name)))


def revised(strategy: Ordering, names: str) -> dict[str, float]:
    """What the frontier is told afterwards."""
    urls = {fingerprint(f"http://web.test/{name}"): name for name in names.split()}
    return {urls.get(url, "?"): promise for url, promise, _ in strategy.revise()}


def about(term: str, *links: object) -> Page:
    return page(links, terms={term: 1}, norm=1.0)


U = link("u", anchor=Counted({"half": 1}, 1.0))


def test_the_metric_is_the_weighted_sum_of_its_terms():
    """papers.md B.4-2: CI = 0.2, AS(u) = 0.5, parents 0.4 and 0.3, TD = 0: 1.4; with a
    third parent of 0.1: 1.5."""
    b = np.ones(4)
    assert ordering(b, np.array([[0.2, 0.5, 0.4 + 0.3, 0.0]])) == pytest.approx(1.4)
    assert ordering(b, np.array([[0.2, 0.5, 0.8, 0.0]])) == pytest.approx(1.5)


def test_each_new_parent_adds_its_association_without_fetching_the_link():
    """papers.md B.4-2 through pages: AS(u) = 0.5 and parents of 0.4, 0.3, then 0.1. CI
    is left out, since a PageRank of 0.2 cannot stay 0.2 with a third parent. Koundal,
    section 5.C: "it selects the URL u such that O(u) has the highest value among all
    URLs in the queue"."""
    strategy = make(mode="paper", b1=0.0)
    assert read(strategy, "p1", about("four", U)) == pytest.approx({"u": 0.9})
    assert read(strategy, "p2", about("three", U)) == pytest.approx({"u": 1.2})
    assert read(strategy, "p3", about("one", U)) == pytest.approx({"u": 1.3})


def test_the_parts_are_the_papers_terms_and_add_up():
    strategy = make(mode="paper", b1=2.0, b4=3.0)
    divided = page([U], terms={"four": 1}, norm=1.0, blocks=[Block(terms={"one": 1})])
    [ranked] = strategy.rank(divided, verdict(0.6), lease("p"))
    rank = 0.15 + 0.85 * 0.15
    assert ranked.parts == pytest.approx(
        {"b1·CI(u)": 2 * rank, "b2·AS(u)": 0.5, "b3·ΣAS(p)": 0.4, "b4·TD(u)": 0.3}
    )
    assert ranked.promise == pytest.approx(sum(ranked.parts.values()))


def test_back_links_count_beside_pagerank_where_asked_for():
    """papers.md B.5-2: CI = PageRank + w·back-links."""
    strategy = make(mode="paper", b2=0.0, b3=0.0, b4=0.0, backlinks=10.0, damping=0.0)
    assert read(strategy, "p1", about("one", "u")) == {"u": 11.0}
    assert read(strategy, "p2", about("one", "u")) == {"u": 21.0}


def test_importance_is_a_share_of_the_greatest_when_fixed():
    """CI = (PageRank + w·back-links) / (1 + w), each in parts of the greatest, once
    PageRank was computed over 500 links."""
    strategy = make(b2=0.0, b3=0.0, b4=0.0, backlinks=1.0)
    rank = 0.15 + 0.85 * 0.15
    assert read(strategy, "p0", page(["v"])) == pytest.approx({"v": (rank + 1) / 2})
    read(strategy, "p1", page(["u", *(f"a{n}" for n in range(299))]))
    told = read(strategy, "p2", page(["u", *(f"b{n}" for n in range(299))]))
    share = 0.85 * 0.15 / 300
    least = (0.15 + share) / rank  # v of p0 has the greatest PageRank
    assert told["b0"] == pytest.approx((least + 1 / 2) / 2)
    assert told["u"] == pytest.approx(((0.15 + 2 * share) / rank + 1) / 2)
    alone = make(b2=0.0, b3=0.0, b4=0.0, backlinks=1.0)
    links = [f"c{n}" for n in range(500)]
    assert set(read(alone, "p", page(links)).values()) == {1.0}


def test_the_mean_of_parents_may_fall_and_the_frontier_hears_of_it():
    """papers.md B.5-4: `fixed` has the mean, or a noisy or, in place of the sum."""
    only = {"b1": 0.0, "b2": 0.0, "b4": 0.0}
    strategy = make(KEYWORDS, **only)
    assert read(strategy, "p1", page(["u"]), 0.8) == pytest.approx({"u": 0.8})
    assert revised(strategy, "u") == {}
    assert read(strategy, "p2", page(["u"]), 0.2) == pytest.approx({"u": 0.5})
    assert revised(strategy, "u") == pytest.approx({"u": 0.5})
    noisy = make(KEYWORDS, parents="noisy-or", **only)
    read(noisy, "p1", page(["u"]), 0.8)
    assert read(noisy, "p2", page(["u"]), 0.2) == pytest.approx({"u": 1 - 0.2 * 0.8})


def test_in_mode_fixed_no_term_exceeds_one():
    strategy = make(parents="noisy-or", backlinks=1.0)
    for number in range(30):
        links = [U, *(f"{number}-{other}" for other in range(40))]
        [first, *_] = strategy.rank(
            about("half", *links), verdict(1), lease(f"{number}")
        )
        assert all(0 <= part <= 1 for part in first.parts.values())


def test_a_link_has_the_best_of_all_places_where_it_was_found():
    strategy = make(KEYWORDS, b1=0.0, b3=0.0)
    blocks = [Block(), Block(terms={"bird": 1}, norm=2.0)]
    told = link("u", anchor=Counted({"bird": 1}, 1.0), block=1)
    assert read(strategy, "p1", page([told], blocks=blocks)) == pytest.approx(
        {"u": 1.5}
    )
    assert read(strategy, "p2", page(["u"], blocks=blocks)) == pytest.approx({"u": 1.5})


def test_the_words_of_a_link_count_together():
    """By hand: bird stands there twice, and the length is √(2 + 2)."""
    strategy = make(KEYWORDS, b1=0.0, b3=0.0, b4=0.0)
    spread = link(
        "u", anchor=Counted({"bird": 1}, 2**0.5), around=Counted({"bird": 1}, 2**0.5)
    )
    expected = (1 + np.log(2)) / 2
    assert read(strategy, "p", page([spread])) == pytest.approx({"u": expected})


def test_distance_from_the_seed_may_stand_for_the_division():
    """papers.md B.5-1: TD = 1/(1 + depth)."""
    only = {"b1": 0.0, "b2": 0.0, "b3": 0.0}
    strategy = make(td="depth", **only)
    deep = strategy.rank(page(["u"]), verdict(1), lease("p", depth=2))
    assert promises(deep) == {"u": 0.25}
    assert read(make(td="none", **only), "p", page(["u"])) == {"u": 0.0}


def test_links_of_irrelevant_pages_may_be_refused():
    """papers.md B.5-6."""
    strategy = make(expand_irrelevant=False)
    refused = list(strategy.rank(page(["u", "v"]), verdict(0.1), lease("p")))
    assert reasons(refused) == {"u": "irrelevant_page", "v": "irrelevant_page"}
    assert [one.promise for one in refused] == [0.0, 0.0]
    assert len(strategy.graph) == 1
    assert set(read(strategy, "q", page(["u"]), 0.9)) == {"u"}


class Waiting(dict[str, float]):
    """A frontier of names."""

    def take(self, visits: Mapping[str, Page], strategy: Ordering) -> str:
        """Visit the best; what it brings waits."""
        name = max(self, key=self.__getitem__)
        del self[name]
        urls = {fingerprint(f"http://web.test/{one}"): one for one in self}
        ranked = strategy.rank(visits.get(name, page([])), verdict(0.6), lease(name))
        for found, promise in promises(ranked).items():
            if found in self or found.startswith("new"):
                self[found] = max(promise, self.get(found, promise))
                urls[fingerprint(f"http://web.test/{found}")] = found
        for url, promise, _ in strategy.revise():
            if url in urls:
                self[urls[url]] = promise
        return name


def by_anchor(nearness: Mapping[str, int]) -> list[object]:
    """Links whose AS(u) falls with the number: cosines of 1/n."""
    return [
        link(name, anchor=Counted({"bird": 1}, float(number)))
        for name, number in nearness.items()
    ]


def test_the_queue_of_three_over_seven_links_is_filled_with_three_three_and_one():
    """papers.md B.4-3: batches 3, 3, 1; scores that change do not reorder a batch.
    Koundal, section 5.A: "If the frontier doesn't contain k URLs, the queue is filled
    with all the URLs of the frontier"."""
    strategy = make(KEYWORDS, b1=0.0, b3=0.0, b4=0.0, k=3)
    seven = by_anchor({name: place for place, name in enumerate("abcdefg", start=1)})
    first = strategy.rank(page(seven), verdict(0.6), lease("seed"))
    waiting = Waiting(promises(first))
    waiting.update(revised(strategy, "a b c d e f g"))
    # a, the first, tells that g, c and a link that nobody knew are as good as can be.
    visits = {"a": page(by_anchor({"g": 1, "c": 1, "new": 1}))}
    ahead = [sorted(name for name in waiting if waiting[name] > 1000)]
    visited = []
    while waiting:
        visited.append(waiting.take(visits, strategy))
        if len(visited) % 3 == 0:
            ahead.append(sorted(name for name in waiting if waiting[name] > 1000))
    assert ahead == [["a", "b", "c"], ["d", "g", "new"], ["e", "f"]]
    assert "".join(visited[:3]) == "abc"
    assert set(visited[3:6]) == {"g", "new", "d"} and visited[5] == "d"
    assert visited[6:] == ["e", "f"]


def test_seven_links_that_bring_nothing_new_are_visited_as_three_three_and_one():
    """papers.md B.4-3, to the letter: how many are ahead after each filling."""
    strategy = make(KEYWORDS, b1=0.0, b3=0.0, b4=0.0, k=3)
    seven = by_anchor({name: place for place, name in enumerate("abcdefg", start=1)})
    waiting = Waiting(promises(strategy.rank(page(seven), verdict(0.6), lease("seed"))))
    waiting.update(revised(strategy, "a b c d e f g"))
    batches, visited = [], ""
    while waiting:
        ahead = sum(promise > 1000 for promise in waiting.values())
        if len(visited) % 3 == 0:
            batches.append(ahead)
        visited += waiting.take({}, strategy)
    assert batches == [3, 3, 1]
    assert visited == "abcdefg"


def test_a_visit_without_a_page_counts_for_the_queue():
    strategy = make(KEYWORDS, b1=0.0, b3=0.0, b4=0.0, k=1)
    three = by_anchor({"a": 1, "b": 2, "c": 3})
    list(strategy.rank(page(three), verdict(0.6), lease("seed")))
    assert set(revised(strategy, "a b c")) == {"a"}
    strategy.missed(lease("a"), "unusable")
    assert set(revised(strategy, "a b c")) == {"b"}


def test_a_place_in_the_queue_is_a_part_of_the_promise_and_without_k_there_is_none():
    queued, free = (make(KEYWORDS, k=k) for k in (1, 0))
    for strategy in (queued, free):
        list(strategy.rank(page(by_anchor({"a": 1, "b": 2})), verdict(1), lease("p")))
    [(_, promise, parts)] = queued.revise()
    assert promise > 1000
    assert sum(parts.values()) == pytest.approx(promise)
    assert [*free.revise()] == []


def test_weights_are_found_from_what_was_relevant():
    """papers.md B.5-3: only the second of four terms tells anything."""
    rng = np.random.default_rng(7)
    rows = rng.random((400, 4))
    b = fit(rows, (rows[:, 1] > 0.5).astype(float), np.ones(4))[:-1]
    assert b[1] > 5 and np.abs(np.delete(b, 1)).max() < 2


def test_weights_stay_as_given_while_all_pages_are_alike():
    b = fit(np.full((50, 4), 0.5), np.ones(50), np.array([1.0, 2.0, 3.0, 4.0]))[:-1]
    assert np.isfinite(b).all()
    assert b == pytest.approx([1, 2, 3, 4], abs=0.2)


def test_fitted_weights_change_what_links_promise():
    """Links with the word in their anchor are relevant here, popular ones are not."""
    strategy = make(KEYWORDS, fit=True)
    told: dict[str, float] = {}
    for number in range(60):
        if number < 30:  # visits of links, at the first fit
            assert strategy.fitted.weights.tolist() == [1, 1, 1, 1]
        good = number % 2 == 0
        anchor = Counted({"bird": 1}, 1.0) if good else Counted()
        onward = page([link(f"p{number + 1}", anchor=anchor), link("u", anchor=anchor)])
        held = lease(f"p{number}")
        told = promises(strategy.rank(onward, verdict(0.6, not good), held))
        strategy.revise()
    weights = strategy.fitted.weights
    assert weights[1] > 2 > 1 > weights[0]
    assert told["u"] != sum(strategy.evidence.terms(strategy.found)[-1])


@pytest.mark.parametrize("options", [{"fit": True}, {"k": 7}, {"mode": "paper"}])
def test_what_was_noted_gives_the_same_order_again(options: dict[str, object]):
    first, notes = make(KEYWORDS, **options), {}
    for number in range(120):
        if number == 70:
            other = make(KEYWORDS, **options)
            other.recall(sorted(notes.items()))
        words = [Counted({"bird": 1}, 1.0 + place % 5) for place in range(30)]
        onward = page(
            [
                link(f"p{(number * place + place) % 500}", anchor=words[place])
                for place in range(1, 30)
            ]
        )
        onward_once = page({one.fingerprint: one for one in onward.links}.values())
        held, found = lease(f"p{number}"), verdict(number % 7 / 7)
        expected = list(first.rank(onward_once, found, held)), [*first.revise()]
        if number >= 70:
            again = list(other.rank(onward_once, found, held)), [*other.revise()]
            assert again == expected
        else:
            notes.update(first.changes())
        if number % 5 == 0:
            first.missed(lease(f"p{number + 300}"), "copy")
            if number >= 70:
                other.missed(lease(f"p{number + 300}"), "copy")
            else:
                notes.update(first.changes())


def test_a_seed_is_no_experience():
    strategy = make(KEYWORDS, fit=True)
    url = "http://web.test/seed"
    held = Lease(1, url, fingerprint(url), "web.test", 1e6)
    list(strategy.rank(page(["u"]), verdict(0.9), held))
    assert len(strategy.fitted._relevant.values) == 0


def test_pagerank_is_computed_again_as_the_links_grow():
    """B.2: what a page is worth goes on to the links on it. `hub` becomes important
    after it was read, so only a new computation can tell that x is."""
    strategy = make(KEYWORDS, mode="paper", b2=0.0, b3=0.0, b4=0.0)
    told = read(strategy, "hub", page(["x"]))
    told |= read(strategy, "nobody", page(["y"]))
    assert told["x"] == pytest.approx(told["y"])
    for number in range(30):
        others = [f"n{number}-{place}" for place in range(20)]
        read(strategy, f"p{number}", page(["hub", *others]))
        told |= revised(strategy, "x y")
    assert told["x"] > 1.3 * told["y"]


def test_what_changes_by_a_new_pagerank_is_told_at_once():
    strategy = make(KEYWORDS, mode="paper", b2=0.0, b3=0.0, b4=0.0)
    read(strategy, "hub", page(["x"]))
    for number in range(20):
        read(strategy, f"p{number}", page(["hub"]))
        assert "x" not in revised(strategy, "x")
    read(strategy, "last", page([f"n{place}" for place in range(479)]))
    hub = 0.15 + 20 * 0.85 * 0.15
    assert revised(strategy, "x")["x"] == pytest.approx(0.15 + 0.85 * hub)


def test_links_are_scored_again_also_the_one_back_to_the_first_page():
    """Paper D: the topic drifts to fish; u's anchor names it, v's does not."""
    strategy = make(KEYWORDS, b1=0.0, b3=0.0, b4=0.0)
    fish = link("u", anchor=Counted({"fish": 1}, 1.0))
    bird = link("v", anchor=Counted({"bird": 1}, 1.0))
    found = page(["first", fish, bird])
    read(strategy, "first", page(["p"]))
    assert read(strategy, "p", found) == {"first": 0.0, "u": 0.0, "v": 1.0}
    strategy.seek(Subject(weights={"fish": 1.0}))
    again = strategy.rescore(found, verdict(0.6), lease("p"))
    assert promises(again) == {"first": 0.0, "u": 1.0, "v": 0.0}
    unknown = strategy.rescore(page(["never seen"]), verdict(0.6), lease("p"))
    assert promises(unknown) == {}


def test_a_queue_that_was_not_full_is_filled_again_after_as_many_visits_as_it_held():
    """Koundal, 5.A: "all of it if fewer than k"; the next batch is chosen when these
    were visited, not after k visits."""
    strategy = make(KEYWORDS, b1=0.0, b3=0.0, b4=0.0, k=3)
    two = by_anchor({"a": 1, "b": 2})
    waiting = Waiting(promises(strategy.rank(page(two), verdict(0.6), lease("seed"))))
    waiting.update(revised(strategy, "a b"))
    visits = {"a": page(by_anchor({"new1": 3, "new2": 2, "new3": 1}))}
    assert waiting.take(visits, strategy) == "a"
    assert sum(promise > 1000 for promise in waiting.values()) == 1, "b alone"
    assert waiting.take({}, strategy) == "b"
    ahead = [name for name, promise in waiting.items() if promise > 1000]
    assert sorted(ahead) == ["new1", "new2", "new3"], "the next batch, at once"
