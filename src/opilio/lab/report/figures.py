"""Makes the charts of a report from the results of runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from opilio.errors import BadInput
from opilio.lab.report import colours, plots
from opilio.lab.report.curve_points import (
    WINDOW,
    Curve,
    CurveWalk,
    Measure,
    curve,
    grid,
    harvest,
    lately,
    recall,
    walked,
    walked_by_oracle,
)
from opilio.lab.report.drawing import Chart, svg, write_svg
from opilio.lab.report.plots import Frame, Series
from opilio.lab.report.standings import (
    Standing,
    StandingsEntry,
    by_entry,
    distinct_tasks,
    names,
    oracle_standings,
    shares_by_topic,
    standings,
    usable,
)
from opilio.lab.runs import Run
from opilio.lab.statistics import Numbers

REFERENCES = {"breadth-first": colours.BREADTH, "random": colours.CHANCE}
WIDE = Frame("", width=760, height=420)
NARROW = Frame("", width=290, height=250, ticks=(3, 5), labelled=False)  # for phones
SMALL = Frame("", 190, 120, ticks=(3, 2), labelled=False, titled=False)
OF_A_STRATEGY = Frame("recall", width=420, height=260)  # for the docs


class Plot(NamedTuple):
    """A chart of curves: the measure, where it starts, and how many entries it
    shows."""

    measure: Measure
    y_title: str
    start: float = 0.0  # units of R: it has no meaning before
    shown: int = len(colours.LINES)  # best entries, each with a colour of its own
    bands: bool = True


PLOTS = {  # by the names of their files
    "recall": Plot(recall, "targets found"),
    "harvest": Plot(harvest, "targets among the requests so far", 1e-9),
    "window": Plot(
        lately, "targets among the last R/2 requests", WINDOW, shown=4, bands=False
    ),
}


class Findings(NamedTuple):
    """Everything about a comparison that its report shows."""

    runs: dict[StandingsEntry, list[Run]]
    names: dict[StandingsEntry, str]
    rows: list[Standing]  # best first
    oracle: list[Standing]  # one for each kind of seeds
    x: Numbers  # requests, in units of R
    left_out: int  # runs without any target
    made: dict[Hashable, Curve]  # curves, which take long to compute

    def curve(self, entry: StandingsEntry, plot: Plot) -> Curve:
        """The curve of one entry."""
        runs = self.runs[entry]
        return self._mean((entry, plot), [walked(run) for run in runs], plot)

    def oracle_curve(self, runs: Sequence[Run], plot: Plot) -> Curve:
        """The curve of the oracle, each task once."""
        tasks = distinct_tasks(runs)
        walks = [walked_by_oracle(run) for run in tasks.values()]
        return self._mean((frozenset(tasks), plot), walks, plot)

    def _mean(self, key: Hashable, walks: Sequence[CurveWalk], plot: Plot) -> Curve:
        if key not in self.made:
            x = self.x[self.x >= plot.start]
            self.made[key] = curve(walks, plot.measure, x)
        return self.made[key]

    @property
    def all_runs(self) -> list[Run]:
        """The runs of all entries."""
        return [run for runs in self.runs.values() for run in runs]


def findings(runs: Sequence[Run]) -> Findings:
    """What the runs have found."""
    kept = usable(runs)
    if not kept:
        raise BadInput("there is nothing to report: no run had a target in reach")
    entries = by_entry(kept)
    return Findings(
        runs=entries,
        names=names(entries),
        rows=standings(kept),
        oracle=oracle_standings(kept),
        x=grid(kept),
        left_out=len(runs) - len(kept),
        made={},
    )


def leaders(found: Findings, plot: Plot, frame: Frame = WIDE) -> Chart:
    """The chart of the best entries, breadth-first, random and the oracle.

    Only the first and breadth-first have their band: ten would hide each other.
    """
    series = [
        Series(
            found.names[entry],
            found.curve(entry, plot),
            colour,
            2,
            band=plot.bands and (rank == 0 or colour == colours.BREADTH),
        )
        for rank, (entry, colour) in enumerate(chosen(found, plot.shown))
    ]
    best = found.oracle_curve(found.all_runs, plot)
    series.append(Series("oracle", best, colours.ORACLE, dashed=True, band=False))
    return plots.line_chart(series, frame._replace(y_title=plot.y_title))


def chosen(
    found: Findings, shown: int
) -> Iterator[tuple[StandingsEntry, colours.Colour]]:
    """The entries to show together, best first, and their colours."""
    free = iter(colours.LINES[:shown])
    for row in found.rows:
        colour = REFERENCES.get(row.entry.strategy) or next(free, None)
        if colour:
            yield row.entry, colour


def against_oracle(
    found: Findings, entry: StandingsEntry, frame: Frame = SMALL
) -> Chart:
    """The recall of an entry, of breadth-first and of the oracle on the same tasks."""
    plot = PLOTS["recall"]
    own = Series(found.names[entry], found.curve(entry, plot), colours.LINES[0], 2)
    series = [own]
    other = reference(found, entry)
    if other:
        breadth = found.curve(other, plot)
        series.append(Series(other.strategy, breadth, colours.BREADTH, band=False))
    best = found.oracle_curve(found.runs[entry], plot)
    series.append(Series("oracle", best, colours.ORACLE, 1.25, dashed=True, band=False))
    return plots.line_chart(series, frame)


def reference(found: Findings, entry: StandingsEntry) -> StandingsEntry | None:
    """Breadth-first with the same seeds, with the same judge if there is one."""
    others = [
        other
        for other in found.runs
        if other.strategy == "breadth-first" and other.seeds_mode == entry.seeds_mode
    ]
    others.sort(key=lambda other: other.judge != entry.judge)
    return others[0] if others and others[0] != entry else None


def topics_chart(found: Findings) -> Chart:
    """Shares of the oracle by strategy and topic."""
    cells = shares_by_topic(found.all_runs)
    return plots.heat_map(
        {(found.names[entry], topic): share for (entry, topic), share in cells.items()},
        rows=[found.names[row.entry] for row in found.rows],
        columns=list(dict.fromkeys(run.task.topic for run in found.all_runs)),
    )


def strategy_figure(runs: Sequence[Run], strategy: str, path: Path) -> None:
    """Draw a strategy's recall against the oracle's and breadth-first's: one SVG."""
    found = findings(runs)
    entry = next((entry for entry in found.runs if entry.strategy == strategy), None)
    if entry is None:
        tried = ", ".join(sorted({entry.strategy for entry in found.runs}))
        raise BadInput(f"no run of the strategy {strategy}; there are runs of {tried}")
    found = found._replace(names={entry: entry.strategy for entry in found.runs})
    chart = against_oracle(found, entry, OF_A_STRATEGY)
    write_svg(svg(chart), path)
