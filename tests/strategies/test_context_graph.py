"""Layers are link distances, and pages are placed by their words: Diligenti et al."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest

from opilio.records import Knowledge, Ranked, State, Verdict
from opilio.strategies.context_graph import (
    ContextGraph,
    ContextGraphOptions,
    words_of,
)
from opilio.strategies.shared.link_layers import LinkLayers
from strategies.learning_pages import BAD, GOOD, lease, link, page


def graph(layers: int = 4) -> ContextGraph:
    return ContextGraph(ContextGraphOptions(layers=layers), Knowledge())


def visit(
    made: ContextGraph, name: str, text: str, verdict: Verdict, *targets: str
) -> list[Ranked]:
    url = f"http://a.test/{name}"
    links = [link(f"http://a.test/{target}") for target in targets]
    return list(made.rank(page(url, links, text), verdict, lease(url)))


def taught() -> ContextGraph:
    """Lists lead to relevant pages, homes to lists, shops to nothing."""
    made = graph()
    for number in range(4):
        visit(made, f"home{number}", "welcome home", BAD, f"list{number}")
        visit(made, f"list{number}", "list index", BAD, f"bird{number}")
        visit(made, f"bird{number}", "bird nest", GOOD)
        visit(made, f"shop{number}", "buy cart", BAD, "cart")
    made.learn()
    return made


def test_layers_are_distances_to_relevant_pages():
    layers = LinkLayers(4, 0, 100)
    layers.visit(1, [2], False, b"")
    layers.visit(2, [3, 9], False, b"")
    assert [layers.nodes[key].layer for key in (1, 2)] == [4, 4]
    layers.visit(3, [], True, b"")
    assert [layers.nodes[key].layer for key in (1, 2, 3)] == [2, 1, 0]
    layers.visit(5, [1], False, b"")  # leads to what is near
    assert layers.nodes[5].layer == 3


def test_a_circle_of_links_ends():
    layers = LinkLayers(4, 0, 100)
    layers.visit(1, [2], False, b"")
    layers.visit(2, [1, 3], False, b"")
    layers.visit(3, [1], True, b"")
    assert [layers.nodes[key].layer for key in (1, 2, 3)] == [2, 1, 0]


def test_there_are_never_too_many_pages_to_learn_from():
    layers = LinkLayers(4, 0, 5)
    for number in range(50):
        layers.visit(number, [], False, b"xx")
    assert len(layers.sample()) == 5
    assert sum(bool(node.words) for node in layers.nodes.values()) == 5


def test_links_of_relevant_pages_come_first():
    (one,) = visit(graph(), "x", "bird", GOOD, "y")
    assert one.promise == 4 + GOOD.score
    (other,) = visit(graph(), "x", "shop", BAD, "y")
    assert other.promise == BAD.score


def test_pages_are_placed_by_what_pages_of_each_layer_look_like():
    made = taught()
    (of_list,) = visit(made, "l", "list index", BAD, "x")
    (of_home,) = visit(made, "h", "welcome home", BAD, "y")
    (of_shop,) = visit(made, "s", "buy cart", BAD, "z")
    assert of_list.parts["N - layer(u)"] == 3
    assert of_home.parts["N - layer(u)"] == 2
    assert of_shop.parts["N - layer(u)"] == 0
    assert of_list.promise == sum(of_list.parts.values())


def test_how_sure_a_layer_is_by_hand():
    made = taught()
    # Each layer 0, 1, 2 and 4 has 4 pages of 2 words, V = 8; layer 3 has none.
    # P(t|c) of an own word is 5/16, of another 1/16, in layer 3 1/8; P(c) = 5/21, 1/21.
    own = (log(5 / 21) + 2 * log(5 / 16)) / sqrt(2)
    other = (log(5 / 21) + 2 * log(1 / 16)) / sqrt(2)
    empty = (log(1 / 21) + 2 * log(1 / 8)) / sqrt(2)
    sure = exp(own) / (exp(own) + 2 * exp(other) + exp(empty))
    words = words_of(page("http://a.test/", (), "list index"))
    layer, found = made.place(words, BAD)
    assert layer == 1
    assert found == pytest.approx(sure, rel=1e-5)


def test_a_restart_changes_nothing():
    made, again = taught(), graph()
    dumped = made.dump()
    assert dumped and made.dump() is None
    again.load(dumped)
    again.recall((key, note) for key, note in made.changes() if note is not None)
    for one in (made, again):
        one.missed(lease("http://a.test/cart"), State.UNUSABLE)
    assert visit(made, "n", "list home bird", BAD, "q") == visit(
        again, "n", "list home bird", BAD, "q"
    )
    assert made.graph.sample() == again.graph.sample()
    assert made.graph.visits == again.graph.visits
