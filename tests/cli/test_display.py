"""What a crawl says of itself at its end, on a terminal."""

from rich.text import Text

from opilio.cli.display import harvest


def test_the_end_tells_this_run_apart_from_those_before():
    told = [Text.from_markup(harvest(*run)).plain for run in ((60, 15, 0), (0, 0, 60))]
    assert told == ["60 pages, 15 kept (25%)", "0 pages, 0 kept beyond the 60"]
