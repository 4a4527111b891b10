"""The guards against endless sites; hostile-web.md row 38."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.frontier.traps import trap
from opilio.settings import BoundsSettings
from opilio.text import urls

ORDINARY = BoundsSettings()


@pytest.mark.parametrize(
    "url",
    [
        "http://ex.com/",
        "http://ex.com/a/b/c.html?x=/a/a/a/a/a/a",
        "http://ex.com/2011/11/11/story",
        "http://ex.com/a/b/a/b/a/b",
        "http://ex.com/web/http://other.com/a/b/",
        "http://ex.com/" + "/".join("abcdefghijklmnopqrst") + "/",
        "http://ex.com/" + "a" * (2083 - 14),
    ],
)
def test_an_ordinary_url_is_let_through(url: str) -> None:
    assert trap(url, 50, ORDINARY) == ""


@pytest.mark.parametrize(
    ("url", "depth", "guard"),
    [
        ("http://ex.com/", 51, "depth"),
        ("http://ex.com/" + "a" * (2083 - 13), 0, "length"),
        ("http://ex.com/" + "/".join("abcdefghijklmnopqrstu"), 0, "segments"),
        ("http://ex.com/a/a/a/a", 0, "repeats"),
        ("http://ex.com/a/b/a/b/a/b/a/b", 0, "repeats"),
        ("http://ex.com/x/a/b/c/a/b/c/a/b/c/a/y", 0, "repeats"),
        ("http://ex.com/en/a/en/b/en/c/en/d?q=1", 0, "repeats"),
        ("http://ex.com/a/////b", 0, "repeats"),
    ],
)
def test_an_endless_site_is_refused(url: str, depth: int, guard: str) -> None:
    assert trap(url, depth, ORDINARY) == guard


def test_a_link_that_is_relative_by_mistake_soon_ends() -> None:
    url, pages = "http://ex.com/", 0
    while not trap(url, pages, ORDINARY):
        url, pages = urls.join(url, "news/latest/"), pages + 1
    assert pages == 4


def test_every_bound_can_be_set() -> None:
    url = "http://ex.com/a/a"
    assert trap(url, 1, BoundsSettings(max_depth=0)) == "depth"
    assert trap(url, 0, BoundsSettings(max_url_length=16)) == "length"
    assert trap(url, 0, BoundsSettings(max_segments=1)) == "segments"
    assert trap(url, 0, BoundsSettings(max_repeats=0)) == "repeats"
    assert trap(url, 0, BoundsSettings(max_repeats=1)) == ""
    assert (
        trap("http://ex.com/" + "a/" * 30, 0, BoundsSettings(max_repeats=99))
        == "segments"
    )


@given(
    st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=8),
    st.integers(0, 3),
    st.integers(1, 6),
)
def test_the_guards_count_segments_and_their_repeats(
    path: list[str], max_repeats: int, max_segments: int
) -> None:
    bounds = BoundsSettings(max_repeats=max_repeats, max_segments=max_segments)
    found = trap("http://ex.com/" + "/".join(path), 0, bounds)
    segments = path[:-1] if path and not path[-1] else path
    if len(segments) > max_segments:
        assert found == "segments"
    elif any(segments.count(segment) - 1 > max_repeats for segment in segments):
        assert found == "repeats"
    else:
        assert found == ""
