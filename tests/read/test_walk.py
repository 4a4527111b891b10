"""One walk through what a parser has written finds text, links and parts."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opilio.read import kernels, plain_walk
from opilio.read.document import parse_document
from opilio.read.plain_walk import Walk
from opilio.read.region_names import Told
from opilio.read.tags import TAGS
from opilio.records import BlockKind
from read.kernel_choice import KERNELS, chosen


@pytest.fixture(params=KERNELS)
def walk(request: pytest.FixtureRequest) -> Callable[[str], Walk]:
    """Both ways to walk through what a browser makes of some markup."""
    with chosen(request.param):
        way = kernels.walk
    return lambda markup: way(written(markup))


def written(markup: str) -> str:
    root = parse_document(markup).root
    return root.html if root else ""


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("one <b>two</b>three", "one twothree"),
        ("<p>one<p>two", "one\ntwo"),
        (" <p> one \n two </p> ", "one two"),
        ("<center>one</center>two<br><br>three<hr>four", "one\ntwo\nthree\nfour"),
        ("<table><tr><td>one<td>two<caption>three", "one\ntwo\nthree"),
        ("<pre> one\n\n  two\tthree</pre>", "one\ntwo three"),
        ("one&nbsp; &lt;b&gt; &amp;amp; &quot;", 'one\xa0 <b> &amp; "'),
        ("<xmp><b>&amp;</xmp>one", "<b>&amp;\none"),
        ("one<script>two</script><style>p</style><noscript>three</noscript>", "one"),
        ("one<template>two<template>x</template>y</template>three", "onethree"),
        ("<select><option>one</select><textarea>two</textarea>three", "three"),
        ("<iframe src=x>one</iframe>two", "two"),
        ("<title>one</title>two<!-- three <b> -->", "two"),
        ("<plaintext>one<b></plaintext>&amp;", "one<b></plaintext>&amp;"),
        ("<head><noscript><p>one</p></noscript><title>two</title>three", "three"),
        ("<noscript>one<select></noscript>two", "two"),
        ("<p><b><template shadowrootmode=open><p>one</template>two", "one\ntwo"),
        ("<b><template shadowrootmode=Closed>one</template>two", "one\ntwo"),
        ("<b><template shadowrootmode=no>one</template>two", "two"),
        ("<template><b><template shadowrootmode=open>one</template></template>", ""),
        ("<svg><title>a</title><desc>b</desc><text>one</text></svg>", "one"),
        ("<math><mi>x</mi><annotation>tex</annotation></math>", "x"),
        ("<video>none</video><audio>none</audio><canvas>none</canvas>one", "one"),
        ("एक दो<p>三", "एक दो\n三"),
        ("", ""),
    ],
)
def test_the_text_is_what_visitors_see(
    walk: Callable[[str], Walk], markup: str, text: str
) -> None:
    assert walk(markup).text == text


@pytest.mark.parametrize(
    "script",
    [
        '"</scripts><select>"',
        "<!-- write('<script src=x></script><select>'); //-->",
        "<!--<SCRIPT\n></Script/><select>-->",
        "<!--<script><script></script><select>",
        "<!--<scripts>",
        "<!--><script>",
        "<!---><script>",
        "<!-- --><script>",
        "<script><!--",
    ],
)
def test_a_script_ends_where_it_does_in_browsers(
    walk: Callable[[str], Walk], script: str
) -> None:
    markup = f"<script>{script}</script><p>one <a href=two>three</a>"
    text, links, *_ = walk(markup)
    assert (text, [link.href for link in links]) == ("one three", ["two"])


def test_links_know_their_place(walk: Callable[[str], Walk]) -> None:
    markup = """<body><p>see <a rel="x" href="/a?b&amp;c"> the  hive</a>, <a href=b><img
        alt=" ">x</a><a href=c><img alt=""><img alt=" pic "></a><map><area href=d
        alt=area></map><a name=e>no link</a><iframe src=f title=frame></iframe>
        <a href=g title=h><svg><title> i &amp; j</title></svg></a><svg><a
        xlink:href=k href=l /><a xlink:href=m /></svg>"""
    text, links, *_ = walk(markup)
    assert [(link.href, link.rel, link.name, link.path) for link in links] == [
        ("/a?b&c", "x", "", "body/p/a"),
        ("b", "", "", "body/p/a"),
        ("c", "", "pic", "body/p/a"),
        ("d", "", "area", "body/p/map/area"),
        ("f", "", "frame", "body/p/iframe"),
        ("g", "", "i & j", "body/p/a"),
        ("l", "", "", "body/p/svg/a"),
        ("m", "", "", "body/p/svg/a"),
    ]
    said = [text[link.start : link.end] for link in links]
    assert said == ["the hive", "x", *[""] * 6]


def test_tags_stand_in_paths_as_they_are(walk: Callable[[str], Walk]) -> None:
    assert walk("<x&amp;y><a href=z>").links[0].path == "body/x&amp;y/a"


def test_paths_that_are_not_needed_any_longer_are_forgotten(
    walk: Callable[[str], Walk],
) -> None:
    tags = [f"x{number}" for number in range(30_000)]
    places = [tags[place : place + 300] for place in range(0, len(tags), 300)]
    inside = (f"<{'><'.join(place)}><a href=y></a></div>" for place in places)
    markup = written(f"<div>{'<div>'.join(inside)}")
    tracemalloc.start()
    links = walk(markup).links
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 15 * len(markup)
    paths = ["/".join(("body/div", *place, "a")) for place in places]
    assert [link.path for link in links] == [path[-400:] for path in paths]


def test_parts_know_what_is_in_them(walk: Callable[[str], Walk]) -> None:
    markup = """<h1>one</h1>two<nav class="a ad" id=c role=d><ul>
        <li><a href=e>three</a>
        <li><a href=f>four</a></ul></nav><div>none</div>
        <div role=contentinfo><a href=h>five</a>"""
    text, links, parts, _ = walk(markup)
    said = [text[part.start : part.end] for part in parts]
    assert said == ["one", "three\nfour", "three\nfour", "five"]
    assert [(part.level, part.told, part.is_list) for part in parts] == [
        (1, None, False),
        (0, None, True),
        (0, Told(BlockKind.ADVERTISING, sure=True), False),
        (0, Told(BlockKind.FOOTER, sure=True), False),
    ]
    order = [(part.opened, part.closed) for part in parts]
    assert order == [(0, 1), (3, 4), (2, 5), (6, 7)]
    assert [(part.links, part.linked) for part in parts] == [
        (0, 0),
        (2, 9),
        (2, 9),
        (1, 4),
    ]
    assert [link.rank for link in links] == [4, 4, 7]


def test_what_a_page_declares_is_told(walk: Callable[[str], Walk]) -> None:
    markup = """<html lang=hi><title>a &amp; b</title><meta name=x content='"'><base
        href=/y><link rel=canonical href=z><svg><title>other</title></svg>"""
    assert walk(markup).declared == [
        ("html", {"lang": "hi"}),
        ("title", {"": "a & b"}),
        ("meta", {"name": "x", "content": '"'}),
        ("base", {"href": "/y"}),
        ("link", {"rel": "canonical", "href": "z"}),
        ("title", {"": "other"}),
    ]


def test_there_is_an_end_to_links_and_parts(walk: Callable[[str], Walk]) -> None:
    links = walk("<a href=x>x</a>" * (plain_walk.MOST_LINKS + 5)).links
    parts = walk("<h2>x</h2>" * (plain_walk.MOST_PARTS + 5)).parts
    assert len(links) == plain_walk.MOST_LINKS
    assert len(parts) == plain_walk.MOST_PARTS


NAMES = [*TAGS, "b", "svg", "math", "foreignObject", "my-tag", "tbody", "title", 'x"y']
ATTRIBUTES = [
    "lang",
    "href",
    "xlink:href",
    "shadowrootmode",
    "src",
    "rel",
    "alt",
    "title",
    "class",
    "id",
    "role",
    "hidden",
]
TEXTS = (
    st.sampled_from(["menu", "footer", "contentinfo", "open"])
    | st.text("ab é\xa0三𝄞 \t\n\r\f<>&;\"'=/-!?\0", max_size=8)
    | st.sampled_from(
        ["&amp;", "&lt;b>", "&nbsp;", "&amp;lt;", "<!--", "-->", "]]>", "</", "word"]
    )
)
GIVEN = st.builds(
    lambda name, value: f" {name}='{value}'", st.sampled_from(ATTRIBUTES), TEXTS
)
BEGINS = st.builds(
    lambda tag, given: f"<{tag}{''.join(given)}>",
    st.sampled_from(NAMES),
    st.lists(GIVEN, max_size=3),
)
ENDS = st.sampled_from(NAMES).map("</{}>".format)
SOUP = st.lists(BEGINS | ENDS | TEXTS, max_size=40).map("".join)


@pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")
@given(SOUP)
@example("<script><!--<script></script></div>--></script>x")
@example("<svg><style><a href=x>y</style></svg><plaintext></p>&amp;")
def test_both_ways_answer_the_same(markup: str) -> None:
    page = written(markup)
    assert kernels.walk(page) == plain_walk.walk(page)


@pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")
@given(SOUP)
@example("<")
@example("</")
@example("<!-->")
@example("<a href=")
@example('<a href="')
@example("<>x>")
@example('<a x="y"z href="b">')
@example('<a ="b">')
def test_what_no_parser_would_write_does_no_harm(markup: str) -> None:
    assert kernels.walk(markup) == plain_walk.walk(markup)


@given(SOUP)
def test_places_are_in_the_text_and_in_order(markup: str) -> None:
    text, links, parts, _ = kernels.walk(written(markup))
    assert text == "\n".join(line.strip(" ") for line in text.split("\n") if line)
    for found in (*links, *parts):
        assert 0 <= found.start <= found.end <= len(text)
    ranks = sorted(rank for part in parts for rank in (part.opened, part.closed))
    assert ranks == list(range(2 * len(parts)))
