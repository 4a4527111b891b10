"""Strategies that look at links alone, and OTIE: worked by hand from their papers."""

from collections.abc import Callable, Iterable

import pytest

from opilio.records import Counted, Knowledge, Lease, State, Subject
from opilio.strategies.backlink_count import BacklinkCount
from opilio.strategies.opic import Opic
from opilio.strategies.otie import Otie, OtieOptions
from opilio.strategies.pagerank import ByPageRank, ByPageRankOptions
from opilio.strategies.shared.options import NoOptions
from opilio.text.urls import fingerprint
from strategies.ranked_pages import lease, link, page, promises, verdict

BIRDS = Subject(weights={"bird": 1.0})


def backlink_count() -> BacklinkCount:
    return BacklinkCount(NoOptions(), Knowledge())


def by_pagerank(damping: float = 0.85) -> ByPageRank:
    return ByPageRank(ByPageRankOptions(damping=damping), Knowledge())


def opic() -> Opic:
    return Opic(NoOptions(), Knowledge())


def otie(**options: float) -> Otie:
    return Otie(OtieOptions(**options), Knowledge(subject=BIRDS))


def visit(strategy, name: str, links: Iterable, score: float = 0.0) -> dict[str, float]:
    """Let it read a page; answers what its links promise."""
    return promises(strategy.rank(page(links), verdict(score), lease(name)))


def seed(name: str) -> Lease:
    url = f"http://web.test/{name}"
    return Lease(1, url, fingerprint(url), "web.test", 1e6)


def test_back_links_are_counted_over_the_pages_read_so_far():
    """Cho et al. 1998, section 2: IB'(p), links seen so far in the crawl."""
    strategy = backlink_count()
    assert visit(strategy, "a", ["b", "c"]) == {"b": 1, "c": 1}
    assert visit(strategy, "b", ["c", "d"]) == {"c": 2, "d": 1}
    assert visit(strategy, "c", ["d", "c", "e"]) == {"d": 2, "c": 2, "e": 1}


def test_pagerank_grows_with_each_page_by_what_that_passes_on():
    """Cho et al. 1998: IR'(p) = (1-d) + d·Σ IR'(t)/c, with d = 0.8.

    IR(a) = 0.2. b = 0.2 + 0.8·0.2/2 = 0.28 = c. d from b's three: 0.2 + 0.8·0.28/3.
    """
    strategy = by_pagerank(0.8)
    assert visit(strategy, "a", ["b", "c"]) == pytest.approx({"b": 0.28, "c": 0.28})
    passed = 0.8 * 0.28 / 3
    assert visit(strategy, "b", ["c", "d", "e"]) == pytest.approx(
        {"c": 0.28 + passed, "d": 0.2 + passed, "e": 0.2 + passed}
    )
    assert list(strategy.revise()) == []


def test_links_that_wait_hear_of_pagerank_once_it_is_computed():
    """b links to u when it has next to nothing; then many pages link to b."""
    strategy = by_pagerank(0.8)
    others = [f"p{number}" for number in range(1200)]
    visit(strategy, "a", [*others, "b"])
    [(_, first)] = visit(strategy, "b", ["u"]).items()
    told: dict[int, float] = {}
    for other in others:
        visit(strategy, other, ["b"])
        told.update({url: promise for url, promise, _ in strategy.revise()})
    url = fingerprint("http://web.test/u")
    assert told[url] > 50 * first
    # All that link to b have 0.2 + 0.8·0.2/1201 each; IR(u) = 0.2 + 0.8·IR(b).
    backlinks = round((told[url] - 0.2) / 0.8**2 / 0.2)
    assert 700 < backlinks < 760  # links grow by a fifth and 500 from 1201 on


def test_a_page_hands_its_cash_to_its_links_in_equal_shares():
    """Abiteboul et al. 2003, section 3, begun with one page that holds all the cash.

    a: b = c = 1/2. b: c = 1/2 + 1/4, d = 1/4. c: a = d = 3/8, so d = 5/8.
    """
    strategy = opic()

    def read(held: Lease, links: list[str]) -> dict[str, float]:
        return promises(strategy.rank(page(links), verdict(0), held))

    assert read(seed("a"), ["b", "c"]) == {"b": 0.5, "c": 0.5}
    assert read(lease("b"), ["c", "d"]) == {"c": 0.75, "d": 0.25}
    assert read(lease("c"), ["a", "d"]) == {"a": 0.375, "d": 0.625}
    assert sum(strategy.cash.values()) + strategy.virtual == 1.0
    # H(a) = 1, C(a) = 3/8, G = 1 + 1/2 + 3/4.
    assert strategy.importance(seed("a").fingerprint) == pytest.approx(1.375 / 3.25)


def test_cash_of_pages_without_links_or_that_are_gone_goes_to_the_virtual_page():
    strategy = opic()
    list(strategy.rank(page(["b", "c"]), verdict(0), seed("a")))
    assert visit(strategy, "b", []) == {}
    strategy.missed(lease("c"), State.UNUSABLE)
    strategy.missed(lease("unknown"), State.COPY)
    assert strategy.virtual == 1.0
    assert sum(strategy.cash.values()) == 0.0


def test_the_target_of_a_redirect_brings_the_promise_that_led_to_it():
    strategy = opic()
    assert visit(strategy, "there", ["u"]) == {"u": 0.5}  # the lease's promise


def test_topical_cash_flows_along_relevant_links_of_relevant_pages():
    """OTIE as we read it, ε = 0.1, κ = 1: seed with cash 1 and score 0.5, two links.

    r(u) = 0.1 + 0.6, r(v) = 0.1: u = 1.5·0.7/2 = 0.525, v = 1.5·0.1/2 = 0.075. Then u,
    score 0.2, links to v, with the topic's word in its URL: v += 0.725·(0.1 + 0.5).
    """
    strategy = otie(floor=0.1)
    told = link(
        "u", anchor=Counted({"bird": 1}, 1 / 0.6), around=Counted({"bird": 1}, 4)
    )
    ranked = strategy.rank(page([told, "v"]), verdict(0.5), seed("a"))
    assert promises(ranked) == pytest.approx({"u": 0.525, "v": 0.075})
    assert strategy.virtual == pytest.approx(1.5 - 0.6)
    named = link("v", url=Counted({"bird": 1}, 2.0))
    assert visit(strategy, "u", [named], 0.2) == pytest.approx(
        {"v": 0.075 + 0.725 * 0.6}
    )


def test_without_income_only_the_cash_of_the_seeds_flows():
    strategy = otie(income=0.0, floor=1.0)
    ranked = strategy.rank(page(["u", "v"]), verdict(0.9), seed("a"))
    assert promises(ranked) == {"u": 0.5, "v": 0.5}


@pytest.mark.parametrize("make", [backlink_count, by_pagerank, opic, otie])
def test_what_was_noted_gives_the_same_promises_again(make: Callable):
    web = {f"p{n}": [f"p{(n * k + k) % 90}" for k in range(1, 25)] for n in range(60)}
    first, notes = make(), {}
    for place, (name, links) in enumerate(web.items()):
        if place == 40:
            other = make()
            other.recall(sorted(notes.items()))
        if place % 7 == 5 and hasattr(first, "missed"):
            first.missed(lease(name), State.COPY)
            if place >= 40:
                other.missed(lease(name), State.COPY)
        links = list(dict.fromkeys(links))
        expected = visit(first, name, links, place % 3 / 3)
        revised = list(first.revise()) if hasattr(first, "revise") else []
        if place >= 40:
            assert visit(other, name, links, place % 3 / 3) == expected
            again = list(other.revise()) if hasattr(other, "revise") else []
            assert again == revised
        else:
            notes.update(first.changes())
