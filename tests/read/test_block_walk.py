"""The compiled walk for main texts finds the same blocks as the plain one."""

from __future__ import annotations

import pytest
import turbohtml
from hypothesis import example, given
from hypothesis import strategies as st

from opilio.read.main_content import plain_block_walk
from opilio.read.main_content import walk as chosen

compiled = pytest.mark.skipif(
    chosen.walk is plain_block_walk.walk,
    reason="no C compiler was there when Opilio was installed",
)

PARTS = (
    *("one two", " ", "  a\n\tb ", "&amp;&lt;b&gt;", "\xad", "x\xa0y\u200bz", "漢字 é"),
    *("<p>", "</p>", "<div class='nav main' id=x role=main>", "</div>", "<br>", "<hr>"),
    *("<a href='/x?a=1&amp;b=2'>", "</a>", "<b>", "</b>", "<i class=date>", "</i>"),
    *("<pre>", "</pre>", "<code class='language-c'>", "</code>", "<ul><li>", "</ul>"),
    *("<table><tr><td colspan=2>", "</table>", "<ol start=3>", "<h2>", "</h2>"),
    *("<script>if (a < b) '</p>'</script>", "<!-- <p> -->", "<style>p {}</style>"),
    *("<div hidden>", "<p style='display: none'>", "<span class=sr-only>", "</span>"),
    *("<template>", "<template shadowrootmode=open>", "</template>", "<x-y z>"),
    *("<svg><desc>", "</svg>", "<select><option>", "</select>", "<img alt=p>", "<xmp>"),
    *('<p a\\"b=1 =c=2 >', "<plaintext>", "<", ">", "</", '"', "<p", "="),
)


def parsed(markup: str) -> str:
    return turbohtml.parse(markup, positions=False, scripting=True).html


@compiled
@given(st.lists(st.sampled_from(PARTS), max_size=30), st.booleans())
@example(["<p>", "\xad", "</p>", "\xad\xad"], False)
@example(["<div>"] * 600 + ["one"], False)
def test_what_a_parser_has_written_gives_the_same_blocks(
    parts: list[str], hidden: bool
):
    markup = parsed("".join(parts))
    plain = plain_block_walk.walk(markup, hidden=hidden)
    assert chosen.walk(markup, hidden=hidden) == plain


@compiled
@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join), st.booleans())
@example('<a b>c="d">e', False)
@example('<a ="v" b="c">e', False)
@example('<a =="v">e</a', False)
@example("<!", True)
@example("<div hidden=", False)
def test_whatever_is_no_markup_gives_the_same_blocks(markup: str, hidden: bool):
    plain = plain_block_walk.walk(markup, hidden=hidden)
    assert chosen.walk(markup, hidden=hidden) == plain
