"""The texts of headings are told when they are asked for, with blocks or without."""

import pytest

from opilio.read.html import PageReader
from opilio.records import ReaderSetup, Response

MARKUP = """<title>t</title><h2> Second\n one </h2><h1>First <i>one</i></h1>
<nav><h3>Menu</h3></nav><h4></h4><noscript><h1>unseen</h1></noscript>"""


def headings(markup: str, **asked: bool) -> list[str]:
    setup = ReaderSetup(("bee",), "en", **asked)
    response = Response("http://a.test/", 200, (), markup.encode(), 0.0)
    return list(PageReader(setup).read(response).headings)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("context", [False, True])
def test_headings_are_told_the_highest_first(blocks: bool, context: bool):
    told = headings(MARKUP, headings=True, blocks=blocks, context=context)
    assert told == ["First one", "Second one", "Menu"]


def test_headings_are_told_only_when_asked_for():
    assert headings(MARKUP, blocks=True) == []


def test_a_page_of_headings_tells_some_of_them():
    told = headings("<h1>bee</h1>" * 5000 + f"<h2>{'x' * 9999}</h2>", headings=True)
    assert told == ["bee"] * 100
    [cut] = headings(f"<h2>{'x' * 9999}</h2>", headings=True)
    assert len(cut) == 300


def test_links_in_context_and_words_for_an_index_can_be_had_together():
    markup = '<h1>Top</h1><p>A bee <a href="/b">of the bee</a> and more</p>'
    response = Response("http://a.test/", 200, (), markup.encode(), 0.0)
    asked = {"headings": True, "sequence": True, "words": True}
    setup = ReaderSetup(("bee",), "en", context=True, **asked)
    page = PageReader(setup).read(response)
    plain = PageReader(ReaderSetup(("bee",), "en", context=True, words=True))
    assert page.sequence
    assert page.links == plain.read(response).links
    assert page.terms == {"bee": 2}
