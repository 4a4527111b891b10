"""What a crawl says of itself at its end, on a terminal."""

from rich.text import Text

from opilio.cli.ending import harvest
from opilio.cli.figures import Before, recent_rate


def plain(*run):
    return Text.from_markup(harvest(*run)).plain


def test_the_end_tells_this_run_apart_from_those_before():
    assert plain(60, 15, Before()) == "60 pages, 15 relevant (25%)"
    assert plain(40, 15, Before(60, 35)) == (
        "40 pages, 15 relevant (38%) in this run; 100 pages, 50 relevant (50%) in all"
    )
    assert plain(0, 0, Before(60, 30)) == (
        "0 pages, 0 relevant in this run; 60 pages, 30 relevant (50%) in all"
    )


def test_the_last_hundred_pages_may_be_those_of_earlier_runs():
    assert recent_rate([True] * 100, []) == 1.0
    assert recent_rate([True] * 100, [False] * 25) == 0.75
    assert recent_rate([True] * 100, [False] * 300) == 0.0
    assert recent_rate([], [True, False]) == 0.5
