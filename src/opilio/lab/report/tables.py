"""Writes the tables of a report as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opilio.lab.report.curve_points import STEPS, Curve
from opilio.lab.report.figures import PLOTS, REFERENCES, Findings
from opilio.lab.report.html import Html, joined, tag
from opilio.lab.report.standings import (
    REACHED,
    Reached,
    Standing,
    StandingsEntry,
    display_name,
)

COLUMNS = (  # glossary.py explains them
    "strategy",
    "of the oracle",
    "AURC [95\u00a0%]",
    "recall at\u00a02R",
    "harvest",
    *(f"to\u00a0{share}\u00a0%" for share in REACHED),
    "target length",
    "through irrelevant",
    "wasted",
    "CPU ms",
    "hours",
)
NUMBERS = 12  # columns of the table of a curve


def standings_table(found: Findings) -> Html:
    """Every entry, best first, below the oracle."""
    head = tag("tr", *(tag("th", name, scope="col") for name in COLUMNS))
    several = len(found.oracle) > 1
    rows = [
        standing_row(row, oracle_name(row.entry, several), "oracle")
        for row in found.oracle
    ]
    for row in found.rows:
        kind = "reference" if row.entry.strategy in REFERENCES else None
        rows.append(standing_row(row, found.names[row.entry], kind))
    return wide(tag("table", tag("thead", head), tag("tbody", *rows), class_="rank"))


def oracle_name(entry: StandingsEntry, several: bool) -> str:
    """The oracle, and with which seeds if there are several kinds."""
    return f"oracle · {entry.seeds_mode}" if several else "oracle"


def standing_row(row: Standing, name: str, kind: str | None) -> Html:
    """One entry."""
    cells = (
        bar(row.of_oracle),
        joined(f"{row.aurc:.3f} ", tag("small", between(row))),
        percent(row.recall_2R),
        percent(row.harvest),
        *(pages_to(reached, row.runs) for reached in row.pages_to),
        number(row.target_length, ".1f"),
        percent(row.through_irrelevant),
        percent(row.wasted),
        number(row.cpu_ms, ".2f"),
        number(row.hours, ".2f"),
    )
    columns = [
        tag("td", cell, class_="share" if place == 0 else None)
        for place, cell in enumerate(cells)
    ]
    return tag("tr", name_cell(name, row.entry), *columns, class_=kind)


def name_cell(name: object, entry: StandingsEntry) -> Html:
    """The head of an entry's row; its tooltip is the strategy as it was written."""
    return tag("th", name, scope="row", title=written(entry))


def written(entry: StandingsEntry) -> str | None:
    """A strategy as it was written, if its display name differs."""
    return None if display_name(entry.strategy) == entry.strategy else entry.strategy


def between(row: Standing) -> str:
    """The interval of the AURC, if there is one."""
    if row.aurc_low is None:
        return ""
    return f"[{row.aurc_low:.3f}, {row.aurc_high:.3f}]"


def bar(share: float) -> Html:
    """A share as a bar and as a figure."""
    full = tag("b", style=f"width:{min(share, 1):.1%}")
    return tag("div", tag("i", full), tag("span", f"{share:.1%}"), class_="bar")


def percent(share: float | None) -> str:
    """A share in words; a dash for none."""
    return number(share, ".1%")


def number(value: float | None, form: str) -> str:
    """A figure; a dash for none."""
    return "–" if value is None else format(value, form)


def pages_to(reached: Reached, runs: int) -> Html:
    """The median, and how many runs reached it."""
    count = tag("small", f" {reached.runs}/{runs}")
    return joined(number(reached.requests, ",.0f"), count)


def numbers_table(found: Findings) -> Html:
    """The exact figures of every recall curve."""
    plot = PLOTS["recall"]
    places = range(STEPS // NUMBERS, STEPS + 1, STEPS // NUMBERS)
    head = [tag("th", f"{found.x[place]:.3g} R") for place in places]
    best = found.oracle_curve(found.all_runs, plot)
    rows = [
        tag("tr", tag("th", "oracle", scope="row"), *curve_cells(best, places)),
        *(
            tag(
                "tr",
                name_cell(found.names[row.entry], row.entry),
                *curve_cells(found.curve(row.entry, plot), places),
            )
            for row in found.rows
        ),
    ]
    title = tag("tr", tag("th", "recall after"), *head)
    return wide(tag("table", tag("thead", title), tag("tbody", *rows)))


def curve_cells(curve: Curve, places: Iterable[int]) -> Iterator[Html]:
    """Means with their intervals."""
    for place in places:
        ends = f"[{curve.low[place]:.3f}, {curve.high[place]:.3f}]"
        yield tag("td", f"{curve.mean[place]:.3f}", tag("br"), tag("small", ends))


def rows_table(rows: Sequence[tuple[str, object]]) -> Html:
    """Names and what they are."""
    body = [
        tag("tr", tag("th", name, scope="row"), tag("td", what)) for name, what in rows
    ]
    return tag("table", tag("tbody", *body), class_="run")


def wide(table: Html) -> Html:
    """A table that scrolls on narrow pages, by keyboard too.

    Its right edge has a shadow as long as there is more to see.
    """
    return tag("div", table, class_="wide", tabindex="0")
