"""Pages that need no parser: they are walked through as if they had been parsed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import example, given
from hypothesis import strategies as st

from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.read import kernels, plain_tidy
from opilio.read.document import MarkupSource, parse_document
from opilio.read.plain_walk import Walk

WEB = Path(__file__).parents[3] / "shared/webs/schools/pages.warc.gz"

pytestmark = pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")


def tidied(markup: str) -> Walk | None:
    found = kernels.tidied(markup.encode())
    return None if found is None else kernels.walk(found)


def parsed(markup: str) -> Walk:
    return kernels.walk(parse_document(markup).html)


PLAIN = [
    "",
    "word",
    "<!doctype html><html lang=en><head><title>A &amp; b</title></head><body>x</body>",
    "<title>T</title><meta name=robots content=none><p>no html, head or body",
    "<p>one<p>two<div>three</div>four",
    "<ul><li>one<li>two<ul><li>three</ul></ul>",
    "<ul><li><p>one<li><div>two</div></ul>",
    "<dl><dt>a<dd>b<dt>c<dd>d</dl>",
    "<table><tr><td>1<td>2<tr><th>3</table>after",
    "<table><caption>c</caption><col><tbody><tr><td><b>bold</td><td>not</table>",
    "<table><colgroup><col><col></colgroup><thead><tr><th>h</thead></table>",
    "<table><tr><td><table><tr><td>in</table>out</table>",
    "<!doctype html><p>a<table><tr><td>b</table>",
    "<p>a<table><tr><td>b</table>c",
    "<table><form action=x><input type=hidden><tr><td>a<form>b</form></table>c</form>",
    "<a href='b'class='c'title='d'></a>",
    "<a href=b>x</a> <A HREF='c' Rel=nofollow>y</A><a href=d/>z</a>",
    "<a href='?a=1&copy=2&amp;b=3&lt=4'>x</a>",
    "<a href='b' href='c' title='a &quot; b > c'><img alt=pic></a>",
    "<b>bold <i>both</i></b> plain <span>open<div>in</span></div>",
    "<div></p>stray</div></div></b></li></td></h1>",
    "<h1>one<h2>two</h3>three",
    "<form><p>a<form>b</form></form>c",
    "<select><option>a<option selected>b<optgroup><option>c</select>",
    "<pre>\n\na\r\n b</pre><textarea><p></textarea>",
    "<script>if (a<b) '</p>'</script><style>a>b{}</style><noscript><p>x</noscript>",
    "<script><!-- a --></script>x",
    "<iframe src=f><p></iframe>",
    "<svg viewBox='0 0 1 1'><g><path d='M0'/></g><title>t</title></svg>x",
    "<math><mi>x</mi><mo>&lt;</mo><mrow><mn>1</mn></mrow></math>",
    "a &lt; b &copy; &#65;&#x41; &nbsp;&unknown; & c",
    "<!-- a -- b --><?xml version='1'?><![if IE]>x<![endif]>",
    "<body class=x>a</body> b </html> c",
    "<object><param name=a>old</object>",
    "<x-y><details><summary>s</summary>t</details></x-y>",
]  # fmt: skip


@pytest.mark.parametrize("markup", PLAIN)
def test_what_is_plain_needs_no_parser(markup: str) -> None:
    assert tidied(markup) == parsed(markup)


HARD = [
    "<b>a<p>b</b>c",  # the second half of the bold text would be moved
    "<b><i>a</b>b</i>",
    "<p><b>a<p>b",  # bold goes on in the next paragraph
    "<a href=a>x<a href=b>y",
    "<table>text<tr><td>x</table>",  # the text stands before the table
    "<table><div>x</div></table>",
    "<table><tr></p></table>",
    '<!doctype html system "x"><p>a<table><tr><td>b</table>',  # which type is that?
    "<div><form></div>x<form>",
    "<button>a<button>b",
    "<template><p>x</template>",
    "<frameset><frame src=x></frameset>",
    "<svg><p>x</svg>",
    "<svg><a href=x>y</a></svg>",
    "<svg><foreignObject><p>x</foreignObject></svg>",
    "<math><mi><p>x</mi></math>",
    "<svg><![CDATA[x]]></svg>",
    "<plaintext></p>",
    "<body>a<body class=b>",
    "a < b",
    "<!-->x-->",
    "&copy 2026 &ampx &#128; &#xD800;",
    "a</br>b",
    "<ruby>a<rt>b</ruby>",
    "<a href='x",
    "<p",
    "<!-- x",
    "<script><!-- <script></script> --></script>",
    "<title>a <b>b</title>",
    "a\rb",
    "a\0b",
    "<div>" * 600,
]


@pytest.mark.parametrize("markup", HARD)
def test_what_is_not_is_for_the_parser(markup: str) -> None:
    assert tidied(markup) is None
    assert MarkupSource(markup.encode()).walk() == parsed(markup)


def test_bytes_that_are_no_utf_8_are_for_the_parser() -> None:
    for body in (
        b"<p>\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc0\x80",
    ):
        assert kernels.tidied(body) is None
        assert MarkupSource(body).walk() == parsed(body.decode("utf-8", "replace"))


def test_without_a_compiler_all_is_for_the_parser() -> None:
    assert plain_tidy.tidied(b"<p>x") is None


NAMES = """
    a a a address applet area article aside b b base big blockquote body br button
    caption center code col colgroup dd desc details dialog div div div dl dt em
    embed fieldset figure font footer foreignObject form frame frameset g h1 h2 h3
    head header hr html i iframe image img input label legend li li link listing
    main marquee math menu meta mi mtext nav nobr noembed noframes noscript object
    ol optgroup option p p p param path plaintext pre rt ruby s script search
    section select small source span span strike strong style summary svg table
    table tbody td td template textarea tfoot th thead title tr tr tt u ul video wbr
    x-y xmp
"""
TAGS = NAMES.split()
GIVEN = [
    *("href=a", 'href="?b&copy=1"', "HREF='c'", "href", "class='nav x'", "id=menu"),
    *("alt='p'", "title='&quot;&copy;'", "style='a>b'", "src=/f", "rel=nofollow", "/"),
    *("name=robots", "content=none", "http-equiv=refresh", "type=hidden", "x=/", '"'),
]
TEXTS = [
    *("word", " ", "\n", "a & b", "&amp;", "&copy;", "&copy", "&nbsp;", "&#65;", "&#;"),
    *(
        "&lt;i&gt;",
        "&notit;",
        "é",
        "三",
        "\r\n",
        "\t",
        "'",
        "<",
        "</",
        "&NewLine;",
        ">",
    ),
]
OTHERS = [
    *(
        "<!-- x -->",
        "<!--x--!>",
        "<!-->",
        "<!doctype html>",
        "<![CDATA[ x ]]>",
        "<?x?>",
    ),
    *("</ >", "<3>", "</br>", "</body>", "</html>", "</head>", "<title>&amp;</title>"),
    *("<script>'<p>'</script>", "<pre>\n\nx</pre>", "<svg><path/></svg>", "<br/>"),
]
BEGINS = st.builds(
    lambda tag, given, end: f"<{' '.join((tag, *given))}{end}",
    st.sampled_from(TAGS),
    st.lists(st.sampled_from(GIVEN), max_size=2),
    st.sampled_from([">", ">", ">", "/>", " />"]),
)
ENDS = st.sampled_from(TAGS).map("</{}>".format)
PIECES = st.recursive(
    BEGINS | ENDS | st.sampled_from(TEXTS) | st.sampled_from(OTHERS),
    lambda inner: st.builds(
        lambda tag, pieces: f"<{tag}>{''.join(pieces)}</{tag}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("<svg x=/><a href>")
@example("<svg><title>abc")
@example("<svg><html c=''>")
@example("<title>\r\n</title>")
def test_what_was_tidied_is_as_if_it_had_been_parsed(markup: str) -> None:
    found = tidied(markup)
    assert found is None or found == parsed(markup)


@given(st.binary(max_size=60) | st.text("<>/!-a=\"'& b;#x").map(str.encode))
def test_nothing_does_harm(markup: bytes) -> None:
    found = kernels.tidied(markup)
    if found is not None:
        assert kernels.walk(found) == parsed(markup.decode())


def test_pages_of_the_synthetic_web_need_no_parser() -> None:
    web = SyntheticWeb(Dials(seed=7, pages=60, hosts=4))
    answers = [web.respond(url) for url in web.urls()]
    pages = [answer.body for answer in answers if answer.status == 200]
    assert len(pages) >= 60
    for page in pages:
        assert tidied(page.decode()) == parsed(page.decode())


@pytest.mark.skipif(not WEB.exists(), reason="the schools web is not here")
def test_hardly_any_real_page_needs_a_parser() -> None:
    pages = hard = 0
    with WEB.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            body = record.reader.read()
            found = kernels.tidied(body)
            if found is None:
                hard += 1
            else:
                assert kernels.walk(found) == parsed(body.decode())
            pages += 1
            if pages == 400:
                break
    assert hard < pages / 100


# Every tag that the standard or a browser has known, and two that it has not.
EVERY_TAG = """
    a abbr acronym address applet area article aside audio b base basefont bdi bdo
    bgsound big blink blockquote body br button canvas caption center cite code col
    colgroup command content data datalist dd del desc details dfn dialog dir div dl
    dt em embed fieldset figcaption figure font footer foreignobject form frame
    frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input
    ins isindex kbd keygen label legend li link listing main map mark marquee math
    menu menuitem meta meter mi multicol nav nextid nobr noembed noframes noscript
    object ol optgroup option output p param picture plaintext portal pre progress q
    rb rp rt rtc ruby s samp script search section select selectedcontent shadow
    slot small source spacer span strike strong style sub summary sup svg table
    tbody td template textarea tfoot th thead time title tr track tt u ul var video
    wbr xmp x-y madeup
"""
AROUND = [
    "<span class=nav><{t}></span>words <a href=x>y</a>",
    "<p>one<{t}>two<p>three <a href=x>y</a>",
    "<div><{t}>a</div>b<a href=x>y</a></{t}>c",
    "<b><{t}>a</b>b<a href=x>y</a>",
    "<ul><li><{t}><li>a<a href=x>y</a></ul>",
    "<table><tr><td><{t}>a</td><td>b<a href=x>y</a></table>",
    "<{t}/>a<a href=x>y</a></{t}>b",
    "</{t}>a<a href=x>y</a>",
    "<h2>a<{t}>b</h2>c<a href=x>y</a>",
    "<a href=v><{t}>w</a>a<a href=x>y</a>",
    "<dl><dt><{t}><dd>a<a href=x>y</a></dl>",
    "<button><{t}></button>a<a href=x>y</a>",
]


@pytest.mark.parametrize("around", AROUND)
def test_whatever_tag_stands_there_the_walk_is_the_same(around: str):
    taken = 0
    for tag in EVERY_TAG.split():
        markup = around.format(t=tag)
        if (found := tidied(markup)) is not None:
            taken += 1
            assert found == parsed(markup), markup
    assert taken > 60  # else the parser did it all
