"""Best-N-first, soft and hard focus, depth-first and random, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.lab.synthetic.small import SmallWeb, page
from opilio.protocols import Learner
from opilio.records import Page, State, Verdict
from opilio.strategies.best_n_first import BestNFirst
from opilio.strategies.shared.hashed_random import chance
from strategies.site_pages import Crawl, lease, link, make, of, url


def test_a_batch_is_visited_before_anything_found_meanwhile():
    # Menczer et al. 2004, section 3: N links are picked and fetched at a time. N = 2:
    # b and c are in the batch when d, which is better than c, is found on b.
    crawl = Crawl(make("best-n-first", {"n": 2}))
    crawl.visit("seed/0", ["w/a"], 0.5)
    crawl.visit("w/a", ["w/b", "w/c", "w/x"], 0.3)
    assert crawl.next() == "w/b"
    crawl.visit("w/b", ["w/d"], 0.9)
    assert crawl.next() == "w/c"
    crawl.visit("w/c", [], 0.0)
    assert crawl.next() == "w/d"


def test_a_batch_of_one_is_best_first():
    crawls = [Crawl(make("best-n-first", {"n": 1})), Crawl(make("best-first"))]
    for crawl in crawls:
        crawl.visit("seed/0", ["w/1", "w/2", "w/3"], 0.5)
        for n, score in enumerate((0.2, 0.9, 0.4, 0.6, 0.1, 0.8)):
            crawl.visit(crawl.next(), [f"w/{n}a", f"w/{n}b"], score)
    assert crawls[0].next() == crawls[1].next()


def test_fewer_links_than_n_make_a_batch_too():
    crawl = Crawl(make("best-n-first", {"n": 256}))
    crawl.visit("seed/0", ["w/a", "w/b"], 0.5)
    assert crawl.promise("w/a") == crawl.promise("w/b") == 1.5
    crawl.visit("w/a", ["w/c"], 0.9)
    assert crawl.promise("w/c") == 0.9
    crawl.visit("w/b", [], 0.0)
    assert crawl.promise("w/c") == 1.9


def test_links_that_fail_or_never_end_do_not_stop_the_batches():
    crawl = Crawl(make("best-n-first", {"n": 2}))
    crawl.visit("seed/0", ["w/fails", "w/refused", "w/c"], 0.5)
    crawl.strategy.missed(lease("w/fails"), State.UNUSABLE)
    assert crawl.promise("w/c") == 0.5
    crawl.visit("v/stray", [], 0.0)
    assert crawl.promise("w/c") == 1.5


def test_the_best_page_that_links_to_a_link_counts():
    crawl = Crawl(make("best-n-first", {"n": 1}))
    crawl.visit("seed/0", ["w/a", "w/b", "w/c"], 0.4)
    crawl.visit("w/a", ["w/c"], 0.9)
    assert crawl.next() == "w/c"


@given(st.integers(1, 6), st.lists(st.integers(0, 9), min_size=2, max_size=40))
def test_a_restart_does_not_change_the_batches(n: int, scores: list[int]):
    def live(crawl: Crawl, start: int, end: int) -> None:
        for number in range(start, end):
            place = crawl.next() if crawl.waiting else f"w/{number}"
            links = [f"w/{scores[number] * 7 % 13 + step}" for step in range(4)]
            crawl.visit(place, links, scores[number] / 9)

    def made() -> BestNFirst:
        strategy = make("best-n-first", {"n": n})
        assert isinstance(strategy, BestNFirst)
        return strategy

    middle, end = len(scores) // 2, len(scores)
    whole, first, second = Crawl(made()), Crawl(made()), Crawl(made())
    live(whole, 0, end)
    live(first, 0, middle)
    second.strategy.recall(first.strategy.changes())
    second.waiting, second.places = first.waiting, first.places
    live(second, middle, end)
    assert second.waiting == whole.waiting


def test_soft_focus_gives_links_the_relevance_of_their_page():
    # Chakrabarti et al. 1999: out-links inherit Pr(topic | page); no link is refused.
    crawl = Crawl(make("soft-focus"))
    crawl.visit("w/1", ["w/a"], 0.9)
    crawl.visit("w/2", ["w/b", "w/a"], 0.2)
    assert crawl.promise("w/a") == 0.9
    assert crawl.promise("w/b") == 0.2
    assert crawl.parts[of("w/b")] == {"R(p)": 0.2}


def test_hard_focus_refuses_links_of_pages_that_are_not_relevant():
    strategy = make("soft-focus", {"focus": "hard"})
    crawl = Crawl(strategy)
    crawl.visit("w/2", ["w/b"], 0.2)
    assert not crawl.waiting
    crawl.visit("w/1", ["w/b"], 0.9)
    assert crawl.promise("w/b") == 0.9
    page = Page(url("w/2"), "", "en", "utf-8", 9, {}, 3.0, 0, [link("w/b")])
    [ranked] = strategy.rank(page, Verdict(0.2, False), lease("w/2"))
    assert ranked.reason == "page"


async def test_the_basic_crawler_reads_one_level_after_the_other(crawled):
    """Aastha, 2.2: URLs leave the queue in the order in which they entered it, and what
    was fetched before is not fetched again. Aastha, section 2.2: "Add all the newly
    found URLs into the frontier"."""
    tree = {"": "12", "1": "34", "2": "51", "3": "6", "4": "", "5": "", "6": "2"}
    pages = {
        f"http://seed.test/{name}": page(
            f"Bees {name}",
            f"honey {name} " * 9,
            {f"/{to}": f"bee {to}" for to in links},
        )
        for name, links in tree.items()
    }
    life = await crawled(SmallWeb(pages))
    ended = await life.crawl("--strategy", "breadth-first")
    assert ended.code == 0, ended.err
    asked = [request.url.rpartition("/")[2] for request in life.server.requests]
    assert asked == ["robots.txt", "", *"123456"]


def test_depth_first_goes_on_from_the_page_read_last():
    # The tree 1 -> 2, 3; 2 -> 4, 5 is walked 1, 2, 4, 5, 3.
    tree = {"w/1": ["w/2", "w/3"], "w/2": ["w/4", "w/5"]}
    crawl = Crawl(make("depth-first"))
    place, walked = "w/1", []
    while place:
        walked.append(place)
        crawl.visit(place, tree.get(place, []))
        place = crawl.next() if crawl.waiting else ""
    assert walked == ["w/1", "w/2", "w/4", "w/5", "w/3"]


def test_depth_first_goes_on_after_a_restart():
    first, second = make("depth-first"), make("depth-first")
    Crawl(first).visit("w/1", ["w/2"])
    assert isinstance(first, Learner)
    assert isinstance(second, Learner)
    learnt = first.dump()
    assert learnt is not None
    second.load(learnt)
    crawl = Crawl(second)
    crawl.visit("w/2", ["w/3"])
    assert crawl.promise("w/3") == 2


def test_a_random_order_is_the_same_for_the_same_seed_only():
    def order(seed: int) -> list[str]:
        crawl = Crawl(make("random", {"seed": seed}))
        crawl.visit("w/0", [f"w/{n}" for n in range(1, 50)], 0.9)
        return sorted(crawl.places.values(), key=crawl.promise)

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != sorted(order(1))


def test_chance_is_spread_evenly():
    drawn = sorted(chance(7, n) for n in range(2000))
    assert 0 <= drawn[0] < drawn[-1] < 1
    # Kolmogorov-Smirnov: by chance above 1.95/√n one time in a thousand.
    gap = max(abs(value - place / 2000) for place, value in enumerate(drawn))
    assert gap == pytest.approx(0, abs=1.95 / 2000**0.5)
