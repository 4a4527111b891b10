"""Links come with their place on the page and the topic terms in each part of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.read import kernels, plain_links
from opilio.read.html import PageReader
from opilio.read.plain_walk import Passage
from opilio.read.settled_links import SettledLinks
from opilio.records import (
    NOTHING,
    Counted,
    Link,
    LinkTerms,
    Page,
    ReaderSetup,
    Response,
)
from opilio.text import urls
from opilio.text.link_joiner import Joiner

HOST = "http://a.test"
URL = "http://a.test/water/page?q=chemistry"
SETUP = ReaderSetup(("chemistry", "water", "basic chemistry"), "en", context=True)


def read(html: str, setup: ReaderSetup = SETUP, url: str = URL) -> Page:
    headers = [("content-type", "text/html; charset=utf-8")]
    page = PageReader(setup).read(Response(url, 200, headers, html.encode(), 0.0))
    assert not page.degraded
    return page


def link(html: str) -> Link:
    (found,) = read(html).links
    return found


@pytest.mark.parametrize(
    ("html", "path"),
    [
        ("<a href=/x>x", "body/a"),
        ("<div><p>y <b><a href=/x>x", "body/div/p/b/a"),
        ("<table><tr><td><ul><li><a href=/x>x", "body/table/tbody/tr/td/ul/li/a"),
        ("<map><area href=/x>", "body/map/area"),
        ("<frameset><frame src=/x>", ""),
    ],
)
def test_the_path_of_a_link_is_its_tags_from_body_on(html: str, path: str) -> None:
    assert link(html).path == path


def test_deep_paths_keep_their_end() -> None:
    found = link("<div>" * 400 + f"<{'x' * 1000}><a href=/x>x")
    assert len(found.path) <= 410
    assert found.path.endswith(f"div/div/{'x' * 20}/a")


@pytest.mark.parametrize(
    "html",
    [
        "<p>before <a href=/x>the link</a> after",
        "<p>before <a href=/x> the\n link </a> after",
        "<p>before</p><a href=/x><p>the</p><p>link</p></a>after",
        "before <a href=/x>the<br>link</a> after",
        "<pre>before <a href=/x>the\nlink</a> after</pre>",
        "<ul><li>before<li><a href=/x>the <i>li</i>nk</a><li>after</ul>",
        "<table><tr><td>before<td><a href=/x>the link</a><td>after</table>",
        "<table><tr><td>before<table><tr><td><a href=/x>the link</a></table>after",
        "<table><caption>before <a href=/x>the link</a></caption><tr><td>after",
        "<ul>before<div><a href=/x>the link</a></div>after</ul>",
        "<form>before</form><a href=/x>the link</a><button>after</button>",
    ],
)
def test_anchor_and_context_are_told_apart_in_any_layout(html: str) -> None:
    """Meenu et al., section 3.2.5: "to extract hyperlink URL from a web page, anchor
    tags and other related information"."""
    found = link(html)
    assert (found.before, found.anchor, found.after) == ("before", "the link", "after")


def test_a_picture_stands_among_words() -> None:
    found = link("<p>before <a href=/x><img alt='basic chemistry'></a> after")
    assert (found.before, found.anchor, found.after) == (
        "before",
        "basic chemistry",
        "after",
    )
    assert found.terms == LinkTerms(Counted({"basic chemistri": 1}, math.sqrt(2)))


def test_each_part_of_a_link_has_its_terms() -> None:
    found = link(
        "<p>Water and more water <a href='/Basic%20chemistry/x.htm'>basic chemistry"
        "</a> of water"
    )
    around = math.sqrt((1 + math.log(3)) ** 2 + 3)  # and, more, of
    address = math.sqrt(6)  # a test basic chemistry x htm
    assert found.terms is not None
    assert found.terms.anchor == Counted({"basic chemistri": 1}, math.sqrt(2))
    assert found.terms.around.terms == {"water": 3}
    assert found.terms.around.norm == pytest.approx(around)
    assert found.terms.url.terms == {"basic chemistri": 1}
    assert found.terms.url.norm == pytest.approx(address)


def test_a_link_without_terms_has_none() -> None:
    html = f"water {'x ' * 200}<a href=/x>x</a> {'x ' * 200}water"
    assert link(html).terms is None


def test_links_come_without_context_unless_asked() -> None:
    (found,) = read(
        "<p>water <a href=/water>water", ReaderSetup(SETUP.terms, "en")
    ).links
    assert found.anchor == "water"
    assert (found.before, found.path, found.terms) == ("", "", None)


def test_title_and_address_of_a_page_have_their_terms() -> None:
    page = read("<title>The chemistry of water</title><p>nothing")
    assert page.title_terms == Counted({"chemistri": 1, "water": 1}, math.sqrt(4))
    assert page.url_terms.terms == {"chemistri": 1, "water": 1}
    assert page.terms == {}
    page = read("<title>Rocks</title>water", url="http://a.test/")
    assert page.title_terms is NOTHING or page.title_terms == NOTHING


def test_no_phrase_goes_from_one_paragraph_to_the_next() -> None:
    assert read("<p>basic</p><p>chemistry</p>").terms == {"chemistri": 1}
    assert read("<p>basic\n<b>chemistry</b></p>").terms == {"basic chemistri": 1}


def test_alternates_are_read_by_language() -> None:
    page = read(
        "<link rel=alternate hreflang=DE-at href=/de><link rel=alternate href=/feed>"
        "<link rel='alternate' hreflang=x-default href=http://b.test/>"
        "<link rel=alternate hreflang=de-AT href=/again>"
        "<link rel=alternate hreflang='no way' href=/x>"
        "<link rel=alternate hreflang=fr href=javascript:x>"
    )
    assert page.alternates == {
        "de-at": "http://a.test/de",
        "x-default": "http://b.test/",
    }


def test_the_number_of_alternates_is_bounded() -> None:
    every = (f"<link rel=alternate hreflang=l{n} href=/{n}>" for n in range(5000))
    assert len(read("".join(every)).alternates) == 100


def test_a_page_has_its_vector_if_asked() -> None:
    html = "<p>water water basic chemistry"
    page = read(html, ReaderSetup(SETUP.terms, "en", vector=True))
    assert len(page.stems) == 3 * 8
    assert sorted(page.counts[::2]) == [1, 1, 2]
    assert read(html).stems == b""


@st.composite
def passages(draw: st.DrawFn) -> tuple[str, list[Passage], list[plain_links.Target]]:
    """A text on one line, and links in it."""
    words = st.sampled_from(
        ["a", "of  the", "\x07", "é\u202e", "東京", "😀", "x" * 150]
    )
    line = " ".join(draw(st.lists(words, max_size=30)))
    found = []
    for _ in range(draw(st.integers(0, 12))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(line))] * 2)))
        name = draw(st.sampled_from(["", " a\n picture ", "\x07"]))
        rel = draw(st.sampled_from(["", "nofollow"]))
        found.append(Passage("", rel, name, "body/a", start, end, 1))
    where = st.sampled_from([("", 0), (URL, 1), ("u", 2), ("v", 3), ("w", -4)])
    return line, found, [draw(where) for _ in found]


@pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")
@given(
    passages(),
    st.sampled_from([(), [7, 8]]),
    st.sampled_from([0, 1, 5, 200]),
    st.sets(st.integers(2, 3)),
)
def test_compiled_or_not_the_same_links_count(given, at_rank, context, known) -> None:
    settled = SettledLinks()
    settled.learn(np.array([(each, 1) for each in (*known, -4)], "<i8").tobytes())
    places = settled.places if known else None
    arguments = (*given, URL, at_rank, context, places)
    found = kernels.find_links(*arguments)
    assert found == plain_links.find_links(*arguments)
    assert all(link.anchor.isprintable() for link in found[0])


@pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")
@pytest.mark.parametrize(("start", "end"), [(-1, 1), (2, 1), (0, 5), (9, 9)])
def test_links_outside_of_the_text_are_refused(start, end) -> None:
    passage = Passage("", "", "", "", start, end, 0)
    with pytest.raises(ValueError, match="outside"):
        kernels.find_links("text", [passage], [("u", 1)], URL, (), 200)


def test_settled_links_are_named_by_fingerprint_alone() -> None:
    reader = PageReader(SETUP)
    html = """<a href=/old>old</a> <a href=/new>new</a> <a href=/old>again</a>
        <a href=/old#part>a part</a> <a href=/marked rel=nofollow>marked</a>
        <a href=/page>the page itself</a>"""
    response = Response(f"{HOST}/page", 200, (), html.encode(), 0.0)
    before = reader.read(response)
    prints = {link.url: link.fingerprint for link in before.links}
    assert list(prints) == [f"{HOST}/{name}" for name in ("old", "new", "marked")]
    settled = [(prints[f"{HOST}/old"], 5), (prints[f"{HOST}/marked"], 6)]
    reader.settled.learn(np.array(settled, "<i8").tobytes())
    after = reader.read(response)
    assert [link.url for link in after.links] == [f"{HOST}/new", f"{HOST}/marked"]
    assert np.frombuffer(after.settled, "<i8").tolist() == [prints[f"{HOST}/old"]]
    assert np.frombuffer(after.settled_ids, "<i8").tolist() == [5]
    assert before.settled == b""
    assert (after.words, after.terms) == (before.words, before.terms)


HREFS = """<a href=/old>old</a> <a href="/new?a=1&amp;b=2">new</a>
    <a href=/old>twice</a> <a href=/old#part>part</a> <a href=next>next</a>
    <a href=/old rel=nofollow>marked</a>
    <a href=/folder/page>itself</a> <a href="?page=2">further</a> <a href=>empty</a>
    <a href="/new?a=1&b=2">the same</a> <iframe src=/framed></iframe>
    <a href=/called rel=tag>tag</a> <a href=/called>called</a> <a href=/é>é</a>"""


@pytest.mark.parametrize("base", ["", "<base href=/elsewhere/>"])
@pytest.mark.parametrize("page", ["folder/page", "folder/other", "elsewhere/page"])
def test_remembered_hrefs_lead_where_they_led(page, base) -> None:
    """What a reader that has seen settled links before finds is what a new one does."""
    url = f"{HOST}/{page}"
    first = Response(f"{HOST}/folder/page", 200, (), HREFS.encode(), 0.0)
    asked = Response(url, 200, (), (base + HREFS).encode(), 0.0)
    every = [*PageReader(SETUP).read(first).links, *PageReader(SETUP).read(asked).links]
    every = [(link.fingerprint, 7) for link in every[::2]]
    settled = np.array([*every, (urls.fingerprint(url), 8)], "<i8").tobytes()
    fresh, used = PageReader(SETUP), PageReader(SETUP)
    for reader in (fresh, used):
        reader.settled.learn(settled)
    for _ in range(2):
        used.read(first)
    assert used.read(asked) == fresh.read(asked)
    assert used.read(asked) == fresh.read(asked)


@pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")
def test_a_settled_link_is_told_by_its_fingerprint() -> None:
    settled, print_ = SettledLinks(), urls.fingerprint(f"{HOST}/old")
    settled.learn(np.array([(print_, 5)], "<i8").tobytes())
    settled.hrefs.enter(f"{HOST}/")
    markup = b'<a href="/old">old</a><a href="/new">new</a>'
    arguments = URL, (), 0, settled.places, settled.hrefs
    targets = Joiner(f"{HOST}/").join_all(["/old", "/new"])
    found = kernels.walk(markup, settled.hrefs, settled.places)
    before = kernels.find_links(found.text, found.links, targets, *arguments)
    again = kernels.walk(markup, settled.hrefs, settled.places)
    assert again.links[0] == print_
    told = kernels.find_links(again.text, again.links, targets[1:], *arguments)
    assert told == before
    settled.hrefs.enter(f"{HOST}/elsewhere/")
    assert kernels.walk(markup, settled.hrefs, settled.places).links == found.links
    settled.learn(np.array([(print_ + 2**21, 6)], "<i8").tobytes())  # takes its place
    settled.hrefs.enter(f"{HOST}/")
    assert kernels.walk(markup, settled.hrefs, settled.places).links == found.links
