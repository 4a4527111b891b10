"""The crawl's graph, and PageRank over it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.strategies.shared.graph import CrawlGraph
from opilio.strategies.shared.page_rank import PageRank

A, B, C = 11, 12, 13

Web = dict[int, list[int]]

WEBS = st.dictionaries(
    st.integers(0, 12), st.lists(st.integers(0, 20), unique=True, max_size=6)
)


def page_ranks(web: Web, damping: float) -> dict[int, float]:
    """PageRank of each URL of a web, computed in one go."""
    graph = CrawlGraph()
    ranks = PageRank(graph, damping)
    for page, links in web.items():
        ranks.visit(*graph.visit(page, links))
    ranks.compute()
    urls = graph.fingerprints.values.tolist()
    return dict(zip(urls, ranks.ranks.values.tolist(), strict=True))


def slow_ranks(web: Web, damping: float) -> dict[int, float]:
    """The same, straight from the equation."""
    links = {page: [u for u in found if u != page] for page, found in web.items()}
    urls = {*links, *(u for found in web.values() for u in found)}
    ranks = dict.fromkeys(urls, 1.0)
    for _ in range(300):
        new = dict.fromkeys(urls, 1 - damping)
        for page, found in links.items():
            for url in found:
                new[url] += damping * ranks[page] / len(found)
        ranks = new
    return ranks


@pytest.mark.parametrize("damping", [0.0, 0.3, 0.85, 0.99])
def test_in_a_circle_of_three_each_has_a_pagerank_of_one(damping: float):
    """papers.md B.4-1, first half."""
    found = page_ranks({A: [B], B: [C], C: [A]}, damping)
    assert found == pytest.approx({A: 1.0, B: 1.0, C: 1.0}, abs=1e-4)


def test_pagerank_of_two_that_link_to_each_other_and_one_outside():
    """papers.md B.4-1, second half: a→b, b→a, c→a with d = 0.85. Koundal, section 3:
    "The PageRank of a page will be high, if many pages with a high PageRank have links
    to it"."""
    found = page_ranks({A: [B], B: [A], C: [A]}, 0.85)
    assert found == pytest.approx({A: 1.4595, B: 1.3905, C: 0.15}, abs=5e-5)
    assert sum(found.values()) == pytest.approx(3.0, abs=1e-4)


@given(WEBS)
def test_pagerank_solves_its_equation_on_any_web(web: Web):
    assert page_ranks(web, 0.85) == pytest.approx(slow_ranks(web, 0.85), rel=1e-4)


@given(WEBS)
def test_pagerank_from_where_it_stands_is_pagerank_from_the_start(web: Web):
    graph = CrawlGraph()
    ranks = PageRank(graph, 0.85)
    for page, links in web.items():
        ranks.visit(*graph.visit(page, links))
        ranks.compute()
    fresh = page_ranks(web, 0.85)
    urls = graph.fingerprints.values.tolist()
    assert ranks.ranks.values.tolist() == pytest.approx(
        [fresh[url] for url in urls], rel=1e-4
    )


def test_a_page_passes_its_rank_on_before_anything_is_computed():
    graph = CrawlGraph()
    ranks = PageRank(graph, 0.8)
    ranks.visit(*graph.visit(A, [B, C]))
    assert ranks.ranks.values.tolist() == pytest.approx([0.2, 0.28, 0.28])


def test_pagerank_is_due_when_the_links_have_grown_by_a_fifth():
    graph = CrawlGraph()
    ranks = PageRank(graph, 0.85)
    for page in range(10):
        ranks.visit(*graph.visit(page, range(1000 * page + 100, 1000 * page + 200)))
        if ranks.is_due:
            ranks.compute()
    assert ranks.computed_at == 500
    graph.visit(99, range(50_000, 50_099))
    assert not ranks.is_due
    graph.visit(98, [50_000])
    assert ranks.is_due


def test_a_page_that_links_to_itself_gains_nothing():
    graph = CrawlGraph()
    page, links = graph.visit(A, [A, B])
    assert links.tolist() == [page, 1]
    assert graph.outlinks.values.tolist() == [1, 0]
    assert graph.backlinks.values.tolist() == [0, 1]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(-5, 20), unique=True)))
)
def test_numbers_are_those_of_the_fingerprints(visits: list[tuple[int, list[int]]]):
    graph = CrawlGraph()
    for url, links in visits:
        page, found = graph.visit(url, links)
        urls = graph.fingerprints.values
        assert [urls[page], *urls[found]] == [url, *links]
        assert graph.find(url) == page
    assert len(np.unique(graph.fingerprints.values)) == len(graph)
    assert graph.find(10**9) == -1
