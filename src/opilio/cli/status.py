"""`opilio status`: a crawl's folder in, its figures out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from opilio.cli.terminal import plain, stdout
from opilio.cli.waiting import sentence
from opilio.limits.stop_when_dry import left_in_words
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import Summary, opened, summary


def status(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show how a crawl stands: pages, harvest rate, frontier, states with reasons."""
    with opened(CrawlFolder(folder)) as db:
        figures = summary(db)
    if as_json:
        typer.echo(msgspec.json.encode(figures).decode())
    else:
        stdout.print(as_table(figures))
        show_rests(figures, time.time())


def show_rests(figures: Summary, now: float) -> None:
    """Which hosts rest, why and until when; which are slow by their own wish."""
    if figures.resting:
        stdout.print(f"\n[bold]Hosts that rest: {figures.hosts_resting:,}[/]")
    for rest in figures.resting:
        stdout.print(Text(f"  {sentence(rest, now)}"), soft_wrap=True)
    if figures.slowest:
        stdout.print("\n[bold]The longest Crawl-delays[/]")
    for host, delay in figures.slowest.items():
        stdout.print(Text(f"  {plain(host)}: {delay:g} s"), soft_wrap=True)


def left_to_find(figures: Summary) -> list[tuple[str, str, str]]:
    """The row of the estimate, if there is one."""
    estimate = figures.estimate
    return (
        [("left", f"{estimate.left:,.0f}", left_in_words(estimate))] if estimate else []
    )


def as_table(figures: Summary) -> Table:
    """The figures for a person."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column(justify="right")
    table.add_column(style="dim")
    waiting = figures.states.get("waiting", 0)
    for name, value, note in (
        ("pages", f"{figures.pages:,}", f"{figures.bytes / 2**20:,.1f} MB"),
        (
            "kept",
            f"[bold green]{figures.kept:,}[/]",
            f"harvest rate {figures.harvest_rate:.1%}",
        ),
        ("", "", f"{figures.harvest_rate_recent:.1%} over the last 100 pages"),
        (
            "speed",
            f"{figures.pages_per_second:,.1f}",
            "pages a second, pauses included",
        ),
        *left_to_find(figures),
        ("links", f"{figures.links:,}", f"{waiting:,} waiting"),
        ("hosts", f"{figures.hosts:,}", ""),
    ):
        table.add_row(name, value, note)
    table.add_section()
    for state, count in sorted(figures.states.items(), key=lambda item: -item[1]):
        table.add_row(state, f"{count:,}", "")
    if figures.reasons:
        table.add_section()
    for reason, count in figures.reasons.items():
        table.add_row("", f"{count:,}", reason)
    return table
