"""Pages are read as browsers see them, whatever their markup."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
import turbohtml
from selectolax.lexbor import LexborHTMLParser

from opilio.read.html import PageReader
from opilio.read.simhash import distance
from opilio.records import Link, Page, ReaderSetup, Response
from opilio.text import urls, words
from opilio.text.link_joiner import Joiner
from read.pages import ARTICLE, SAMPLES

URL = "http://a.test/dir/page"
SETUP = ReaderSetup(
    ("chemistry", "water", "basic chemistry"), "en", context=True, blocks=True
)
WEB = Path(__file__).parents[3] / "shared/webs/schools/pages.warc.gz"


def read(
    html: str | bytes, url: str = URL, headers: Sequence[tuple[str, str]] = ()
) -> Page:
    body = html.encode() if isinstance(html, str) else html
    headers = [("content-type", "text/html; charset=utf-8"), *headers]
    page = PageReader(SETUP).read(Response(url, 200, headers, body, 0.0))
    assert not page.degraded
    return page


def link(html: str, url: str = URL) -> Link:
    (found,) = read(html, url).links
    return found


def test_a_page_is_read_as_a_whole() -> None:
    page = read(ARTICLE)
    assert page.url == URL
    assert page.title == "The chemistry of water"
    assert (page.language, page.charset) == ("en", "utf-8")
    assert page.canonical == "http://a.test/dir/page?x=1"
    assert (page.noindex, page.nofollow) == (False, True)
    assert page.terms == {"water": 1, "basic chemistri": 1}
    text = (
        "home other water is h2o as basic chemistry teaches spam and mail do not cell"
    )
    assert page.words == len(f"{text} up top code in pre".split())


def test_links_come_in_document_order_each_url_once() -> None:
    page = read(ARTICLE)
    assert [(link.url, link.anchor, link.rel) for link in page.links] == [
        ("http://a.test/", "Home", ""),
        ("http://a.test/dir/other.html", "Other", ""),
        ("http://b.test/chem?a=1&b=2", "basic chemistry", ""),
        ("http://c.test/", "spam", "nofollow ugc"),
        ("http://a.test/up", "up", ""),
        ("http://a.test/picture", "a picture", ""),
        ("http://a.test/area", "an area", ""),
        ("http://a.test/frame", "", ""),
        ("http://a.test/pre", "in pre", ""),
    ]
    assert all(x.fingerprint == urls.fingerprint(x.url) for x in page.links)


def test_the_words_around_a_link_are_its_context() -> None:
    chemistry = read(ARTICLE).links[2]
    assert chemistry.before.split() == ["Home", "Other", "Water", "is", "H2O,", "as"]
    assert chemistry.after.startswith("teaches; spam and mail do not.")


def test_context_is_cut_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(90))
    found = link(f"<p>{text} <a href=/x>here</a> {text}</p>")
    assert 180 < len(found.before) <= 200 and 180 < len(found.after) <= 200
    assert text.endswith(" " + found.before)
    assert text.startswith(found.after + " ")


def test_context_is_that_of_the_link_and_not_of_the_same_words_before() -> None:
    found = link("<p>an oil in soil, oil here <a href=/x>oil</a> there</p>")
    assert (found.before, found.after) == ("an oil in soil, oil here", "there")


def test_context_of_other_scripts_counts_characters() -> None:
    found = link(f"<p>{'हिन्दी ' * 40}<a href=/x>यह</a>{'中文' * 200}")
    assert 180 < len(found.before) <= 200 and found.before.startswith("हिन्दी")
    assert found.after == "中文" * 100


def test_a_later_anchor_replaces_none() -> None:
    page = read(
        "<a href=/x></a><a href=/y>y</a><p>see <a href=/x>the x</a> <a href=/x>z"
    )
    assert [(x.url[-1], x.anchor) for x in page.links] == [("x", "the x"), ("y", "y")]
    assert page.links[0].before.endswith("see")


def test_base_href_counts_for_every_link() -> None:
    assert (
        link("<base href=http://b.test/q/><a href=x>x</a>").url == "http://b.test/q/x"
    )
    assert link("<base href=javascript:x><a href=x>x").url == "http://a.test/dir/x"


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("//b.test/x", "http://b.test/x"),
        ("\\\\b.test\\x", "http://b.test/x"),
        (" /a\n/b\t ", "http://a.test/a/b"),
        ("http://user:secret@b.test/", "http://b.test/"),
        ("http://bücher.test/", "http://xn--bcher-kva.test/"),
        ("HTTPS://B.test:443/#frag", "https://b.test/"),
    ],
)
def test_hrefs_mean_what_browsers_make_of_them(href: str, url: str) -> None:
    assert link(f'<a href="{href}">x</a>').url == url


@pytest.mark.parametrize(
    "href", ["javascript:x", "data:,x", "ftp://x/", "#x", "http://"]
)
def test_what_is_no_other_page_is_no_link(href: str) -> None:
    assert read(f'<a href="{href}">x</a>').links == []


def test_a_canonical_url_of_another_site_is_not_believed() -> None:
    assert read("<link rel=canonical href=http://evil.test/>").canonical == ""
    page = read("<link rel='shortlink Canonical' href=http://www.a.test/c>")
    assert page.canonical == "http://www.a.test/c"


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/x", "http://a.test/x"),
        ("5;URL='http://b.test/'", "http://b.test/"),
        ("6; url=/x", ""),
        ("0", ""),
        ("0; url=page", ""),
        ("0; url=javascript:alert(1)", ""),
        ("soon", ""),
        (".;url=/x", ""),
    ],
)
def test_a_refresh_within_five_seconds_is_a_redirect(content: str, target: str) -> None:
    assert read(f'<meta http-equiv=Refresh content="{content}">').refresh == target


def test_robots_speak_by_meta_and_by_header() -> None:
    page = read('<meta name="opilio" content="none">')
    assert (page.noindex, page.nofollow) == (True, True)
    page = read(
        "", headers=[("x-robots-tag", "noindex"), ("x-robots-tag", "x: nofollow")]
    )
    assert (page.noindex, page.nofollow) == (True, False)
    assert not read('<meta name="googlebot" content="noindex">').noindex


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=DE-at>", "de"),
        ("<html lang='zh_Hant_TW'>", "zh"),
        ("<html lang='english'>" + "हिन्दी " * 9, "hi"),
        ("<p>" + "日本語の文章です。" * 9, "ja"),
        ("<p>" + "中文网页" * 9, "zh"),
        ("<p>Plain text, naïve", ""),
    ],
)
def test_the_language_is_declared_or_told_by_the_script(
    html: str, language: str
) -> None:
    assert read(html).language == language


def test_what_is_kept_of_title_and_anchors_is_short_and_clean() -> None:
    mess = "a\0b\x1b[2Jc\u202ed&#1;&#xd800;e"
    page = read(f"<title>{mess}{'t' * 2**20}</title><a href=/x>{mess}{'x ' * 500}</a>")
    assert len(page.title) == 500 and len(page.links[0].anchor) == 300
    for text in (page.title, page.links[0].anchor):
        assert text.isprintable() and text.startswith("a")
    msgspec.msgpack.encode(page)


def test_control_characters_do_not_mislead_the_search_for_links() -> None:
    page = read(
        "<p>x (&#1;0) (\x011) y (\x01z <a href='\x010'>one</a> <a href=/b>b</a>"
    )
    assert [x.anchor for x in page.links] == ["one", "b"]


TEXT = " ".join(f"word{number}" for number in range(400))


def test_a_page_with_three_words_changed_is_a_near_copy() -> None:
    changed = TEXT.replace("word7 ", "other ").replace("word70 ", "").replace("399", "")
    one, other = (read(f"<title>T</title><p>{text}") for text in (TEXT, changed))
    assert one.simhash and distance(one.simhash, other.simhash) <= 3


def test_pages_of_one_template_are_no_near_copies() -> None:
    pages = [read(f"<title>Part {n}</title><p>{TEXT} of part {n}") for n in range(100)]
    for one, other in combinations(pages, 2):
        assert distance(one.simhash, other.simhash) > 3


def test_different_pages_are_no_near_copies() -> None:
    other = " ".join(f"thing{number}" for number in range(400))
    one, two = (read(f"<title>T</title><p>{text}") for text in (TEXT, other))
    assert distance(one.simhash, two.simhash) > 16


def test_a_page_that_the_parser_fails_on_is_read_by_pattern() -> None:
    def fail(markup: str) -> turbohtml.Document:
        raise RecursionError("too deep")

    reader = PageReader(SETUP, parse=fail)
    page = reader.read(Response(URL, 200, (), ARTICLE.encode(), 0.0))
    assert page.degraded == "RecursionError"
    assert page.title == "The chemistry of water"
    assert page.terms == {"water": 2, "chemistri": 1, "basic chemistri": 1}
    (whole,) = page.blocks
    assert whole.terms["water"] == 3
    assert {"http://a.test/up", "http://a.test/picture"} < {x.url for x in page.links}


def assert_like_selectolax(body: bytes, page: Page) -> None:
    """Title, headings, link targets and words are those of another parser."""
    tree = LexborHTMLParser(body.decode("utf-8", "replace"))
    title = tree.css_first("title")
    assert (
        page.title == " ".join(title.text().split())[:500] if title else not page.title
    )
    tree.strip_tags(["noscript", "template", "script", "style", "select", "textarea"])
    base = tree.css_first("base[href]")
    joiner = Joiner(page.url, base.attributes["href"] if base else "")
    hrefs = [a.attributes["href"] or "" for a in tree.css("a[href]")]
    expected = dict.fromkeys(url for url, _ in map(joiner.__getitem__, hrefs) if url)
    expected.pop(page.url, None)
    assert [x.url for x in page.links] == list(expected)
    headings = [
        (int(heading.tag[1]), " ".join(heading.text().split()))
        for heading in tree.css("h1, h2, h3, h4, h5, h6")
    ]
    blocks = [(block.level, block.heading) for block in page.blocks if block.level]
    assert blocks == headings
    assert tree.body is not None
    theirs = len(words.tokens(tree.body.text(separator=" ")))
    assert page.words == pytest.approx(theirs, rel=0.05, abs=5)


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6])
def test_another_parser_sees_the_same_page(number: int) -> None:
    body = SAMPLES[number].encode()
    assert_like_selectolax(body, read(body))


@pytest.mark.skipif(not WEB.exists(), reason="the schools web is not here")
def test_another_parser_sees_the_same_real_pages() -> None:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with WEB.open("rb") as file:
        compared = 0
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            body = record.reader.read()
            if "html" not in (record.http_headers.get("Content-Type") or ""):
                continue
            page = read(body, record.headers["WARC-Target-URI"])
            assert_like_selectolax(body, page)
            compared += 1
            if compared == 200:
                return
