"""PDF files, plain text and Markdown are read as pages are: text, title, links."""

from __future__ import annotations

import re
import resource
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from opilio.errors import Unusable
from opilio.lab.synthetic.pdf_writer import blocks_of, file_of, write_pdf
from opilio.read.documents import pdf, pdf_blocks
from opilio.read.documents.pdf import pdf_markup
from opilio.read.documents.pdf_lines import PdfLine, PdfPiece
from opilio.read.html import PageReader
from opilio.read.main_content.extract import extract_content
from opilio.read.page_texts import PageTexts
from opilio.records import ReaderSetup, Response
from opilio.text.document_kinds import DocumentKind, document_type, kind_of, told_kind

URL = "http://bees.test/docs/hive.pdf"
SETUP = ReaderSetup(
    terms=("bee", "honey"), language="en", context=True, blocks=True, headings=True
)
WORDS = "Bees fly from flower to flower and carry the nectar home. "
HTML = (
    "<h1>The hive</h1>"
    f'<p>{WORDS * 12}Read about <a href="/mites?a=1&amp;b=2">the varroa mite and how '
    "to treat a whole colony against it in late summer</a> first.</p>"
    "<h2>In winter</h2>"
    "<p>The cluster keeps warm; “honey” is its fuel – always.</p>"
    "<p>A second paragraph of this part, with (brackets) and a \\ in it.</p>"
)


def made(markup: str = HTML, title: str = "All about hives", author: str = "") -> bytes:
    return write_pdf(title, blocks_of(markup, "http://bees.test"), author)


def answered(
    body: bytes, kind: str = "application/pdf", url: str = URL, **more: str
) -> Response:
    headers = [("content-type", kind), *more.items()]
    return Response(url, 200, headers, body, 1.79e9)


def test_a_pdf_file_has_title_headings_paragraphs_and_links_with_context() -> None:
    page = PageReader(SETUP).read(answered(made()))
    assert page.title == "All about hives"
    assert list(page.headings) == ["The hive", "In winter"]
    assert page.terms == {"bee": 12, "honey": 1} and page.language == "en"
    [link] = page.links
    assert link.url == "http://bees.test/mites?a=1&b=2"
    # The link is broken into two lines, which are two links in the file.
    assert link.anchor.startswith("the varroa mite and how to treat a whole colony")
    assert link.anchor.endswith("against it in late summer")
    assert link.before.endswith("Read about") and link.after.startswith("first.")


def test_text_and_markdown_of_a_pdf_file() -> None:
    found = extract_content(answered(made(author="Jane Doe")))
    lines = found.text.split("\n")
    assert lines[0] == "The hive" and lines[2] == "In winter"
    assert lines[1].startswith(WORDS * 12) and lines[1].endswith("first.")
    assert lines[3:] == [
        "The cluster keeps warm; “honey” is its fuel – always.",
        "A second paragraph of this part, with (brackets) and a \\ in it.",
    ]
    assert found.markdown.startswith("# The hive\n\nBees fly")
    assert "](http://bees.test/mites?a=1&b=2) first." in found.markdown
    assert "\n## In winter\n" in found.markdown
    assert (found.title, found.pages) == ("All about hives", 1)
    assert (list(found.authors), found.published) == (["Jane Doe"], "2026-01-02")


@pytest.mark.parametrize(
    ("told", "title"),
    [("", "The hive"), ("untitled", "The hive"), ("hive_v3.docx", "The hive")],
)
def test_a_file_without_a_title_is_named_by_its_largest_heading(
    told: str, title: str
) -> None:
    assert f"<title>{title}</title>" in pdf_markup(made(title=told), URL)


def test_running_titles_and_page_numbers_are_left_out() -> None:
    def line(words: str, foot: float) -> PdfLine:
        return PdfLine((PdfPiece(words),), 10.0, 50.0, 500.0, foot)

    pages = [
        [
            line(f"The Journal of Bees, volume {number}", 800),
            *(line(f"Page {'q' * number}, line {n}.", 750 - 12 * n) for n in range(9)),
            line(str(number), 40),
        ]
        for number in range(1, 6)
    ]
    text = " ".join(block.words for block in pdf_blocks.pdf_blocks_of(pages))
    assert text.count("The Journal of Bees") == 1  # the first page keeps it
    said = (
        f"Page {'q' * number}, line {n}." for n in range(9) for number in range(1, 6)
    )
    assert all(line in text for line in said)
    assert not re.search(r"\. \d", text)


def test_words_that_were_broken_at_a_hyphen_are_whole() -> None:
    wide = "x" * 84
    found = extract_content(answered(made(f"<p>{wide} pol- linates the flowers.</p>")))
    assert "pollinates the flowers" in found.text


def encrypted() -> bytes:
    """A file with the marks of encryption, which opens with a password only."""
    key = b"/Filter /Standard /V 1 /R 2 /P -44 /O <%b> /U <%b>" % (
        b"1f" * 32,
        b"2e" * 32,
    )
    ids = b"/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    return made().replace(
        b"/Root 1 0 R", b"/Root 1 0 R /Encrypt << %b >> %b" % (key, ids)
    )


BROKEN = {
    "encrypted": (encrypted(), "pdf_encrypted"),
    "cut off": (made()[:400], "pdf_broken"),
    "only a head": (b"%PDF-1.7\n", "pdf_broken"),
    "a page about an error": (b"<html><p>Please log in</html>", "pdf_broken"),
    "a scan": (write_pdf("A scan", []), "pdf_no_text"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_files_that_cannot_be_read_have_a_reason(name: str) -> None:
    body, reason = BROKEN[name]
    with pytest.raises(Unusable) as caught:
        pdf_markup(body, URL)
    assert caught.value.reason == reason


def test_a_file_whose_table_of_places_is_lost_is_repaired() -> None:
    assert "In winter" in pdf_markup(made().replace(b"startxref", b"start"), URL)


def test_only_so_many_pages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    body = made("".join(f"<h1>Part {n}</h1><p>{WORDS * 80}</p>" for n in range(9)))
    assert "Part 8" in pdf_markup(body, URL)
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    assert "Part 8" not in pdf_markup(body, URL)
    monkeypatch.setattr(pdf, "MOST_PAGES", 500)
    monkeypatch.setattr(pdf, "MOST_SECONDS", -1.0)
    with pytest.raises(Unusable):  # no page in no time
        pdf_markup(body, URL)


def test_pdf_files_are_read_in_a_process_with_limits() -> None:
    texts = PageTexts()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert "In winter" in texts.extract(answered(made())).markdown
    assert "In winter" in texts.visible(answered(made()))[0]
    assert texts.extract(answered(encrypted())).text == ""
    texts.close()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime > before
    assert "pypdfium2.internal" not in Path("/proc/self/maps").read_text()


def with_stream(packed: bytes, pages: bytes = b"/Kids [4 0 R] /Count 1") -> bytes:
    """A file of one page with this compressed content."""
    resources = b"/Resources << /Font << /F1 3 0 R >> >>"
    return file_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages %b >>" % pages,
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] %b /Contents 5 0 R >>"
            % resources,
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream"
            % (len(packed), packed),
            b"<< >>",
        ]
    )


def zeros(size: int) -> bytes:
    """So many zeros, compressed."""
    packer = zlib.compressobj(1)
    pieces = [packer.compress(bytes(2**20)) for _ in range(size // 2**20)]
    return b"".join(pieces) + packer.flush()


WORD = zlib.compress(b"BT /F1 9 Tf 50 700 Td (honey) Tj ET")
HOSTILE = {
    "half a gigabyte of zeros": (lambda: with_stream(zeros(2**29)), ""),
    "pages within themselves": (
        lambda: with_stream(WORD, b"/Kids [2 0 R 2 0 R 4 0 R] /Count 99999999"),
        None,
    ),
    "two billion pages": (
        lambda: with_stream(WORD, b"/Kids [4 0 R] /Count 2000000000"),
        "honey",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_one_page_at_most(name: str) -> None:
    make, text = HOSTILE[name]
    with closing(PageTexts()) as texts:
        found = texts.extract(answered(make())).text
        assert text is None or found == text
        # The next one is read as always.
        assert "In winter" in texts.extract(answered(made())).text


TEXT = """The hive in spring
==================

Bees fly from flower to flower
and carry the nectar home.  See https://bees.test/mites(old).

    frames   12
    supers    2

More (at http://bees.test/more), and <b>no</b> markup.
"""


def test_plain_text_has_headings_paragraphs_and_links() -> None:
    response = answered(TEXT.encode(), "text/plain", "http://bees.test/notes.txt")
    page = PageReader(SETUP).read(response)
    assert page.title == "The hive in spring"
    assert list(page.headings) == ["The hive in spring"]
    assert [link.url for link in page.links] == [
        "https://bees.test/mites(old)",
        "http://bees.test/more",
    ]
    found = extract_content(response)
    assert "Bees fly from flower to flower and carry the nectar home." in found.text
    assert "and <b>no</b> markup." in found.text
    assert "frames   12\n" in found.markdown  # laid out by hand
    assert (found.title, found.pages) == ("The hive in spring", 0)


MARKDOWN = """---
layout: post
title: "Keeping bees: a start"
---
# Bees

| month | honey |
|-------|-------|
| June  | 12 kg |

- a [hive](/hive) or *two*
- `frames`
"""


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("text/markdown", "http://bees.test/start"),
        ("text/plain", "http://bees.test/s.md"),
    ],
)
def test_markdown_keeps_its_structure(kind: str, url: str) -> None:
    response = answered(MARKDOWN.encode(), kind, url)
    page = PageReader(SETUP).read(response)
    assert page.title == "Keeping bees: a start"
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://bees.test/hive", "hive")
    ]
    found = extract_content(response)
    assert found.text.split("\n")[:3] == ["Bees", "month\thoney", "June\t12 kg"]
    assert "| June | 12 kg |" in found.markdown
    assert "- a [hive](http://bees.test/hive) or *two*" in found.markdown
    assert document_type(response) == "text/markdown"


KINDS = [
    ("application/pdf", "http://a.test/x", b"", DocumentKind.PDF),
    ("application/octet-stream", "http://a.test/x.PDF?y", b"", DocumentKind.PDF),
    ("text/html", "http://a.test/x", b"%PDF-1.4", DocumentKind.PDF),
    ("text/plain", "http://a.test/x.txt", b"words", DocumentKind.TEXT),
    ("text/plain", "http://a.test/README.md", b"words", DocumentKind.MARKDOWN),
    ("text/html", "http://a.test/README.md", b"<p>words", DocumentKind.HTML),
    ("", "http://a.test/", b"<p>words", DocumentKind.HTML),
]


@pytest.mark.parametrize(("told", "url", "body", "kind"), KINDS)
def test_kinds_are_told_by_type_name_and_bytes(
    told: str, url: str, body: bytes, kind: DocumentKind
) -> None:
    assert kind_of(answered(body, told, url)) is kind


def test_other_types_are_no_documents() -> None:
    for told in ("image/png", "application/zip", "application/octet-stream"):
        assert told_kind("http://a.test/x", told) is DocumentKind.OTHER
