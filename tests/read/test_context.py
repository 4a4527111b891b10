"""What stands around a link is the same whatever else a reader is asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opilio.records import ReaderSetup, Response
from opilio.subject.page_reader import make_reader

TAGS = ("b", "span", "p", "h2", "ul", "li", "nav", "div", "td", "table", "footer")
WORDS = st.sampled_from(
    [
        "bee",
        " honey ",
        "\n",
        "  ",
        "",
        "a <a href='/x'>hive</a> ",
        "<br>",
        "&nbsp;",
        "x",
    ]
)


def inside(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(TAGS),
        st.lists(parts, max_size=4),
    )


MARKUP = st.recursive(WORDS, inside, max_leaves=30)
PLAIN = make_reader(ReaderSetup(terms=("bee", "honey"), language="en", context=True))
WHOLE = make_reader(
    ReaderSetup(
        terms=("bee", "honey"),
        language="en",
        context=True,
        blocks=True,
        vector=True,
        words=True,
        headings=True,
    )
)


@given(st.lists(MARKUP, max_size=6))
def test_links_have_the_same_context_with_and_without_blocks(parts: list[str]) -> None:
    body = f"<title>t</title><body>{''.join(parts)}".encode()
    response = Response("http://a.test/", 200, [("content-type", "text/html")], body, 0)
    plain, whole = PLAIN.read(response), WHOLE.read(response)
    assert plain.terms == whole.terms
    assert [
        (link.before, link.anchor, link.after, link.terms) for link in plain.links
    ] == [(link.before, link.anchor, link.after, link.terms) for link in whole.links]
