"""What pages say about themselves: title, authors, dates and other facts."""

from datetime import date

import pytest

from opilio.read.main_content.extract import extract_markup
from opilio.records import Extraction

URL = "http://news.test/a"
TODAY = date(2026, 11, 18)


def facts(head: str = "", body: str = "", url: str = URL) -> Extraction:
    markup = f"<html><head>{head}</head><body>{body}<p>The bee flies.</p></body></html>"
    return extract_markup(markup, url, TODAY)


def json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Bees | News Test</title>", "", "Bees"),
        ("<title>News: Bees in spring - News Test</title>", "", "News: Bees in spring"),
        ("<title>Bees in spring</title>", "<h1>News</h1>", "Bees in spring"),
        ("<title>x</title><meta property=og:title content='Bees'>", "", "Bees"),
        ("<title>Bees - Shop</title>", "<h1>Bees</h1>", "Bees"),
        (json_ld('{"@type":"Article","headline":"Bees &amp; wax"}'), "", "Bees & wax"),
        ("", "<h1>Bees</h1>", "Bees"),
        ("", "", ""),
    ],
)
def test_the_title_has_no_name_of_the_site(head: str, body: str, title: str):
    assert facts(head, body).title == title


@pytest.mark.parametrize(
    ("head", "body", "authors"),
    [
        (json_ld('{"@type":"Article","author":{"name":"Jane Doe"}}'), "", ["Jane Doe"]),
        (
            json_ld('{"@type":"BlogPosting","author":[{"name":"A Bee"},"C Dee"]}'),
            "",
            ["A Bee", "C Dee"],
        ),
        (
            json_ld(
                '{"@graph":[{"@type":"Article","author":{"@id":"#1"}},'
                '{"@id":"#1","@type":"Person","name":"Jane Doe"}]}'
            ),
            "",
            ["Jane Doe"],
        ),
        (  # careless JSON
            json_ld('{"@type":"Article",\n"author":{"name":"Jane\nDoe"},}'),
            "",
            ["Jane Doe"],
        ),
        ("<meta name=author content='By Jane Doe and John Roe'>", "", None),
        ("<meta name=author content='Jane Doe, and John Roe'>", "", None),
        ("", "<h1>Bees</h1><p>By Jane Doe and John Roe For The Daily Bee</p>", None),
        ("<meta name=author content=admin>", "", []),
        ("<meta name=author content=https://a.test/jane>", "", []),
        ("", "<h1>Bees</h1><p>By Jane Doe | 3 May 2024</p>", ["Jane Doe"]),
        ("", "<h1>Bees</h1><a rel=author href=/j>Jane Doe</a>", ["Jane Doe"]),
        ("", "<h1>Bees</h1><span class=byline>Jane Doe</span>", ["Jane Doe"]),
        ("", "<p>by the river</p>", []),
        ("", "", []),
    ],
)
def test_authors_are_people(head: str, body: str, authors: list[str] | None):
    expected = ["Jane Doe", "John Roe"] if authors is None else authors
    assert list(facts(head, body).authors) == expected


@pytest.mark.parametrize(
    ("head", "body", "url", "when"),
    [
        (json_ld('{"@type":"Article","datePublished":"2024-05-17T10:00Z"}'), "", "", 1),
        ("<meta property=article:published_time content=2024-05-17>", "", "", 1),
        ("", "<time datetime='2024-05-17T08:00'>yesterday</time>", "", 1),
        ("", "<p>May 17, 2024</p>", "", 1),
        ("", "<p>17. Mai 2024</p>", "", 1),
        ("", "<p>17 de mayo de 2024</p>", "", 1),
        ("", "<p>17.5.2024</p>", "", 1),
        ("", "", "http://a.test/2024/05/17/bees", 1),
        ("", "<span itemprop=datePublished content=2024-05-17>x</span>", "", 1),
        ("", "<p>May 17, 2099</p>", "", 0),  # in the future
        ("", "<p>31.2.2024</p>", "", 0),
        ("", "", "", 0),
    ],
)
def test_the_date_of_publication_is_found(head: str, body: str, url: str, when: int):
    found = facts(head, body, url or URL)
    assert found.published == ("2024-05-17" if when else "")


def test_other_facts_are_kept():
    found = facts(
        "<meta name=description content=' About  bees '>"
        "<meta property=og:site_name content='News Test'>"
        "<meta property=og:image content=/bee.jpg>"
        "<meta property=article:modified_time content=2024-06-01>"
        "<link rel=canonical href=https://other.test/bees>"
        + json_ld('{"@type":["Article","NewsArticle"],"author":"x"}'),
        "<a rel=license href=https://creativecommons.org/licenses/by/4.0/>CC BY</a>",
    )
    assert found.description == "About bees"
    assert found.site == "News Test"
    assert found.image == "http://news.test/bee.jpg"
    assert found.modified == "2024-06-01"
    assert found.canonical == "https://other.test/bees"
    assert list(found.licences) == ["https://creativecommons.org/licenses/by/4.0/"]
    assert list(found.types) == ["Article", "NewsArticle"]


def test_addresses_that_are_none_are_left_out():
    found = facts(
        "<link rel=canonical href='javascript:alert(1)'>"
        "<meta property=og:image content='data:image/png;base64,xx'>"
    )
    assert (found.canonical, found.image) == ("", "")


PERSON = 'itemprop="author" itemscope itemtype="https://schema.org/Person"'


@pytest.mark.parametrize(
    ("head", "body", "authors"),
    [
        # A full name counts more than that of an account.
        (
            "<meta name=author content=jdoe><meta name=dc.creator content='Jane Doe'>",
            "",
            ["Jane Doe"],
        ),
        (
            "<meta name=author content=jdoe>",
            "<h1>Bees</h1><p>By Jane Doe",
            ["Jane Doe"],
        ),
        ("<meta name=author content=Jane>", "<h1>Bees</h1><p>By Tom Roe", ["Jane"]),
        # What is described within an element.
        (
            "",
            f"<div {PERSON}><meta itemprop=name content='Jane Doe'></div>",
            ["Jane Doe"],
        ),
        (
            "",
            f"<p {PERSON}><a href=/u><span itemprop=name>jane13</span></a>",
            ["jane13"],
        ),
        (
            "",
            f"<p {PERSON}><b itemprop=name>Jane Doe</b><p>{'text ' * 300}"
            f"<p {PERSON}><b itemprop=name>Who Answers</b>",
            ["Jane Doe"],
        ),
        ("", f"<p class=comment-author {PERSON}><b itemprop=name>A Troll</b>", []),
        # Lines about authors.
        (
            "",
            "<h1>Bees</h1><p class=byline>Guide by <a href=/authors/jane>Jane Doe</a> "
            "Former Deputy Editor",
            ["Jane Doe"],
        ),
        ("", "<h1>Bees</h1><p class=post-author>Jane Doe | May 22, 2025", ["Jane Doe"]),
        (
            "",
            "<h1>Bees</h1><p class=author-meta>22. Mai 2019 von Jane Doe",
            ["Jane Doe"],
        ),
        ("", "<h1>Bees</h1><p>ByJane Doe", ["Jane Doe"]),
        ("", "<h1>Bees</h1><p>Autorin: Jane van der Doe", ["Jane van der Doe"]),
        ("", "<h1>Bees</h1><p class=author>Posted by jane13 on 07/03/24", ["jane13"]),
        ("", "<h1>Bees</h1><p class=author-link>Skip to main content", []),
        ("", "<h1>Bees</h1><p>By appointment only", []),
        # An organisation, if nobody else is named.
        (
            "<meta property=og:site_name content='Bee News'>"
            "<meta name=author content='Bee News'>",
            "",
            ["Bee News"],
        ),
        (
            json_ld(
                '{"@type":"Article","author":{"@type":"Organization","name":"Hive"}}'
            ),
            "",
            ["Hive"],
        ),
    ],
)
def test_authors_are_found_wherever_pages_name_them(
    head: str, body: str, authors: list[str]
):
    assert list(facts(head, body).authors) == authors


@pytest.mark.parametrize(
    ("url", "when"),
    [
        ("http://news.test/2025/12/17/bees", "2025-12-17"),
        ("http://news.test/blog/2025-12-17-bees", "2025-12-17"),
        ("http://news.test/20251217/bees", "2025-12-17"),
        ("http://news.test/archive/2025/12/Bees.html", ""),
        ("http://news.test/archive/2025/1/2", "2025-01-02"),
        ("http://news.test/archive/2025-12/7", ""),
        ("http://news.test/2025/121", ""),
    ],
)
def test_a_url_with_a_month_alone_has_no_date(url: str, when: str):
    assert facts(url=url).published == when


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        # A heading that is one word of the title, or a later part of it, is not it.
        (
            "<meta property=og:title content='The best hives of all'>",
            "<h1>Hives</h1>",
            "The best hives of all",
        ),
        (
            "<title>Bees in spring | A market of good things</title>"
            "<meta property=og:title content='Bees in spring...'>",
            "<h1>A market of good things</h1>",
            "Bees in spring...",
        ),
        ("<title>Bees in spring</title>", "<h1>Welcome</h1>", "Bees in spring"),
        ("<title>Bees in the spring</title>", "<h1>Spring bees</h1>", "Spring bees"),
    ],
)
def test_a_heading_is_the_title_if_what_is_declared_agrees(
    head: str, body: str, title: str
):
    assert facts(head, body).title == title
