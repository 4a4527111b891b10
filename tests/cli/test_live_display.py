"""How a crawl shows how it is doing: on terminals, also dumb ones, and in logs."""

import asyncio
import json
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from opilio.cli import display, terminal
from opilio.cli.display import Reporter
from opilio.cli.ending import remedies_for
from opilio.cli.figures import Before
from opilio.cli.live_table import as_table
from opilio.cli.terminal import Screen
from opilio.settings import BoundsSettings

FIGURES = {
    "topic": "bees",
    "strategy": "opilio",
    "seconds": 71.0,
    "seconds_left": 3_725,
    "pages": 123_456,
    "pages_in_all": 123_456,
    "max_pages": 500_000,
    "kept": 99_999,
    "kept_in_all": 99_999,
    "harvest_rate": 0.81,
    "harvest_rate_in_all": 0.81,
    "harvest_rate_recent": 0.5,
    "best": {"score": 0.93, "title": "Queen [bee]", "url": "http://seed.test/q"},
    "estimate": None,
    "pages_per_second": 12.3,
    "waiting": 1_234_567,
    "leased": 64,
    "busy": [{"host": "a.test", "requests": 2, "links": 1234}],
    "hosts": 12_345,
    "hosts_resting": 321,
    "hosts_held": 0,
    "unusable": {"http_404": 2_101, "trap_repeats": 12, "http_503": 2, "timeout": 31},
    "asked_for": [],
    "stopping": "",
}
PAIRS = (
    *("99,999 (81%)", "64 being visited", "321 resting", "50% of the last 100"),
    *("123,456 of 500,000 (25%)", "strategy opilio", "0.930 Queen [bee]"),
    *("about 1:02:05 left", "URL repeats itself", "2,101 answered 404"),
)


class Watched(Reporter):
    """Reports figures without a crawl."""

    def __init__(self) -> None:
        tally = SimpleNamespace(pages=0)
        with patch.object(Before, "of", return_value=Before()):
            super().__init__(SimpleNamespace(tally=tally))

    async def watch(self) -> None:
        """Nothing is waited for."""

    def snapshot(self) -> dict:
        return FIGURES | {"pages_per_second": self.speed()}


@pytest.mark.parametrize("width", [46, 60, 80, 200])
def test_no_figure_is_parted_from_its_name(width: int):
    screen = Screen(width=width, record=True, quiet=False)
    with screen.capture() as shown:
        screen.print(as_table(FIGURES, width))
    lines = shown.get().splitlines()
    for pair in PAIRS:
        assert any(pair in line for line in lines), lines
    assert all(len(line) <= width for line in lines)
    assert (len(lines) == 10) == (width == 200), lines


def shown(figures: dict, width: int = 90) -> list[str]:
    screen = Screen(width=width, record=True, quiet=False)
    with screen.capture() as printed:
        screen.print(as_table(figures, width))
    return [" ".join(line.split()) for line in printed.get().splitlines()]


def test_totals_and_this_run_are_told_apart_after_a_resume():
    resumed = {"pages_in_all": 200_000, "kept_in_all": 150_000, "kept": 99_999}
    lines = shown(FIGURES | resumed | {"harvest_rate_in_all": 0.75})
    assert "pages 200,000 of 500,000 (40%) 123,456 in this run" in lines
    assert (
        "relevant 150,000 (75%) 99,999 in this run (81%) 50% of the last 100 pages"
        in lines
    )
    endless = shown(FIGURES | {"max_pages": 0, "seconds_left": None, "best": None})
    assert "pages 123,456" in endless and "time 1:11 12.3 pages/s" in endless


def test_a_strange_title_is_no_markup_and_does_not_break_the_table():
    best = {"score": 0.5, "title": "[red]\x1b[2J " + "x" * 500, "url": "http://a/"}
    lines = shown(FIGURES | {"best": best}, 60)
    [line] = [line for line in lines if line.startswith("best")]
    assert "[red] [2J" in line and len(line) <= 60


def test_idle_workers_are_explained():
    screen = Screen(width=90, record=True, quiet=False)
    with screen.capture() as shown:
        screen.print(as_table(FIGURES | {"hosts_held": 17}, 90))
    assert "17 held back until hosts with better links" in shown.get()


def test_the_estimate_of_what_is_left_has_a_line_of_its_own():
    estimate = {"found": 90.0, "left": 24.6, "low": 9.0, "high": 67.0}
    figures = FIGURES | {"estimate": estimate | {"recapture": 22.0, "next": 3.0}}
    screen = Screen(width=80, record=True, quiet=False)
    with screen.capture() as shown:
        screen.print(as_table(figures, 80))
    lines = [" ".join(line.split()) for line in shown.get().splitlines()]
    assert "left about 25 more to be found (9–67)" in lines


async def test_a_dumb_terminal_gets_lines(monkeypatch, capsys):
    monkeypatch.setattr(display, "LINE_SECONDS", 0.01)
    dumb = Screen(stderr=True, force_terminal=True, _environ={"TERM": "dumb"})
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if it were a terminal
    monkeypatch.setattr(terminal, "stderr", dumb)
    async with Watched():
        await asyncio.sleep(0.1)
    assert json.loads(capsys.readouterr().err.splitlines()[0])["pages"] == 123_456


async def test_the_first_line_knows_the_speed_since_the_beginning():
    reporter = Watched()
    reporter.crawl.tally.pages = 7
    await asyncio.sleep(0.01)
    assert reporter.snapshot()["pages_per_second"] > 0


def test_limits_that_refuse_a_seed_are_named():
    bounds = BoundsSettings(max_url_length=100, max_segments=9, max_repeats=4)
    refused = {"trap_length", "trap_segments", "trap_repeats"}
    told = "; ".join(remedies_for(refused, bounds))
    assert "100 characters (bounds.max_url_length)" in told
    assert "9 segments (bounds.max_segments)" in told
    assert "5 times (bounds.max_repeats)" in told
    assert "such as 8080" in remedies_for({"blocked_port"}, bounds)[0]
    assert "--allow-network" in remedies_for({"blocked_address", None}, bounds)[0]
    assert "check the URLs" in remedies_for({"dns"}, bounds)[0]


def test_busy_servers_are_shown_with_the_links_that_wait_for_them():
    screen = Screen(width=80, record=True, quiet=False)
    with screen.capture() as shown:
        screen.print(as_table(FIGURES, 80))
    assert "busy  a.test (2 requests, 1,234 links wait)" in shown.get()
