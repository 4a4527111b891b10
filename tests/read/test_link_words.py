"""Each link comes with the stems of its own words, if they are asked for."""

from __future__ import annotations

import random

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.read.html import PageReader
from opilio.read.plain_link_words import MOST
from opilio.read.term_tree import hash_of
from opilio.records import Link, LinkPart, Page, ReaderSetup, Response
from opilio.text import words
from read.pages import damage

URL = "http://a.test/page"
SETUP = ReaderSetup(("water",), "en", context=True, blocks=True, words=True)
HTML = """<title>All about rivers</title><p>Some words before <a href=/big/fish.htm>the
fishes</a> and words after.<h2>Lakes and seas</h2><p>See <a href=/two><img alt="a
picture"></a>."""


def read(html: str | bytes, setup: ReaderSetup = SETUP) -> Page:
    body = html.encode() if isinstance(html, str) else html
    return PageReader(setup).read(Response(URL, 200, (), body, 0.0))


def told(link: Link) -> dict[LinkPart, list[int]]:
    found: dict[LinkPart, list[int]] = {}
    for code in np.frombuffer(link.words, "<u4").tolist():
        found.setdefault(LinkPart(code >> 29), []).append(code & (1 << 29) - 1)
    return found


def hashes(text: str) -> list[int]:
    return [hash_of(stem) >> 35 for stem in words.stem(words.tokens(text))]


def test_words_are_told_by_the_part_they_stand_in() -> None:
    first, second = map(told, read(HTML).links)
    assert first == {
        LinkPart.ANCHOR: hashes("the fishes"),
        LinkPart.URL: hashes("a test big fish htm"),
        LinkPart.BEFORE: hashes("Some words before"),
        LinkPart.AFTER: hashes("and words after Lakes and seas See"),
        LinkPart.TITLE: hashes("All about rivers"),
    }
    assert second[LinkPart.HEADING] == hashes("Lakes and seas")


def test_the_name_of_a_picture_is_the_anchor() -> None:
    second = told(read(HTML).links[1])
    assert second[LinkPart.ANCHOR] == hashes("a picture")


def test_of_many_words_the_nearest_count() -> None:
    before = " ".join(f"b{number}" for number in range(30))
    after = " ".join(f"c{number}" for number in range(30))
    (link,) = read(f"<p>{before} <a href=/x>x</a> {after}").links
    assert told(link)[LinkPart.BEFORE] == hashes(before)[-10:]
    assert told(link)[LinkPart.AFTER] == hashes(after)[:10]


def test_without_blocks_there_are_no_headings() -> None:
    page = read(HTML, msgspec.structs.replace(SETUP, blocks=False, context=False))
    assert all(LinkPart.HEADING not in told(link) for link in page.links)
    assert all(LinkPart.ANCHOR in told(link) for link in page.links)


def test_nobody_gets_words_who_does_not_ask() -> None:
    page = read(HTML, msgspec.structs.replace(SETUP, words=False))
    assert [link.words for link in page.links] == [b"", b""]
    with_words = [msgspec.structs.replace(link, words=b"") for link in read(HTML).links]
    assert list(page.links) == with_words


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_pages_give_words_within_bounds(seed: int) -> None:
    for link in read(damage(random.Random(seed))).links:
        for part, found in told(link).items():
            most = MOST[part] * (2 if part is LinkPart.ANCHOR else 1)
            assert 0 < len(found) <= most
