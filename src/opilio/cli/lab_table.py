"""Prints the results of lab runs as a table, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.table import Table
from rich.text import Text

from opilio.cli.plain_text import plain
from opilio.cli.terminal import foreign, stdout
from opilio.lab.report.figures import findings
from opilio.lab.report.several_webs import means
from opilio.lab.report.standings import (
    Standing,
    by_entry,
    names,
    oracle_standings,
    standings,
    usable,
)
from opilio.lab.runs import Run

BAR = 12  # characters
COLUMNS = (
    "of oracle",
    "AURC",
    "95 %",
    "recall 2R",
    "harvest",
    "to 50 %",
    "to 80 %",
    "to 90 %",
    "wasted",
    "CPU ms",
    "hours",  # of simulated time
)


def print_tables(runs: Sequence[Run]) -> None:
    """Print the table of each web; before them, if there are several, the means."""
    webs: dict[str, list[Run]] = {}
    for run in usable(runs):
        webs.setdefault(run.task.web, []).append(run)
    if len(webs) < 2:
        print_table(runs)
        return
    called = names(by_entry(run for own in webs.values() for run in own))
    rows = [
        (called[row.entry], [row.mean, *row.shares])
        for row in means([findings(own) for own in webs.values()])
    ]
    print_means(["mean", *webs], rows)
    for web, own in webs.items():
        typer.echo(f"\n{plain(web)}")
        print_table(own)


def print_means(
    columns: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]]
) -> None:
    """Print shares of the oracle by strategy and web."""
    told = [
        (name, ["–" if share is None else f"{share:.1%}" for share in shares])
        for name, shares in rows
    ]
    if not stdout.is_terminal:
        typer.echo("\t".join(("of oracle", *map(plain, columns))))
        for name, cells in told:
            typer.echo("\t".join((plain(name), *cells)))
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("of oracle", no_wrap=True, min_width=14)
    for column in columns:
        table.add_column(foreign(column), justify="right")
    for name, cells in told:
        table.add_row(foreign(name), *cells)
    stdout.print(table)


def print_table(runs: Sequence[Run]) -> None:
    """Print every strategy, best share of the oracle first, below the oracle."""
    kept = usable(runs)
    called = names(by_entry(kept))
    several = len({run.task.seeds_mode for run in kept}) > 1
    rows = [
        (f"oracle · {row.entry.seeds_mode}" if several else "oracle", row)
        for row in oracle_standings(kept)
    ]
    rows += [(called[row.entry], row) for row in standings(kept)]
    if stdout.is_terminal:
        stdout.print(as_table(rows))
    else:
        # Not with rich, which turns tabs into spaces.
        typer.echo("\t".join(("strategy", *COLUMNS)))
        for name, row in rows:
            typer.echo("\t".join((plain(name), *figures(row))))


def as_table(rows: Sequence[tuple[str, Standing]]) -> Table:
    """The table for a terminal; columns that do not fit are dropped from the right."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("strategy", no_wrap=True, min_width=14)
    table.add_column("", no_wrap=True, width=BAR)
    shown = COLUMNS[: 4 if stdout.width < 90 else len(COLUMNS)]
    for column in shown:
        table.add_column(column, justify="right", no_wrap=True)
    for name, row in rows:
        style = "dim" if row.cpu_ms is None else ""
        bar = Text("━" * round(min(row.of_oracle, 1) * BAR), style or "green")
        cells = [Text(figure, style) for figure in figures(row)[: len(shown)]]
        table.add_row(foreign(name, style=style), bar, *cells)
    return table


def figures(row: Standing) -> list[str]:
    """The values of one row."""
    return [
        f"{row.of_oracle:.1%}",
        f"{row.aurc:.3f}",
        "–" if row.aurc_low is None else f"{row.aurc_low:.3f}–{row.aurc_high:.3f}",
        f"{row.recall_2R:.1%}",
        f"{row.harvest:.1%}",
        *(
            "–" if reached.requests is None else f"{reached.requests:,.0f}"
            for reached in row.pages_to
        ),
        f"{row.wasted:.1%}",
        "–" if row.cpu_ms is None else f"{row.cpu_ms:.2f}",
        "–" if row.hours is None else f"{row.hours:.2f}",
    ]
