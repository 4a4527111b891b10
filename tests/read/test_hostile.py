"""Hostile pages are read in bounded time and memory, whatever they are.

The rows are those of hostile-web.md. Time is bounded by pytest's limit: linear takes a
second at most, quadratic takes minutes.
"""

from __future__ import annotations

import random
import tracemalloc
import zipfile
from io import BytesIO

import msgspec
import pytest
import turbohtml

from opilio.errors import Unusable
from opilio.read.blocks import MOST_BLOCKS
from opilio.read.html import PageReader
from opilio.records import Page, ReaderSetup, Response
from opilio.text import words
from read.pages import ARTICLE, damage

URL = "http://a.test/dir/page"
UTF_8 = "text/html; charset=utf-8"
TERMS = ("water", "basic chemistry", "chemistry")
READER = PageReader(ReaderSetup(TERMS, "en", context=True, blocks=True, vector=True))
PLAIN = PageReader(ReaderSetup(TERMS, "en"))


def response(body: str | bytes, content_type: str) -> Response:
    raw = body.encode() if isinstance(body, str) else body
    return Response(URL, 200, [("content-type", content_type)], raw, 0.0)


def read(body: str | bytes, content_type: str = UTF_8) -> Page:
    page = READER.read(response(body, content_type))
    assert not page.degraded
    assert len(page.blocks) <= MOST_BLOCKS
    assert all(0 <= link.block < len(page.blocks) for link in page.links)
    msgspec.msgpack.encode(page)  # it holds no lone surrogate
    return page


def test_ten_thousand_damaged_pages_are_read() -> None:
    rng = random.Random(7)
    for number in range(10_000):
        body = damage(rng)
        page = read(body)
        if number % 10 == 0:
            plain = PLAIN.read(response(body, UTF_8))
            assert [x.url for x in page.links] == [x.url for x in plain.links]
        for link in page.links:
            assert len(link.before) <= 200 and len(link.after) <= 200
            assert "\0" not in link.before + link.anchor + link.after
        in_blocks = sum(block.words for block in page.blocks)
        assert in_blocks == page.words + len(words.tokens(page.title))


NESTED = [
    *("<div>", "<b>", "<table><tr><td>", "<b><p>", "<a href=/x><i>", "<ul><li>"),
    *("<font>", "<svg>", "<template>", "<select><option>", "<table><b>", "<nav>"),
    *("<h1><div>", "<div class=nav><h2>x</h2>", "<footer><a href=/y>", "<form><ul>"),
]


@pytest.mark.parametrize("markup", NESTED)
def test_deep_nesting_does_not_stop_the_reader(markup: str) -> None:
    """Row 27."""
    page = read("<a href=/first>first</a>" + markup * 100_000 + "deep")
    assert page.links[0].anchor == "first"


@pytest.mark.parametrize("tag", ["h1", "div class=nav", "ul", "section role=menu"])
def test_deep_regions_with_much_text_take_linear_time(tag: str) -> None:
    """Rows 27 and 28: what is inside many regions is not copied for each of them."""
    read(f"<{tag}>x<div>" * 200 + f"water <a href=/x>{'water ' * 9}</a> " * 40_000)


def test_thousands_of_attributes_are_no_trouble() -> None:
    attributes = " ".join(f"a{number}=x" for number in range(100_000))
    (link,) = read(f"<a {attributes} href=/x>x</a>").links
    assert link.url == "http://a.test/x"


@pytest.mark.parametrize(
    "name", ["href", "class", "id", "role", "rel", "alt", "title", "lang", "data-x"]
)
def test_attributes_of_a_megabyte_are_no_trouble(name: str) -> None:
    value = "nav x" * 200_000
    page = read(f'<nav {name}="{value}"><a href=/x>x</a><a {name}="{value}" href=/y>y')
    assert page.links[0].url == "http://a.test/x"


def test_of_a_million_links_the_first_are_kept() -> None:
    """Row 41."""
    page = read("".join(f"<a href=/{number}>x" for number in range(500_000)))
    assert len(page.links) == 5000
    assert page.links[-1].url == "http://a.test/4999"
    page = read("<a href=/x>x" * 800_000)
    assert [link.url for link in page.links] == ["http://a.test/x"]


@pytest.mark.parametrize(
    "piece",
    [
        *("<h2>water</h2> basic chemistry ", "<nav><a href=/x>x</a></nav>y", "<ul>"),
        *("<li><a href=/x>x</a>", "<table><tr><td>water", "<p>水", "water ", "<!---->"),
        *("<link rel=alternate hreflang=de href=/x>", "<meta name=robots>", "&amp;"),
    ],
)
def test_ten_megabytes_take_bounded_time(piece: str) -> None:
    """Row 28."""
    size = len(piece.encode())
    page = read(piece * (10 * 2**20 // size))
    assert len(page.alternates) <= 100


def test_the_reader_keeps_nothing_of_a_page() -> None:
    """Row 50: what was read of a thousand pages is gone with them."""
    rng = random.Random(3)
    bodies = [damage(rng) for _ in range(300)]
    for body in bodies:
        read(body)
    tracemalloc.start()
    try:
        for body in bodies:
            read(body)
        before, _ = tracemalloc.get_traced_memory()
        for body in bodies * 2:
            read(body)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2**20


SAID = "<meta charset=utf-8><title>Café — 水</title><p>water"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (SAID.encode("utf-8-sig"), "text/html; charset=iso-8859-1"),
        (SAID.encode("utf-16"), "text/html"),
        (SAID.encode("utf-16-le"), "text/html; charset=utf-16le"),
        (SAID.encode("utf-16-be"), "text/html; charset=utf-16be"),
        (SAID.encode(), "text/html; charset=UTF8"),
        (SAID.encode(), "text/html; charset=nonsense"),
        (SAID.replace("utf-8", "gb18030").encode("gb18030"), "text/html"),
        (SAID.encode(), "text/html"),
    ],
)
def test_contradicting_encodings_are_read_as_browsers_do(
    body: bytes, content_type: str
) -> None:
    """Row 29."""
    page = read(body, content_type)
    assert page.title == "Café — 水"
    assert page.terms == {"water": 1}


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/html; charset=utf-7", "text/html; charset=utf-16", "text/html"),
        *("text/html; charset=shift_jis", "text/html; charset=x-user-defined", ""),
        *("text/html; charset=iso-2022-kr", "text/html; charset=utf-32", "x" * 10_000),
    ],
)
def test_wrong_encodings_do_no_harm(content_type: str) -> None:
    """Row 29."""
    for body in (SAID.encode(), SAID.encode("utf-16-be"), bytes(range(256)) * 40):
        read(body, content_type)


def zipped() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("page.html", ARTICLE)
    return file.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        zipped(),
        b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(2**18),
        b"\x7fELF" + bytes(2**16),
        b'{"a": "<a href=\'/x\'>x</a>"}',
        b"",
        b"\0" * 2**20,
        b"\xff\xfe",
    ],
)
def test_what_is_no_page_is_read_without_harm(body: bytes) -> None:
    """Row 33: mislabelled as HTML; nothing is unpacked."""
    assert "The chemistry of water" not in read(body).title


def test_a_broken_pdf_file_that_is_called_html_is_named() -> None:
    """Row 33, too: what a file is, its first bytes tell."""
    body = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\nendobj\nstream\n"
    with pytest.raises(Unusable, match="the PDF file is broken"):
        read(body)


@pytest.mark.parametrize("noise", ["\0", "\x010\x01", "\0h0\0", "\0<0\0", "&#0;h0&#0;"])
def test_control_characters_move_no_block_and_no_link(noise: str) -> None:
    page = read(
        f"<h1>Water{noise}</h1>{noise}<p>a{noise} "
        f"<a href='/x{noise}'>one{noise}</a>{noise}"
        f"<svg><![CDATA[{noise}]]></svg><nav>b <a href=/b>two</a>{noise}</nav>"
    )
    assert [block.level for block in page.blocks] == [0, 1, 0]
    assert [link.block for link in page.links] == [1, 2]


def test_texts_that_are_kept_hold_no_control_characters() -> None:
    """Row 30."""
    mess = "a\0b\x1b[2Jc\u202ed&#1;&#xd800;e"
    page = read(
        f"<title>{mess}{'t' * 2**20}</title><h1>{mess}</h1><p>{mess} "
        f"<a href=/x>{mess}{'x ' * 500}</a>"
    )
    assert len(page.title) == 500 and len(page.links[0].anchor) == 300
    for text in (page.title, page.links[0].anchor, page.blocks[1].heading):
        assert text.isprintable() and text.startswith("a")


@pytest.mark.parametrize("pattern", ["(", "a" * 50_000, "a-" * 50_000, "%" * 100_000])
def test_no_address_keeps_the_reader_busy(pattern: str) -> None:
    """Row 32: there is no backtracking over what pages say."""
    read(f"<nav class='{pattern}'><a href='/{pattern}'>{pattern}</a></nav>")


@pytest.mark.parametrize(
    ("base", "href", "url"),
    [
        ("//b.test/q/", "x", "http://b.test/q/x"),
        ("\\\\b.test\\q\\", "x", "http://b.test/q/x"),
        ("http://user:pass@b.test/", "x", "http://b.test/x"),
        ("java\tscript:x", "x", "http://a.test/dir/x"),
        ("\thttp://b.test/\n", "\\x\t\ny", "http://b.test/xy"),
        ("", "//user:pass@b.test:80\\x", "http://b.test/x"),
    ],
)
def test_bases_and_hrefs_mean_what_browsers_make_of_them(
    base: str, href: str, url: str
) -> None:
    """Row 34."""
    (link,) = read(f'<base href="{base}"><a href="{href}">x</a>').links
    assert link.url == url


@pytest.mark.parametrize("target", ["page", "", "#x", URL, "  page  ", "?"])
def test_a_page_that_refreshes_itself_leads_nowhere(target: str) -> None:
    """Row 35: a loop of one page; longer ones are redirects, which are counted."""
    page = read(f'<meta http-equiv=refresh content="0; url={target}">' * 1000)
    assert page.refresh in ("", URL + "?")


def test_a_canonical_elsewhere_is_not_believed() -> None:
    """Row 35."""
    assert read("<link rel=canonical href=http://evil.test/>" * 1000).canonical == ""


@pytest.mark.parametrize("noise", ["<", "<a ", "<a href", '<a href="', "<title", "&#"])
def test_no_noise_stops_reading_by_pattern(noise: str) -> None:
    """Row 27: what is left to do when the parser fails."""

    def fail(markup: str) -> turbohtml.Document:
        raise ValueError

    reader = PageReader(READER.setup, parse=fail)
    page = reader.read(Response(URL, 200, (), (noise * 2**19).encode(), 0.0))
    assert page.degraded == "ValueError"
