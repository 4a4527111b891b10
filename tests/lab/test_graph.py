"""The arithmetic of the synthetic web: every question has an inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.graph import Graph, Kind
from opilio.lab.synthetic.vocabulary import TopicWords
from opilio.lab.synthetic.web import SyntheticWeb

VOCABULARY = TopicWords(0, 5)

webs = st.builds(
    Dials,
    seed=st.integers(0, 9),
    hosts=st.integers(1, 12),
    pages=st.integers(12, 700),
    topics=st.just(5),
    purity=st.sampled_from([0.0, 0.4, 1.0]),
    hidden=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
)


@given(webs, st.data())
def test_a_page_is_found_again_by_its_topic_and_rank(
    dials: Dials, data: st.DataObject
) -> None:
    graph = Graph(dials, VOCABULARY)
    number = data.draw(st.integers(0, dials.pages - 1))
    host, topic, rank = graph.locate(number)
    assert graph.page_at(topic, rank) == number
    start = graph.hosts[host].start
    assert start <= number < start + graph.hosts[host].size


@given(webs)
def test_every_page_belongs_to_one_host_and_one_rank(dials: Dials) -> None:
    graph = Graph(dials, VOCABULARY)
    assert sum(host.size for host in graph.hosts) == dials.pages
    pages = {
        graph.page_at(topic, rank)
        for topic in range(5)
        for rank in range(graph.size(topic))
    }
    assert pages == set(range(dials.pages))


@given(webs)
def test_a_page_shown_instead_of_a_hidden_one_is_not_hidden(dials: Dials) -> None:
    graph = Graph(dials, VOCABULARY)
    for topic in range(5):
        for rank in range(graph.size(topic)):
            assert not graph.node(graph.shown(topic, rank)).hidden


@given(webs)
def test_a_tunnel_page_is_found_again_by_its_number(dials: Dials) -> None:
    graph = Graph(dials, VOCABULARY)
    for number in range(dials.pages, dials.pages + graph.tunnel_pages):
        topic, block, step = graph.tunnel_at(number)
        assert graph.tunnel(topic, block, step) == number
        assert graph.node(number).kind is Kind.TUNNEL
        assert graph.node(number).topic != topic
        assert all(graph.node(page).hidden for page in graph.behind(topic, block))


def test_hosts_are_sized_by_a_power_law() -> None:
    graph = Graph(Dials(pages=50_000, hosts=100), VOCABULARY)
    sizes = [host.size for host in graph.hosts]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 20 * sizes[-1]
    # Between the 2nd and the 64th host lie five doublings.
    assert sizes[1] / sizes[63] == pytest.approx(32**0.8, rel=0.1)


def test_no_two_hosts_share_a_name() -> None:
    graph = Graph(Dials(pages=3_000, hosts=3_000), VOCABULARY)
    assert len(graph.host_by_name) == 3_000


@pytest.mark.parametrize(
    ("dials", "remedy"),
    [
        ({"locality": 1.5}, "dial locality is 1.5"),
        ({"pages": 3, "hosts": 9}, "raise the dial pages"),
        ({"out_exponent": 2.0}, "must be 2.05 or more"),
    ],
)
def test_a_dial_out_of_range_is_refused(dials: dict[str, float], remedy: str) -> None:
    with pytest.raises(BadInput, match=remedy):
        Dials(**dials)


def test_more_topics_than_there_are_is_refused() -> None:
    with pytest.raises(BadInput, match="there are 16 to have"):
        SyntheticWeb(Dials(topics=99))
