"""The main text of pages as plain text and Markdown: no cell or item lost or glued."""

from datetime import date

import pytest

from opilio.read.main_content.extract import extract_markup
from opilio.read.main_content.without_links import without_links
from opilio.records import Extraction

PROSE = (
    "<p>The honey bee lives in colonies of many thousand workers, a few hundred "
    "drones and one queen, and it stores honey for the winter in combs of wax.</p>"
)


def extracted(body: str, head: str = "", url: str = "http://a.test/bees") -> Extraction:
    """What is extracted from an article with this in its middle."""
    markup = (
        f"<html lang=en><head><title>Bees - A Test</title>{head}</head><body>"
        "<nav><ul><li><a href=/>Home</a><li><a href=/hives>Hives</a></ul></nav>"
        f"<main><article><h1>Bees</h1>{PROSE * 3}{body}{PROSE * 2}</article></main>"
        "<footer><p><a href=/imprint>Imprint</a></p></footer></body></html>"
    )
    return extract_markup(markup, url, date(2026, 11, 18))


def lines(body: str) -> list[str]:
    """The lines of the plain text of `body`."""
    prose = extracted(PROSE).text.splitlines()[1]
    said = extracted(body).text.splitlines()
    return [line for line in said if line not in (prose, "Bees")]


def markdown(body: str) -> str:
    """The Markdown of `body`."""
    prose = extracted(PROSE).text.splitlines()[1]
    parts = extracted(body).markdown.split("\n\n")
    return "\n\n".join(part for part in parts if part not in (prose, "# Bees"))


def test_menus_and_footers_are_left_out():
    found = extracted("<p>Varroa is a mite that weakens the colonies of bees.</p>")
    assert "Varroa is a mite" in found.text
    assert "Hives" not in found.text
    assert "Imprint" not in found.markdown


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "<table><tr><th>Country<th>Hives<tr><td>Indonesia<td>130<tr><td>Peru"
            "<td>7</table>",
            ["Country\tHives", "Indonesia\t130", "Peru\t7"],
        ),
        (  # with groups of rows, a caption and a row of totals
            "<table><caption>Hives of the world</caption><thead><tr><th>Country</th>"
            "<th>Hives</th></tr></thead><tbody><tr><th>Peru</th><td>7</td></tr></tbody>"
            "<tfoot><tr><td>All</td><td>7</td></tr></tfoot></table>",
            ["Hives of the world", "Country\tHives", "Peru\t7", "All\t7"],
        ),
        (  # empty cells keep the place of those after them
            "<table><tr><td>Peru<td><td>7<tr><td><td>Chile<td>8</table>",
            ["Peru\t\t7", "\tChile\t8"],
        ),
        (  # paragraphs, lists and line breaks in cells
            "<table><tr><td><p>Peru</p><p>north</p><td><ul><li>7<li>8</ul>"
            "<tr><td>Chile<br>south<td>9</table>",
            ["Peru north\t7 8", "Chile south\t9"],
        ),
        (  # links and bold text
            "<table><tr><td><a href=/p>Peru</a><td><b>7</b><tr><td>Chile<td>8</table>",
            ["Peru\t7", "Chile\t8"],
        ),
        (  # cells that reach over several rows or columns
            "<table><tr><th>Year<th>Hive<th>Honey<tr><td rowspan=2>2020<td>North<td>12"
            "<tr><td>South<td>9<tr><td colspan=2>All<td>21</table>",
            ["Year\tHive\tHoney", "2020\tNorth\t12", "\tSouth\t9", "All\t\t21"],
        ),
        (  # one that claims to reach for ever
            "<table><tr><td rowspan=99999>Peru<td colspan=0>7<tr><td>8</table>",
            ["Peru\t7", "\t8"],
        ),
        (  # a table in a table: its rows stay rows, the outer one is read cell by cell
            "<table><tr><td>Peru<td><table><tr><td>north<td>7<tr><td>south<td>8"
            "</table></table>",
            ["Peru", "north\t7", "south\t8"],
        ),
        (  # a table in an item of a list
            "<ul><li>Peru<table><tr><td>north<td>7<tr><td>south<td>8</table>"
            "<li>Chile</ul>",
            ["Peru", "north\t7", "south\t8", "Chile"],
        ),
        (  # right to left
            "<table dir=rtl><tr><td>عسل<td>7<tr><td>شمع<td>8</table>",
            ["عسل\t7", "شمع\t8"],
        ),
    ],
)
def test_no_cell_of_a_table_is_lost_or_glued(table: str, rows: list[str]):
    assert lines(table) == rows


def test_a_table_for_the_layout_is_read_cell_by_cell():
    told = lines(
        f"<table><tr><td><h2>Swarms</h2>{PROSE}</td><td><h2>Queens</h2>"
        "<p>A queen lays two thousand eggs a day in early summer.</p></td></tr></table>"
    )
    assert told == [
        "Swarms",
        "Queens",
        "A queen lays two thousand eggs a day in early summer.",
    ]


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ("<ul><li>honey<li>wax<li>pollen</ul>", ["honey", "wax", "pollen"]),
        ("<ol><li>smoke<li>open</ol>", ["smoke", "open"]),
        ("<ul><li><p>honey</p></li><li><p>wax</p></li></ul>", ["honey", "wax"]),
        (
            "<ul><li>honey<ul><li>clover<li>heather</ul><li>wax</ul>",
            ["honey", "clover", "heather", "wax"],
        ),
        ("<ul><li><a href=/h>honey</a><li><b>wax</b></ul>", ["honey", "wax"]),
        (
            "<dl><dt>drone<dd>a male bee<dt>queen<dd>the mother</dl>",
            ["drone", "a male bee", "queen", "the mother"],
        ),
        ("<ul><li>honey<br>sweet<li>wax</ul>", ["honey", "sweet", "wax"]),
        ("<ul><li><div>honey</div><div>sweet</div><li>wax</ul>", None),
        ("<dl><div><dt>honey<dd>sweet</div><div><dt>wax</div></dl>", None),
        ("<ul>honey<ul><li>sweet</ul><div>wax</div></ul>", None),  # not valid
        ("<p>honey<br>sweet<br><br>wax</p>", None),
        ("<address>honey<br>sweet<br>wax</address>", None),
        ("<details open><summary>honey</summary>sweet<p>wax</details>", None),
        (
            "<figure><img src=a.png alt=no><figcaption>honey</figcaption></figure>"
            "<p>sweet<p>wax",
            None,
        ),
        ("<pre>honey\nsweet\nwax</pre>", None),
        ("<pre><code><b>honey</b>\n<i>sweet</i>\nwax</code></pre>", None),
        (
            "<ruby>honey<rp>(</rp><rt>h</rt><rp>)</rp></ruby><p>sw&shy;eet<p>w<wbr>ax",
            None,
        ),
        ("<ul dir=rtl><li>عسل<li>شمع</ul>", ["عسل", "شمع"]),
        (
            # quotes in the names of attributes
            '<p>honey<input value="" a"><img alt="12" b" c><p>sweet<p>wax',
            None,
        ),
    ],
)
def test_no_item_of_a_list_is_lost_or_glued(items: str, told: list[str] | None):
    assert lines(items) == (told or ["honey", "sweet", "wax"])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<h2>Life of a <em>bee</em></h2>", "## Life of a *bee*"),
        ("<ul><li>honey<li>wax</ul>", "- honey\n- wax"),
        ("<ol start=3><li>smoke<li>open</ol>", "3. smoke\n4. open"),
        (
            "<ol><li>honey<ul><li>clover</ul><li>wax</ol>",
            "1. honey\n   - clover\n2. wax",
        ),
        ("<ul><li><p>honey</p><p>sweet</p></li></ul>", "- honey\n\n  sweet"),
        (
            "<table><tr><th>Country<th>Hives<tr><td>Peru|Chile<td>7</table>",
            "| Country | Hives |\n| --- | --- |\n| Peru\\|Chile | 7 |",
        ),
        (
            "<pre><code class=language-python>def f():\n    return `1`\n</code></pre>",
            "```python\ndef f():\n    return `1`\n```",
        ),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        (
            "<blockquote><p>To bee or not to bee.</p></blockquote>",
            "> To bee or not to bee.",
        ),
        (
            "<p>See <a href='/x y'>the <b>hive</b></a> and <code>a*b</code>, *now*.",
            "See [the **hive**](http://a.test/x%20y) and `a*b`, \\*now\\*.",
        ),
        ("<p>One line<br>and another line of it.</p>", None),
        ("<p>1. not a list</p>", "\\1. not a list"),
        ("<p># not a heading &lt;b&gt;</p>", "\\# not a heading \\<b>"),
        ("<p>snake_case <i>and</i> _this_</p>", "snake_case *and* \\_this\\_"),
    ],
)
def test_markdown_keeps_the_structure(body: str, told: str | None):
    assert markdown(body) == (told or "One line  \nand another line of it.")


def test_links_can_be_left_out_of_markdown():
    code = ", `[a](b)`.\n\n```\n[a](b)\n```"
    told = f"See [the **hive** \\[1\\]](http://a.test/x%20y){code}"
    assert without_links(told) == f"See the **hive** \\[1\\]{code}"


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>Secret words about bees that nobody sees.</p>",
        "<div style='color:red; display : none'><p>Secret words about bees.</p></div>",
        "<p style='visibility:hidden'>Secret words about bees.</p>",
        "<span class='x sr-only'>Secret words</span>",
        "<template><p>Secret words about bees.</p></template>",
        "<noscript>Secret words</noscript>",
        "<script>var x = 'Secret words';</script>",
        "<svg><title>Secret words</title></svg>",
        "<select><option>Secret words</select>",
        "<img alt='Secret words'>",
        "<!-- Secret words -->",
    ],
)
def test_what_is_hidden_is_left_out(hidden: str):
    found = extracted(f"{hidden}<p>Seen words about honey and how it is made.</p>")
    assert "Secret" not in found.text + found.markdown
    assert "Seen words" in found.text


def test_a_page_that_is_shown_by_a_script_is_read():
    page = f"<body><div style='display:none'>{PROSE * 9}</div></body>"
    found = extract_markup(page, "http://a.test/", date(2026, 11, 18))
    assert "The honey bee lives in colonies" in found.text


def test_an_article_that_only_json_ld_states_is_read():
    told = "The bee flies. " * 40
    page = (
        '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Bees"'
        f', "articleBody": "{told}"}}</script><div id=root></div>'
    )
    found = extract_markup(page, "http://a.test/", date(2026, 11, 18))
    assert found.text == told.strip()
    assert found.title == "Bees"


def test_a_page_without_main_text_has_its_visible_text():
    page = "<nav><a href=/>Home</a></nav><p>Bees"
    assert extract_markup(page, "http://a.test/", date(2026, 1, 1)).text == "Bees"
    assert extract_markup("", "http://a.test/", date(2026, 1, 1)).text == ""


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000 + "x",
        "<ul><li>x" * 50_000,
        "<table><tr><td>x" * 30_000,
        "<p>x" * 200_000,
        "<a rel=author>" * 50_000,
        "<b>x" * 50_000,
        "<div style=display:none>" * 50_000 + "x",
        "<p class='" + "a-" * 100_000 + "'>x",
        "[" * 100_000 + "](" * 100_000,
        "<p>" + "See <a href=/x>all <b>hives</b></a>. " * 10_000,
    ],
)
def test_hostile_markup_takes_bounded_time(body: str):
    import time

    began = time.process_time()
    extract_markup(body, "http://a.test/", date(2026, 1, 1))
    assert time.process_time() - began < 30  # quadratic would be minutes


def test_no_character_that_controls_a_terminal_is_left() -> None:
    odd = "a\x1b[2Jb\x07c\u202ed\x9be&#27;f"
    json = '{"@type": "Article", "author": {"name": "Jane\\u001b[2J Doe"}}'
    markup = (
        f"<title>{odd}</title><meta name=description content='{odd}'>"
        f"<script type=application/ld+json>{json}</script><article><p>{odd} and more"
    )
    found = extract_markup(markup, "http://a.test/", date(2026, 1, 1))
    told = (found.text, found.markdown, found.title, found.description, *found.authors)
    assert "and more" in found.text
    for text in told:
        assert all(sign == "\n" or sign.isprintable() for sign in text), text


@pytest.mark.parametrize(
    "base", ["http://[", "javascript:x", "//[::1", "http://a:b:c/", "\x00", "data:,x"]
)
def test_a_base_that_is_no_address_is_ignored(base: str):
    text = "The bees of this hive make honey from what they find in the meadow. " * 5
    found = extracted(
        f'<p>{text}<a href="/more">more</a></p><a rel=license href=/by>CC</a>',
        f'<base href="{base}">',
    )
    assert "bees of this hive" in found.text
    assert all(one == "http://a.test/by" for one in found.licences)


def test_the_addresses_of_countless_links_are_left_out():
    links = "".join(f'<a href="/{n}">bee {n}</a> ' for n in range(12_000))
    found = extracted(f"<p>Bees make honey: {links}</p>")
    assert found.markdown.count("](http") == 10_000
    assert "bee 11999" in found.markdown


def test_code_full_of_backticks_takes_no_long():
    runs = " ".join("`" * length for length in range(1, 500))
    for body in (f"<p>Say <code>{runs}</code>.", f"<pre><code>{'`' * 100_000}"):
        told = markdown(body)
        assert without_links(told) == told
    assert without_links(f"\\` [a](b) {runs} [c](d)").startswith("\\` a ")
