"""The kinds of synthetic web: lists that lead to items, and hosts that differ."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, deque
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.dials import MANY_HOSTS
from opilio.lab.synthetic.kinds import WebKind, make_kind
from opilio.lab.synthetic.lists.dials import ListDials
from opilio.lab.synthetic.lists.sections import Sections
from opilio.lab.synthetic.lists.web import ListWeb
from opilio.lab.synthetic.vocabulary import TopicWords
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import write_web
from opilio.text.urls import canonical, host, join

HREF = re.compile(r'<a (?:class="[^"]*" )?href="([^"]*)">([^<]*)</a>')
DIALS = ListDials(pages=1_500, hosts=8, seed=3)


@pytest.fixture(scope="module")
def lists() -> ListWeb:
    return ListWeb(DIALS)


@cache
def links_on(web: ListWeb, url: str) -> list[tuple[str, str]]:
    body = web.respond(url).body.decode().partition("<main")[2].partition("<aside")[0]
    return [(join(url, href), text) for href, text in HREF.findall(body)]


def first_list(web: ListWeb, number: int) -> str:
    section = web.sections.all[number]
    return web.addresses.url(section.host, web.addresses.list(section))


@pytest.mark.parametrize("kind", WebKind)
def test_the_same_seed_gives_the_same_web(kind: WebKind) -> None:
    one, again = (make_kind(kind, pages=600, hosts=20, seed=4) for _ in range(2))
    urls = list(one.urls())
    assert urls == list(again.urls())
    for url in islice(urls, 0, None, 25):
        assert one.respond(url) == again.respond(url)
    other = make_kind(kind, pages=600, hosts=20, seed=5)
    assert not set(urls) & set(other.urls())


@pytest.mark.parametrize("kind", WebKind)
def test_every_kind_has_topics_with_keywords_and_relevant_seeds(
    kind: WebKind, tmp_path: Path
) -> None:
    made = make_kind(kind, pages=800, hosts=20, topics=6, seed=1)
    web = write_web(made, tmp_path / "web", "made")
    assert len(web.topics) == 6
    for name, path in web.topics.items():
        topic = tomllib.loads(path.read_text())
        assert topic["keywords"][0] in lexicon.TOPICS[name]
        assert len(topic["seeds"]) >= 2
        assert all(name in made.labels(seed) for seed in topic["seeds"])


def test_every_page_of_lists_is_there_under_a_canonical_url(lists: ListWeb) -> None:
    urls = list(lists.urls())
    assert len(urls) == len(set(urls))
    assert all(canonical(url) == url for url in urls)
    assert {lists.respond(url).status for url in urls} == {200}
    assert {lists.respond(url).status for url in lists.detours()} == {404}


def test_links_of_lists_lead_to_pages_or_to_known_dead_ends(lists: ListWeb) -> None:
    known, dead = set(lists.urls()), set(lists.detours())
    linked = {
        link
        for url in islice(lists.urls(), 0, None, 3)
        for link, _ in links_on(lists, url)
    }
    assert linked <= known | dead
    assert linked & dead


def test_all_items_are_reached_from_any_home_page(lists: ListWeb) -> None:
    start = f"http://{lists.hosts[5]}/"
    seen, waiting = {start}, deque([start])
    while waiting:
        for link, _ in links_on(lists, waiting.popleft()):
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    assert set(lists.urls()) - seen == {
        f"http://{name}{path}"  # which the frame of every page links to
        for name in lists.hosts
        for path in ("/archive/", "/imprint.html", "/contact.html", "/privacy.html")
    } | {url for url in lists.urls() if "/archive/" in url}


def test_a_list_has_20_to_100_items_and_leads_on(lists: ListWeb) -> None:
    for section in lists.sections.all:
        urls = [
            lists.addresses.url(section.host, lists.addresses.list(section, page))
            for page in range(1, section.lists + 1)
        ]
        counts = [
            sum(bool(lists.labels(link)) for link, _ in links_on(lists, url))
            for url in urls
        ]
        assert sum(counts) == section.size
        assert all(20 <= count <= 100 for count in counts[:-1])
        for url, following in pairwise(urls):
            assert (following, "Next »") in links_on(lists, url)
            assert (url, "« Previous") in links_on(lists, following)


def test_lists_say_little_about_their_subject(lists: ListWeb) -> None:
    telling = []
    for number, section in enumerate(lists.sections.all):
        terms = lexicon.TOPICS[lists.topics[section.topic]]
        for link, anchor in links_on(lists, first_list(lists, number)):
            if lists.labels(link):
                telling.append(any(term in anchor.lower() for term in terms))
        assert not lists.labels(first_list(lists, number))
    assert mean(telling) < 0.1


def test_items_link_mostly_to_navigation_and_to_other_subjects(lists: ListWeb) -> None:
    same = []
    for item in islice(map(lists.sections.item, range(DIALS.pages)), 0, None, 7):
        url = lists.addresses.item_url(item)
        for link, _ in links_on(lists, url):
            same.append(lists.labels(link) == lists.labels(url))
        own = first_list(lists, item.section)
        assert own in [link for link, _ in links_on(lists, url)]
    assert mean(same) < 0.25


def test_sections_are_nearly_all_of_one_subject(lists: ListWeb) -> None:
    pure = [
        item.topic == section.topic
        for section in lists.sections.all
        for item in lists.sections.items(section)
    ]
    assert mean(pure) == pytest.approx(DIALS.purity, abs=0.03)
    assert {section.topic for section in lists.sections.all} == set(range(16))


@given(st.integers(0, 9), st.integers(1, 6), st.integers(72, 400), st.data())
def test_an_item_is_found_again_by_its_address(
    seed: int, hosts: int, pages: int, data: st.DataObject
) -> None:
    web = ListWeb(ListDials(seed=seed, hosts=hosts, pages=pages, topics=3))
    item = web.sections.item(data.draw(st.integers(0, pages - 1)))
    number = web.sections.all[item.section].host
    place = web.addresses.find(number, web.addresses.item_url(item))
    assert place is not None
    assert place.number == item.number


@given(st.integers(0, 9), st.integers(1, 9), st.integers(108, 500))
def test_every_item_is_in_the_archive_of_its_year_once(
    seed: int, hosts: int, pages: int
) -> None:
    dials = ListDials(seed=seed, hosts=hosts, pages=pages, topics=3)
    sections = Sections(dials, TopicWords(0, 3))
    found = Counter(
        item.number
        for number in range(hosts)
        for year in sections.years(number)
        for item in sections.items_of_year(number, year)
    )
    assert found == Counter(range(pages))


def test_hosts_differ_in_size_and_in_their_share_of_a_subject() -> None:
    web = make_kind(WebKind.HOSTS, pages=4_000, seed=2)
    assert isinstance(web, SyntheticWeb)
    assert len(web.hosts) == MANY_HOSTS.hosts >= 100
    shares = [
        web.graph.size_on(0, each.number) / each.size
        for each in web.graph.hosts
        if each.size >= 20
    ]
    assert sum(share == 1 for share in shares) >= 2
    assert sum(share == 0 for share in shares) > 0.6 * len(shares)
    assert any(0 < share < 0.5 for share in shares)
    sizes = [each.size for each in web.graph.hosts]
    assert max(sizes) > 15 * min(sizes)


def test_hubs_lead_to_other_hosts_and_articles_mostly_do_not() -> None:
    web = make_kind(WebKind.HOSTS, pages=4_000, seed=2)
    assert isinstance(web, SyntheticWeb)
    abroad: dict[str, list[bool]] = {"hub": [], "article": []}
    for node in web.nodes():
        if node.kind in abroad:
            here = host(web.addresses.page(node))
            for section in web.outlinks.of(node):
                abroad[node.kind] += [host(one.url) != here for one in section.links]
    assert mean(abroad["hub"]) > 0.85
    assert mean(abroad["article"]) < 0.6


@pytest.mark.parametrize(
    ("dials", "remedy"),
    [
        ({"telling": 1.5}, "dial telling is 1.5"),
        ({"pages": 30, "hosts": 9}, "raise the dial pages"),
        ({"list_most": 10}, "below list_least"),
        ({"sentences": 1}, "must be 4 or more"),
    ],
)
def test_a_dial_of_lists_out_of_range_is_refused(
    dials: dict[str, float], remedy: str
) -> None:
    with pytest.raises(BadInput, match=remedy):
        ListDials(**dials)


def test_what_is_not_there_is_not_found(lists: ListWeb) -> None:
    start = f"http://{lists.hosts[0]}"
    section = lists.sections.of_host[0][0]
    for path in ("/nothing", f"/{section.slug}/page/99/", "/archive/1900/"):
        answer = lists.respond(start + path)
        assert (answer.status, lists.labels(start + path)) == (404, ())
    assert lists.respond("http://elsewhere.test/").status == 502
    assert lists.labels("http://elsewhere.test/") == ()
