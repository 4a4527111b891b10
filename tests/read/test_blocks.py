"""Pages fall into the blocks that their headings open."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.read.blocks import MOST_BLOCKS
from opilio.read.html import PageReader
from opilio.records import Block, BlockKind, Page, ReaderSetup, Response

TERMS = ("crawler", "focused crawling", "shark", "honey", "bee")
READER = PageReader(ReaderSetup(TERMS, "en", context=True, blocks=True))

# Thesis, figure 8, as papers.md E.4-1 restores it.
FIGURE_8 = """<html><head><title>Web Crawling</title></head><body>
<h1>Introduction</h1>
<p>A <a href="http://en.wikipedia.org/wiki/Web_crawler">web crawler</a> is a program
......</p>
<table><tr><th>Types of crawler</th><td>Focused Crawler, distributed crawler</td></tr>
<tr><th>approaches of crawler</th><td>Fish,<a
href="http://www7.scu.edu.au/1849/com1849.htm">shark</a></td></tr></table>
<h2>Focused Crawling</h2><p>one of the first focused web.....</p></body></html>"""

MENU = "".join(f"<li><a href=/m{n}>Entry {n}</a>" for n in range(5))


def read(html: str) -> Page:
    page = READER.read(Response("http://a.test/", 200, (), html.encode(), 0.0))
    assert not page.degraded
    return page


def shape(page: Page) -> list[tuple[str, str, int]]:
    """Heading, kind and words of each block."""
    return [(block.heading, block.kind.value, block.words) for block in page.blocks]


def block_of(page: Page, anchor: str) -> Block:
    (number,) = {link.block for link in page.links if link.anchor == anchor}
    return page.blocks[number]


def test_the_page_of_figure_8_has_its_three_blocks() -> None:
    """Thesis, figure 8: block 0 is the title, block 1 has the whole table, block 2 the
    paragraph under the second heading. Aastha, section 4.3: "One complete block
    comprises of a heading and its details"."""
    page = read(FIGURE_8)
    title, introduction, focused = page.blocks
    assert (title.heading, title.words, title.terms) == ("", 2, {})
    assert (introduction.heading, introduction.level) == ("Introduction", 1)
    assert introduction.terms == {"crawler": 5, "shark": 1}
    assert introduction.words == 19
    assert (focused.heading, focused.level) == ("Focused Crawling", 2)
    assert focused.terms == {"focus crawl": 1}
    assert focused.words == 8
    assert {block.kind for block in page.blocks} == {BlockKind.TEXT}


def test_links_in_the_table_of_figure_8_are_not_in_the_next_block() -> None:
    """Papers.md E.4-2: breadth first, the shark would be met after the second heading
    (thesis, figure 8)."""
    assert [link.block for link in read(FIGURE_8).links] == [1, 1]


def test_a_wrapped_heading_has_what_follows_its_wrapper() -> None:
    """Papers.md E.4-3: the thesis' pseudo-code would put all of it into block 0."""
    page = read("<div><h2>X</h2></div><div>y <a href=/z>z</a></div>")
    assert shape(page) == [("", "text", 0), ("X", "text", 3)]
    assert page.links[0].block == 1


def test_blocks_know_the_heading_that_they_stand_under() -> None:
    """Papers.md E.6-3: flat blocks, and a parent by level."""
    page = read("<h2>a</h2><h1>b</h1><h2>c</h2><h4>d</h4><h3>e</h3><h2>f</h2><h1>g")
    parents = {block.heading: block.parent for block in page.blocks}
    assert parents == {
        "": -1,
        "a": -1,
        "b": -1,
        "c": 2,
        "d": 3,
        "e": 3,
        "f": 2,
        "g": -1,
    }


def test_what_stands_before_the_first_heading_is_with_the_title() -> None:
    page = read("<title>The bee</title><p>Honey <a href=/x>here</a><h1>Rest</h1>bee")
    assert page.blocks[0].terms == {"bee": 1, "honey": 1}
    assert page.links[0].block == 0
    assert page.blocks[1].terms == {"bee": 1}


@pytest.mark.parametrize(
    ("markup", "kind"),
    [
        ("<nav>{}</nav>", "navigation"),
        ("<aside>{}</aside>", "navigation"),
        ("<footer>{}</footer>", "footer"),
        ("<header><nav>{}</nav></header>", "navigation"),
        ("<div role=navigation>{}</div>", "navigation"),
        ("<section role=contentinfo>{}</section>", "footer"),
        ("<div class='top-nav wide'>{}</div>", "navigation"),
        ("<div id=mainMenu>{}</div>", "navigation"),
        ("<table class=navbox><tr><td>{}</table>", "navigation"),
        ("<div class=siteFooter>{}</div>", "footer"),
        ("<div class='box ad'>{}</div>", "advertising"),
        ("<aside class=sponsored>{}</aside>", "advertising"),
        ("<ul class=pagination><li>{}</ul>", "navigation"),
    ],
)
def test_a_region_is_a_block_of_its_own_and_ends_no_other(
    markup: str, kind: str
) -> None:
    region = markup.format("<h3>inner</h3><a href=/n>near</a>")
    page = read(f"<h1>Bees</h1><p>{'bee ' * 9}</p>{region}<p>honey <a href=/e>end</a>")
    assert shape(page) == [
        ("", "text", 0),
        ("Bees", "text", 1 + 9 + 2),
        ("", kind, 2),
    ]
    assert block_of(page, "near").kind == kind
    assert block_of(page, "end").heading == "Bees"


@pytest.mark.parametrize(
    "name",
    ["shadow", "download", "navy", "header", "no-sidebar", "has-nav", "footnotes", "x"],
)
def test_names_that_only_resemble_tell_nothing(name: str) -> None:
    page = read(f"<h1>Bees</h1>{'bee ' * 9}<div class={name}>honey</div>")
    assert len(page.blocks) == 2


def test_a_wrapper_of_the_whole_page_is_no_region() -> None:
    page = read(f"<div class=sidebar><h1>Bees</h1>{'bee ' * 20}</div>end")
    assert [block.heading for block in page.blocks] == ["", "Bees"]


def test_an_empty_region_is_no_block() -> None:
    assert len(read("<nav> </nav><div class=ad></div><h1>Bees</h1>bee").blocks) == 2


def test_a_list_of_links_is_a_menu_unless_a_heading_announces_it() -> None:
    text = f"<p>{'honey ' * 40}</p>"
    page = read(f"<h1>Bees</h1>{text}<ul>{MENU}</ul>{text}")
    assert [block.kind for block in page.blocks] == ["text", "text", "navigation"]
    page = read(f"<h1>Bees</h1>{text}<h2>See also</h2><ul>{MENU}</ul>{text}")
    assert {block.kind for block in page.blocks} == {"text"}
    assert block_of(page, "Entry 1").heading == "See also"


@pytest.mark.parametrize(
    "items",
    [
        "<li><a href=/a>a</a><li><a href=/b>b</a>",  # few
        "".join(f"<li><a href=/{n}>bee {n}</a> and its honey" for n in range(9)),
        "<li>bee" * 9,
    ],
)
def test_other_lists_are_text(items: str) -> None:
    page = read(f"<h1>Bees</h1><p>{'honey ' * 99}</p><ul>{items}</ul>")
    assert [block.kind for block in page.blocks] == ["text", "text"]


def test_a_page_that_is_a_list_of_links_is_text() -> None:
    page = read(f"<title>Index</title><p>All:</p><ul>{MENU}</ul>")
    assert [block.kind for block in page.blocks] == ["text"]


def test_a_region_in_a_region_is_part_of_it() -> None:
    page = read(
        f"<h1>B</h1>{'bee ' * 9}<footer>a<nav>b <a href=/c>c</a></nav>d</footer>"
    )
    assert shape(page)[2:] == [("", "footer", 4)]


def test_the_last_of_too_many_blocks_has_the_rest() -> None:
    page = read("".join(f"<h2>h{n}</h2>bee" for n in range(MOST_BLOCKS + 50)))
    assert len(page.blocks) == MOST_BLOCKS
    assert page.blocks[-1].terms == {"bee": 52}


def test_headings_of_cards_have_their_links() -> None:
    page = read("<h1>Bees</h1><a href=/card><h3>Honey</h3><p>Made by bees</p></a>")
    assert page.links[0].anchor == "Honey Made by bees"
    assert block_of(page, "Honey Made by bees").heading == "Honey"


def test_pages_come_without_blocks_unless_asked() -> None:
    reader = PageReader(ReaderSetup(TERMS, "en", context=True))
    page = reader.read(Response("http://a.test/", 200, (), FIGURE_8.encode(), 0.0))
    assert page.blocks == [] and {link.block for link in page.links} == {0}


PIECES = st.lists(
    st.sampled_from(
        [
            *("<h1>one</h1>", "<h2>two</h2>", "<h3>three", "bee ", "honey<br>"),
            *("<nav>", "</nav>", "<footer>", "</footer>", "<div class=ad>", "</div>"),
            *("<ul>", "<li>", "</ul>", "<table><tr><td>", "</table>", "<p>", "<pre>"),
            *("<a href=/a>a</a>", "<a href=/b>", "</a>", "<svg>", "<form>", "<th>"),
        ]
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(PIECES)
def test_blocks_share_the_words_of_the_page_among_them(pieces: list[str]) -> None:
    page = read(f"<title>bee bee</title>{''.join(pieces)}")
    assert sum(block.words for block in page.blocks) == page.words + 2
    terms = dict(page.terms)
    terms["bee"] = terms.get("bee", 0) + 2
    for block in page.blocks:
        for term, times in block.terms.items():
            terms[term] -= times
    assert not any(terms.values())
    for number, block in enumerate(page.blocks):
        assert block.parent < number and (block.level == 0) == (block.heading == "")
    assert all(0 <= link.block < len(page.blocks) for link in page.links)


def test_the_terms_of_a_heading_are_counted_by_themselves() -> None:
    page = read(
        "<h1>Bees\n  and <i>honey</i></h1>bee <h2>Sharks</h2><p>honey, shark</p>"
        "<h3>Crawlers: a   focused crawling bee</h3>"
    )
    headings = [dict(block.heading_terms.terms) for block in page.blocks]
    assert headings == [
        {},
        {"bee": 1, "honey": 1},
        {"shark": 1},
        {"crawler": 1, "focus crawl": 1, "bee": 1},
    ]
    assert page.blocks[1].heading_terms.norm == pytest.approx(3**0.5)
