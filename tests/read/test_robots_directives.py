"""What a page asks of robots in its meta tags and headers."""

import pytest

from opilio.read.robots_directives import page_directives


@pytest.mark.parametrize(
    ("meta", "header", "wishes"),
    [
        ([], [], (False, False)),
        (["index, follow"], ["all"], (False, False)),
        (["NoIndex"], [], (True, False)),
        (["none"], [], (True, True)),
        (["index", "noarchive,nofollow"], [], (False, True)),
        ([], ["noindex, nofollow"], (True, True)),
        ([], ["noarchive", "noindex"], (True, False)),
        ([], ["googlebot: noindex, nofollow"], (False, False)),
        ([], ["googlebot: noindex, nofollow", "nofollow"], (False, True)),
        ([], ["googlebot: noindex, Opilio: nofollow"], (False, True)),
        ([], ["nofollow, otherbot: noindex"], (False, True)),
        ([], ["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], (True, False)),
        ([], ["max-snippet: 20, none"], (True, True)),
        (["noindexing"], ["not-none"], (False, False)),
    ],
)
def test_a_page_says_what_it_asks_of_robots(meta, header, wishes):
    assert page_directives(meta, header, "opilio") == wishes
