"""The oracle: against a plain version of itself, and what must hold for any walk."""

import random
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.lab.link_graph import LinkGraph, distances, reachable
from opilio.lab.measures import aurc
from opilio.lab.oracle import steps

Links = list[list[int]]


def link_graph(links: Sequence[Sequence[int]]) -> LinkGraph:
    """The graph in which page v links to the pages links[v]."""
    offsets = np.cumsum([0, *map(len, links)], dtype=np.int64)
    targets = np.fromiter((to for row in links for to in row), np.int32, offsets[-1])
    return LinkGraph(offsets, targets)


def walk(
    graph: LinkGraph, starts: Sequence[int], targets: Mapping[int, int], budget: int
) -> list[int]:
    """The pages that the oracle visits, in order."""
    return [step.page for step in steps(graph, starts, targets, budget)]


@st.composite
def webs(draw: st.DrawFn) -> tuple[Links, list[int], dict[int, int]]:
    """A small web: its links, starts, and the contents of its relevant pages."""
    size = draw(st.integers(1, 16))
    pages = st.integers(0, size - 1)
    links = draw(st.lists(st.lists(pages, max_size=4), min_size=size, max_size=size))
    starts = draw(st.lists(pages, max_size=3))
    targets = draw(st.dictionaries(pages, st.integers(0, 5)))
    return links, starts, targets


def requests_away(links: Links, starts: Sequence[int], visited: set[int]) -> list[int]:
    """The requests that each page is away, by a plain breadth-first search; -1: all."""
    known = {*starts, *(to for page in visited for to in links[page])} - visited
    away = [0 if page in visited else -1 for page in range(len(links))]
    for page in known:
        away[page] = 1
    queue = deque(sorted(known))
    while queue:
        page = queue.popleft()
        for to in links[page]:
            if away[to] < 0:
                away[to] = away[page] + 1
                queue.append(to)
    return away


def found_by(order: Sequence[int], targets: Mapping[int, int]) -> list[bool]:
    seen: set[int | None] = {None}
    found = []
    for page in order:
        content = targets.get(page)
        found.append(content not in seen)
        seen.add(content)
    return found


def in_reach(
    links: Links, starts: Sequence[int], targets: Mapping[int, int]
) -> set[int]:
    reached = reachable(link_graph(links), starts)
    return {content for page, content in targets.items() if reached[page]}


@given(webs())
def test_every_step_goes_to_the_nearest_target_in_the_fewest_requests(web):
    links, starts, targets = web
    order = walk(link_graph(links), starts, targets, 1000)
    visited: set[int] = set()
    seen: set[int] = set()
    at = 0
    while at < len(order):
        away = requests_away(links, starts, visited)
        unfound = [p for p, c in targets.items() if c not in seen and away[p] > 0]
        nearest = min(unfound, key=lambda page: (away[page], page))
        way = order[at : at + away[nearest]]
        assert way[-1] == nearest
        assert not any(page in unfound for page in way[:-1])
        visited.update(way)
        seen.add(targets[nearest])
        at += len(way)
    assert at == len(order)
    assert seen == in_reach(links, starts, targets)


@given(webs())
def test_every_page_was_linked_from_a_visited_one_or_is_a_start(web):
    links, starts, targets = web
    walked = steps(link_graph(links), starts, targets, 1000)
    assert len({step.page for step in walked}) == len(walked)
    for number, step in enumerate(walked):
        if step.via < 0:
            assert step.page in starts
            assert step.depth == 0
        else:
            assert step.via < number
            assert step.page in links[walked[step.via].page]
            assert step.depth == walked[step.via].depth + 1


@given(webs())
def test_everything_in_reach_is_found_and_then_the_walk_ends(web):
    links, starts, targets = web
    order = walk(link_graph(links), starts, targets, 1000)
    found = found_by(order, targets)
    assert sum(found) == len(in_reach(links, starts, targets))
    assert not order or found[-1]


@given(webs(), st.integers(0, 10))
def test_a_short_walk_is_the_beginning_of_a_long_one(web, budget: int):
    links, starts, targets = web
    graph = link_graph(links)
    order = walk(graph, starts, targets, 1000)
    assert walk(graph, starts, targets, budget) == order[:budget]


def test_a_target_behind_a_hub_is_reached_through_it():
    #  0 → 1 → 2 → 3 (target),  0 → 4 → 5 (target)
    graph = link_graph([[1, 4], [2], [3], [], [5], []])
    assert walk(graph, [0], {3: 3, 5: 5}, 100) == [0, 4, 5, 1, 2, 3]


def test_of_two_targets_as_near_the_lower_number_comes_first():
    graph = link_graph([[3, 2], [], [], [1]])
    assert walk(graph, [0], {2: 2, 3: 3}, 100) == [0, 2, 3]


def test_what_a_new_page_links_to_comes_nearer():
    #  0 → 1 → 2 → 3 → 4; the target 1 has a link to 4 as well.
    graph = link_graph([[1], [2, 4], [3], [4], []])
    assert walk(graph, [0], {1: 1, 4: 4}, 100) == [0, 1, 4]


def test_a_copy_of_a_target_is_not_visited_again():
    graph = link_graph([[1, 2, 3], [], [], []])
    assert walk(graph, [0], {1: 7, 2: 7, 3: 8}, 100) == [0, 1, 3]


def test_starts_cost_a_request_and_only_when_they_are_of_use():
    graph = link_graph([[2], [3], [], []])
    assert walk(graph, [0, 1], {3: 3}, 100) == [1, 3]
    assert walk(graph, [0, 1], {0: 0}, 100) == [0]


def test_the_walk_ends_where_nothing_is_left_to_find():
    graph = link_graph([[1], [0], []])
    assert walk(graph, [0], {2: 2}, 100) == []
    assert walk(graph, [], {2: 2}, 100) == []
    assert walk(graph, [0], {}, 100) == []


def random_crawl(links: Links, start: int, chance: random.Random) -> list[int]:
    """A crawl that takes any of the links that wait."""
    order: list[int] = []
    waiting = [start]
    known = {start}
    while waiting:
        place = chance.randrange(len(waiting))
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
        page = waiting.pop()
        order.append(page)
        fresh = [to for to in dict.fromkeys(links[page]) if to not in known]
        known.update(fresh)
        waiting += fresh
    return order


@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_does_better_than_chance(seed: int):
    chance = random.Random(seed)
    links = [[chance.randrange(300) for _ in range(5)] for _ in range(300)]
    targets = {page: page for page in chance.sample(range(300), 30)}
    count = len(in_reach(links, [0], targets))
    best = found_by(walk(link_graph(links), [0], targets, 3 * count), targets)
    others = [
        aurc(found_by(random_crawl(links, 0, chance), targets), count)
        for _ in range(50)
    ]
    assert aurc(best, count) > max(others)
    assert aurc(best, count) > 2 * np.mean(others)


@given(webs())
def test_distances_are_those_of_a_plain_search(web):
    links, starts, _ = web
    away = requests_away(links, starts, set())
    expected = [requests - 1 if requests > 0 else -1 for requests in away]
    assert distances(link_graph(links), starts).tolist() == expected


@given(webs())
def test_a_graph_has_the_links_it_was_made_of(web):
    links, _, _ = web
    graph = link_graph(links)
    pairs = [(page, to) for page, row in enumerate(links) for to in row]
    assert pairs_of(graph) == pairs
    some = np.arange(0, graph.size, 2, dtype=np.int32)
    standing, leading = graph.links_of(some)
    assert list(zip(standing.tolist(), leading.tolist(), strict=True)) == [
        pair for pair in pairs if pair[0] % 2 == 0
    ]


@given(webs())
def test_links_can_be_turned_round_and_left_out(web):
    links, starts, _ = web
    graph = link_graph(links)
    turned = [(to, page) for page, to in pairs_of(graph)]
    assert sorted(pairs_of(graph.reversed())) == sorted(turned)
    allowed = np.isin(np.arange(graph.size), starts)
    kept = [(page, to) for page, to in pairs_of(graph) if to in starts]
    assert pairs_of(graph.only(allowed)) == kept


def pairs_of(graph: LinkGraph) -> list[tuple[int, int]]:
    return list(zip(graph.sources().tolist(), graph.targets.tolist(), strict=True))
