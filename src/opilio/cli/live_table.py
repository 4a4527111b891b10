"""Draws the live display of a running crawl."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from opilio.cli.link_reasons import reason_in_words
from opilio.cli.plain_text import plain
from opilio.limits.stop_when_dry import left_in_words
from opilio.progress import BusyServer, Estimate

if TYPE_CHECKING:
    from rich.table import Table

MARGIN = 12  # columns of the names
GAP = "   "
REASONS = 4  # shown, the most frequent ones
PAUSED = "paused; `opilio tell DIR resume` continues"
ENDING = "stopping: waiting for the visits under way; Ctrl-C again stops now"


def as_table(figures: dict[str, Any], width: int) -> Table:
    """The figures as a table of this width."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column()
    for name, *values in rows(figures, width - MARGIN):
        table.add_row(name, in_lines(values, width - MARGIN))
    return table


def rows(figures: dict[str, Any], room: int) -> Iterator[Sequence[str]]:
    """The name of each row, and its values in markup."""
    yield (
        "topic",
        f"[bold]{escape(plain(figures['topic'], 40))}[/]",
        f"strategy {escape(figures['strategy'])}",
    )
    yield ("pages", *pages_of(figures))
    yield ("relevant", *harvest_of(figures))
    if best := figures["best"]:
        title = plain(best["title"] or best["url"], max(room - 8, 10))
        address = plain(best["url"], max(room, 10))
        yield ("best lately", f"[green]{best['score']:.3f}[/] {escape(title)}")
        yield ("", f"[dim]{escape(address)}[/]")
    if figures["estimate"]:
        yield ("left", left_in_words(Estimate(**figures["estimate"])))
    yield ("time", *times_of(figures))
    waiting, leased = figures["waiting"], figures["leased"]
    yield ("links", f"{waiting:,} waiting", f"{leased:,} being visited")
    if busy := figures["busy"]:
        yield ("busy", *(server_in_words(BusyServer(**one), 40) for one in busy))
    held = figures["hosts_held"]
    yield (
        "hosts",
        f"{figures['hosts']:,}",
        f"{figures['hosts_resting']:,} resting",
        *([held_back(held)] if held else []),
    )
    if figures["unusable"]:
        yield ("not usable", *reasons_of(figures["unusable"]))
    if asked := ", ".join(figures["asked_for"]):
        yield ("asked for", escape(plain(asked, 60)))
    if figures.get("paused"):
        yield ("", f"[yellow]{PAUSED}[/]")
    if figures["stopping"]:
        yield ("", f"[yellow]{ENDING}[/]")


def server_in_words(server: BusyServer, room: int = 80) -> str:
    """A server with requests under way, and how many links wait for it.

    >>> server_in_words(BusyServer("a.test", 2, 1234))
    'a.test (2 requests, 1,234 links wait)'
    """
    requests = "1 request" if server.requests == 1 else f"{server.requests:,} requests"
    waits = "1 link waits" if server.links == 1 else f"{server.links:,} links wait"
    return f"{escape(plain(server.host, room))} ({requests}, {waits})"


def pages_of(figures: dict[str, Any]) -> Iterator[str]:
    """Pages so far, out of the budget; how many of them in this run."""
    pages, most = figures["pages_in_all"], figures["max_pages"]
    out_of = f" of {most:,} ({pages / most:.0%})" if most else ""
    yield f"[bold]{pages:,}[/]{out_of}"
    if pages != figures["pages"]:
        yield f"{figures['pages']:,} in this run"


def harvest_of(figures: dict[str, Any]) -> Iterator[str]:
    """Relevant pages and harvest rates: of all runs, of this run, of recent pages."""
    kept = figures["kept_in_all"]
    yield f"[bold green]{kept:,}[/] ({figures['harvest_rate_in_all']:.0%})"
    if figures["pages_in_all"] != figures["pages"]:
        yield f"{figures['kept']:,} in this run ({figures['harvest_rate']:.0%})"
    yield f"[bold]{figures['harvest_rate_recent']:.0%}[/] of the last 100 pages"


def times_of(figures: dict[str, Any]) -> Iterator[str]:
    """How long it runs, how fast, and how long it will take."""
    yield duration(figures["seconds"])
    yield f"{figures['pages_per_second']:.1f} pages/s"
    if figures["seconds_left"] is not None:
        yield f"about {duration(figures['seconds_left'])} left"


def duration(seconds: float) -> str:
    """A time as people write it.

    >>> duration(71), duration(3_725), duration(200_000)
    ('1:11', '1:02:05', '2 days 7:33:20')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    text = f"{minutes}:{rest:02}"
    if hours or days:
        text = f"{hours}:{minutes:02}:{rest:02}"
    return f"{days} {'day' if days == 1 else 'days'} {text}" if days else text


def reasons_of(unusable: dict[str, int]) -> Iterator[str]:
    """Links that could not be used, by the most frequent reasons."""
    for reason, count in list(unusable.items())[:REASONS]:
        yield f"{count:,} {escape(reason_in_words(reason))}"
    if rest := sum(list(unusable.values())[REASONS:]):
        yield f"{rest:,} for other reasons"


def held_back(hosts: int) -> str:
    """Why workers are idle although hosts could be visited."""
    return f"{hosts:,} held back until hosts with better links may be visited"


def in_lines(values: Sequence[str], width: int) -> Text:
    """Values side by side, wrapped to this width."""
    lines = [Text()]
    for value in map(Text.from_markup, values):
        if not lines[-1]:
            lines[-1] = value
        elif lines[-1].cell_len + len(GAP) + value.cell_len <= width:
            lines[-1] = lines[-1] + GAP + value
        else:
            lines.append(value)
    return Text("\n").join(lines)
