"""Links of main texts are joined as the standard library joins them, only faster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.read.main_content.addresses import LinkAddresses, address

BASES = (
    *("https://example.org", "https://example.org/", "http://h:8080/a/b/c.html"),
    *("http://h/a//b/c", "http://h/a/./b/../c/d", "http://h/a;b/c;d", "HTTP://H/a/b"),
    *("http://h/é/ü.htm?q=/x/y#z", "http://h:0/a/b", "http://h:x/a", "file:///a/b"),
    *("", "a/b", "http://h/?/a/b", "http://h/a b/c", "http://h/.a/..b/c"),
)
PARTS = ("..", ".", "", "a", "B.htm", "é", "c%20d", "#e", "?f", ";g", ":", "//", " ")


@given(st.sampled_from(BASES), st.lists(st.sampled_from(PARTS), max_size=6))
def test_joined_as_the_standard_library_does(base: str, parts: list[str]):
    for href in ("/".join(parts), "".join(parts)):
        assert LinkAddresses(base).of(href) == address(base, href)


@pytest.mark.parametrize(
    ("href", "joined"),
    [
        ("x.htm", "http://h/a/b/x.htm"),
        ("../../wp/s/Sun.htm#Core", "http://h/wp/s/Sun.htm#Core"),
        ("../../../x", "http://h/x"),
        ("mailto:me@example.org", ""),
    ],
)
def test_a_link_beside_a_page(href: str, joined: str):
    assert LinkAddresses("http://h/a/b/c.html").of(href) == joined
