"""A synthetic web is repeatable, and its dials do what they say."""

from __future__ import annotations

import math
import re
import tomllib
import tracemalloc
from collections import Counter, deque
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from itertools import islice
from statistics import mean

import msgspec
import pytest
from protego import Protego

from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.dials import CALM, REAL_SITE, Dials
from opilio.lab.synthetic.graph import Kind, Node
from opilio.lab.synthetic.web import SyntheticAnswer, SyntheticWeb
from opilio.text.urls import canonical, join

DIALS = Dials(pages=3_000, hosts=40)
DEVANAGARI = re.compile("[\u0900-\u097f]")
HREF = re.compile(r'<a (?:class="[^"]*" )?href="([^"]*)">([^<]*)</a>')


@pytest.fixture(scope="module")
def web() -> SyntheticWeb:
    return SyntheticWeb(DIALS)


@pytest.fixture(scope="module")
def nodes(web: SyntheticWeb) -> list[Node]:
    return list(web.nodes())


def settled(web: SyntheticWeb, url: str) -> SyntheticAnswer:
    answers = (web.respond(url, attempt) for attempt in range(20))
    return next(answer for answer in answers if answer.status != 500)


@cache
def links_on(web: SyntheticWeb, url: str) -> list[tuple[str, str]]:
    """The links of a page as a reader finds them, redirects followed."""
    answer = settled(web, url)
    while answer.status in (301, 302):
        url = dict(answer.headers)["location"]
        answer = settled(web, url)
    if answer.status != 200:
        return []
    found = HREF.findall(answer.body.decode())
    return [(join(url, href.replace("&amp;", "&")), text) for href, text in found]


def text_of(body: bytes) -> str:
    return re.sub("<[^>]*>", " ", body.decode().partition("<main")[2])


def test_the_same_seed_gives_the_same_bytes(web: SyntheticWeb) -> None:
    again = SyntheticWeb(DIALS)
    for url in islice(web.urls(), 0, None, 50):
        assert web.respond(url) == again.respond(url)


def test_another_seed_gives_other_pages(web: SyntheticWeb) -> None:
    other = SyntheticWeb(msgspec.structs.replace(DIALS, seed=1))
    assert not set(web.urls()) & set(other.urls())
    assert not set(web.hosts) & set(other.hosts)


def test_every_url_is_canonical_and_listed_once(web: SyntheticWeb) -> None:
    urls = list(web.urls())
    assert len(urls) == len(set(urls))
    assert all(canonical(url) == url for url in urls)


def test_every_listed_url_gives_a_page(web: SyntheticWeb) -> None:
    for url in islice(web.urls(), 0, None, 7):
        assert settled(web, url).status == 200


def test_links_lead_to_pages_but_for_the_share_that_is_dead(web: SyntheticWeb) -> None:
    statuses: Counter[int] = Counter()
    for url in islice(web.urls(), 0, None, 20):
        for link, _ in links_on(web, url):
            statuses[settled(web, link).status] += 1
    assert set(statuses) == {200, 301, 302, 404}
    # The links of frames lead somewhere always, and are half of all.
    share = statuses[404] / statuses.total()
    assert DIALS.dead_links / 3 < share < DIALS.dead_links


def outlinks(web: SyntheticWeb, nodes: list[Node]) -> Iterator[tuple[int, Node, str]]:
    for node in nodes:
        if node.kind is not Kind.TUNNEL and not node.hidden:
            for section in web.outlinks.of(node):
                for link in section.links:
                    yield section.topic, web.graph.node(link.target), link.anchor


def test_links_stay_in_their_topic_as_often_as_dialled(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    same = [topic == target.topic for topic, target, _ in outlinks(web, nodes)]
    assert mean(same) == pytest.approx(DIALS.locality, abs=0.04)


def test_links_may_lead_to_the_next_topic() -> None:
    """Classes of pages that link to one another, for MCORE's rules."""
    dials = msgspec.structs.replace(DIALS, locality=0.2, next_topic=0.75)
    web = SyntheticWeb(dials)
    nodes = [web.graph.node(number) for number in range(300)]
    found = list(outlinks(web, nodes))
    steps = [
        (target.topic - topic) % web.graph.topic_count for topic, target, _ in found
    ]
    assert mean(step == 0 for step in steps) == pytest.approx(0.2, abs=0.04)
    assert mean(step == 1 for step in steps) == pytest.approx(0.6 + 0.02, abs=0.05)


def test_anchors_mostly_tell_the_topic_of_their_target(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    telling = []
    for _, target, anchor in outlinks(web, nodes):
        if DEVANAGARI.search(anchor) is None:
            terms = lexicon.TOPICS[web.topics[target.topic]]
            telling.append(any(term in anchor.lower() for term in terms))
    assert 0.6 < mean(telling) < 0.9


def in_degrees(web: SyntheticWeb, nodes: list[Node]) -> list[int]:
    into = Counter(target.number for _, target, _ in outlinks(web, nodes))
    return sorted((into[node.number] for node in nodes), reverse=True)


@pytest.mark.parametrize("exponent", [2.2, 3.0])
def test_links_to_pages_follow_their_power_law(exponent: float) -> None:
    dials = msgspec.structs.replace(
        CALM, pages=4_000, topics=2, same_host=0, hidden=0, in_exponent=exponent
    )
    web = SyntheticWeb(dials)
    top = in_degrees(web, list(web.nodes()))[:400]
    hill = 1 + 1 / mean(math.log(count / top[-1]) for count in top)
    assert hill == pytest.approx(exponent, abs=0.3)


def test_links_to_pages_and_from_pages_have_heavy_tails(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    into = in_degrees(web, nodes)
    assert into[0] > 10 * mean(into)
    assert sum(into[: len(into) // 10]) > 0.3 * sum(into)
    out = [
        sum(len(section.links) for section in web.outlinks.of(node))
        for node in nodes
        if node.kind is Kind.ARTICLE
    ]
    assert max(out) > 6 * mean(out)
    assert mean(out) == pytest.approx(DIALS.links, rel=0.15)


def test_kinds_languages_and_copies_have_their_shares(nodes: list[Node]) -> None:
    pages = [node for node in nodes if node.kind is not Kind.TUNNEL]
    shares = {
        "hubs": mean(node.kind is Kind.HUB for node in pages),
        "mixed": mean(node.kind is Kind.MIXED for node in pages),
        "hindi": mean(node.hindi for node in pages),
        "copies": mean(node.copied for node in pages),
        "near_copies": mean(node.nearly_copied for node in pages),
        "moved": mean(node.moved > 0 for node in pages),
        "hidden": mean(node.hidden for node in pages),
    }
    for dial, share in shares.items():
        assert share == pytest.approx(getattr(DIALS, dial), abs=0.015), dial


def test_a_copy_has_the_same_bytes_and_links(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    for node in [node for node in nodes if node.copied][:20]:
        page, copy = web.addresses.page(node), web.addresses.copy(node)
        assert page != copy
        assert settled(web, page).body == settled(web, copy).body
        assert links_on(web, page) == links_on(web, copy)


def test_a_near_copy_differs_in_a_few_words(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    for node in [node for node in nodes if node.nearly_copied][:20]:
        page = settled(web, web.addresses.page(node)).body
        near = settled(web, web.addresses.near_copy(node)).body
        words = text_of(page).split(), text_of(near).split()
        likeness = SequenceMatcher(None, *words, autojunk=False).ratio()
        assert 0.9 < likeness < 1


def test_hindi_pages_have_their_terms_and_anchors_in_hindi(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    for node in islice((node for node in nodes if node.hindi), 10):
        url = web.addresses.page(node)
        terms = lexicon.TOPICS[web.topics[node.topic]]
        text = text_of(settled(web, url).body)
        assert any(hindi in text for hindi in terms.values())
        anchors = [anchor for _, anchor in links_on(web, url)]
        assert any(DEVANAGARI.search(anchor) for anchor in anchors)
        english = [term for term in terms if re.search(rf"\b{term}\b", text)]
        assert not english
    plain = next(node for node in nodes if not node.hindi)
    body = settled(web, web.addresses.page(plain)).body.decode()
    assert not DEVANAGARI.search(body)


def test_a_mixed_page_has_a_section_for_each_topic_with_its_links(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    mixed = [node for node in nodes if node.kind is Kind.MIXED]
    own = []
    for node in mixed[:60]:
        url = web.addresses.page(node)
        topics = web.labels(url)
        assert len(set(topics)) == len(topics) >= 2
        assert web.topics[node.topic] == topics[0]
        assert settled(web, url).body.count(b"<h2>") == len(topics)
        for section in web.outlinks.of(node):
            targets = [web.graph.node(link.target) for link in section.links]
            own += [target.topic == section.topic for target in targets]
    assert mean(own) == pytest.approx(DIALS.locality, abs=0.08)


def test_a_hub_has_more_links_than_an_article(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    def degree(kind: Kind) -> float:
        some = [node for node in nodes if node.kind is kind and not node.hidden]
        return mean(len(web.outlinks.of(node)[0].links) for node in some)

    assert degree(Kind.HUB) > 2 * degree(Kind.ARTICLE)


def test_tunnels_are_chains_that_alone_lead_to_relevant_pages(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    linked_from: dict[int, set[int]] = {}
    for node in nodes:
        for section in web.outlinks.of(node):
            for link in section.links:
                linked_from.setdefault(link.target, set()).add(node.number)
    by_number = {node.number: node for node in nodes}
    hidden = [node for node in nodes if node.hidden]
    assert hidden
    for node in hidden:
        block = node.rank // web.graph.block
        group = web.graph.behind(node.topic, block)
        sources = linked_from[node.number] - set(group)
        if node.number != group[0]:
            assert not sources
            continue
        for step in reversed(range(DIALS.tunnel_length)):
            (source,) = sources  # one way in
            assert source == web.graph.tunnel(node.topic, block, step)
            assert by_number[source].topic != node.topic
            sources = linked_from[source]
        assert sources
        assert {by_number[source].topic for source in sources} == {node.topic}


@cache
def reachable(web: SyntheticWeb, seeds: tuple[str, ...]) -> set[str]:
    seen, queue = set(seeds), deque(seeds)
    while queue:
        for url, _ in links_on(web, queue.popleft()):
            if url not in seen and "/calendar/" not in url:
                seen.add(url)
                queue.append(url)
    return seen


def test_the_pages_of_a_topic_are_mostly_reachable(web: SyntheticWeb) -> None:
    found = reachable(web, web.seeds("chess", 3))
    relevant = {url for url in web.urls() if "chess" in web.labels(url)}
    assert len(relevant) > 100
    assert len(relevant & found) > 0.95 * len(relevant)


def test_seeds_are_about_the_topic_or_far_from_it(web: SyntheticWeb) -> None:
    near = web.seeds("railway", 5)
    assert len(set(near)) == 5
    assert all(web.labels(url)[0] == "railway" for url in near)
    far = web.seeds("railway", 3, far=True)
    assert len(far) == 3
    for url in far:
        assert "railway" not in web.labels(url)
        assert not any("railway" in web.labels(link) for link, _ in links_on(web, url))
    relevant = {url for url in web.urls() if "railway" in web.labels(url)}
    assert len(relevant & reachable(web, far)) > 0.95 * len(relevant)


def test_an_old_address_redirects_in_its_hops_to_the_page(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    abroad, statuses = 0, set()
    for node in (node for node in nodes if node.moved):
        url = web.addresses.old(node)
        abroad += not url.startswith(f"http://{web.hosts[node.host]}/")
        for _ in range(node.moved):
            answer = settled(web, url)
            statuses.add(answer.status)
            url = dict(answer.headers)["location"]
        assert url == web.addresses.page(node)
    assert abroad > 3
    assert statuses == {301, 302}
    assert {node.moved for node in nodes} == {0, 1, 2, 3}


def test_robots_rules_forbid_the_decoys_and_set_delays(web: SyntheticWeb) -> None:
    answers = {host: web.respond(f"http://{host}/robots.txt") for host in web.hosts}
    statuses = Counter(answer.status for answer in answers.values())
    assert statuses == {200: 38, 404: 1, 503: 1}
    delays = 0
    for host, answer in answers.items():
        if answer.status == 200:
            rules = Protego.parse(answer.body.decode())
            assert not rules.can_fetch(f"http://{host}/private/x.html", "opilio")
            assert rules.can_fetch(f"http://{host}/pages/x.html", "opilio")
            delays += rules.crawl_delay("opilio") == DIALS.crawl_delay
    assert delays == pytest.approx(DIALS.crawl_delays * 40, abs=2)


def test_decoys_are_linked_and_would_answer(web: SyntheticWeb) -> None:
    found = reachable(web, web.seeds("chess", 3))
    decoys = sorted(url for url in found if "/private/" in url)
    assert decoys
    assert all(settled(web, url).status == 200 for url in decoys[:20])
    assert not any(web.labels(url) for url in decoys)


def test_a_calendar_never_ends(web: SyntheticWeb) -> None:
    host = next(host for host in web.graph.hosts if host.calendar)
    url = f"http://{host.name}/"
    seen = set()
    for _ in range(30):
        links = [link for link, _ in links_on(web, url) if "/calendar/" in link]
        fresh = [link for link in links if link not in seen]
        assert fresh
        seen.update(links)
        url = fresh[-1]
    calm = next(host for host in web.graph.hosts if not host.calendar)
    assert web.respond(f"http://{calm.name}/calendar/2026/11", 9).status != 200


def test_session_ids_name_the_same_page(web: SyntheticWeb) -> None:
    host = next(host for host in web.graph.hosts if host.sessions)
    hrefs = re.findall(
        rb'href="([^"]*PHPSESSID=[^"]*)"',
        b"".join(
            settled(web, web.addresses.page(web.graph.node(number))).body
            for number in range(host.start, host.start + host.size)
        ),
    )
    assert hrefs
    href = hrefs[0].decode()
    url = href if href.startswith("http") else f"http://{host.name}{href}"
    assert settled(web, url).body == settled(web, canonical(url)).body
    assert canonical(url) == url.partition("?")[0]


def test_failing_hosts_fail_their_share_and_slow_hosts_take_their_time() -> None:
    web = SyntheticWeb(Dials(pages=2_000, hosts=10, failing_hosts=0.2, slow_hosts=0.2))
    failing = {host.name for host in web.graph.hosts if host.failing}
    slow = {host.name for host in web.graph.hosts if host.slow}
    assert len(failing) == len(slow) == 2
    failed = []
    for url in web.urls():
        host = url.split("/")[2]
        answer = web.respond(url)
        assert answer.delay == (0.5 if host in slow else 0.0)
        if host in failing:
            failed.append(answer.status == 500)
        else:
            assert answer.status == 200
    assert mean(failed) == pytest.approx(0.3, abs=0.1)


def test_the_first_requests_of_a_url_fail_if_so_dialled() -> None:
    web = SyntheticWeb(
        Dials(pages=50, hosts=2, failing_hosts=0.5, failure_rate=0, first_failures=2)
    )
    url = f"http://{next(h.name for h in web.graph.hosts if h.failing)}/"
    assert [web.respond(url, attempt).status for attempt in range(4)] == [
        500,
        500,
        200,
        200,
    ]


def test_an_unknown_host_or_path_gives_an_error(web: SyntheticWeb) -> None:
    host = web.hosts[0]
    assert web.respond("http://elsewhere.test/").status == 502
    for path in ("/no", "/pages/the-bee-999999999.html", "/calendar/x/y", "/chess"):
        assert web.respond(f"http://{host}{path}").status == 404


def test_a_page_of_one_host_is_not_on_another(
    web: SyntheticWeb, nodes: list[Node]
) -> None:
    node = next(node for node in nodes if node.host == 0)
    assert web.respond(f"http://{web.hosts[4]}{node.path}", 9).status in (404, 500)


def test_a_topic_file_can_be_crawled_and_judged(web: SyntheticWeb) -> None:
    topic = tomllib.loads(web.topic_file("beekeeping"))
    assert topic["name"] == "beekeeping"
    assert "honey" in topic["keywords"]
    assert topic["evaluation"] == {"relevant_labels": ["beekeeping"]}
    assert all(web.respond(url).status == 200 for url in topic["seeds"])


def test_pages_have_the_size_and_links_of_real_ones() -> None:
    web = SyntheticWeb(REAL_SITE)
    pages = [web.addresses.page(node) for node in islice(web.nodes(), 0, None, 16)]
    sizes = [len(web.respond(url).body) for url in pages]
    assert mean(sizes) == pytest.approx(REAL_SITE.page_bytes, rel=0.15)
    assert max(sizes) > 3 * mean(sizes)
    assert mean(len(links_on(web, url)) for url in pages) == pytest.approx(90, rel=0.2)


def test_a_calm_web_has_one_address_for_every_page_and_no_errors() -> None:
    web = SyntheticWeb(msgspec.structs.replace(CALM, pages=300, hosts=6))
    urls = set(web.urls())
    assert not list(web.detours())
    for url in urls:
        assert web.respond(url).status == 200
        assert {link for link, _ in links_on(web, url)} <= urls


def memory_with(pages: int) -> int:
    """Bytes that a web of so many pages takes once ten of them were asked for."""
    tracemalloc.start()
    try:
        web = SyntheticWeb(Dials(pages=pages, hosts=1_000, hindi=0))
        for number in range(7, pages, pages // 10):
            url = web.addresses.page(web.graph.node(number))
            assert settled(web, url).status == 200
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_million_pages_take_no_more_memory_than_a_few() -> None:
    few, many = memory_with(10_000), memory_with(1_000_000)
    assert many < 30 * 2**20
    assert many - few < 2**20
