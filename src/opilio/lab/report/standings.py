"""Ranks strategies by their share of the oracle, over all runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import NamedTuple

import msgspec
import numpy as np

from opilio.extensions import is_file
from opilio.lab.report.curve_points import Topic, tasks_of, topic_of
from opilio.lab.report.html import without_controls
from opilio.lab.runs import Measures, Run
from opilio.lab.statistics import band

REACHED = (50, 80, 90)  # % of recall


class StandingsEntry(NamedTuple):
    """What is compared: a strategy with the judge and the seeds it was given."""

    strategy: str
    judge: str
    seeds_mode: str


class Reached(NamedTuple):
    """Requests until a given recall: the median over all runs, and how many reached
    it."""

    requests: float | None  # None: fewer than half of the runs reached it
    runs: int


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The results of an entry: means over topics of the means over their runs."""

    entry: StandingsEntry
    runs: int
    aurc: float
    aurc_low: float | None  # its 95 % interval; None: of a single run there is none
    aurc_high: float | None
    of_oracle: float  # AURC / the oracle's
    recall_2R: float  # noqa: N815 - as in Measures
    harvest: float
    pages_to: tuple[Reached, ...]  # 50, 80 and 90 % of recall
    target_length: float | None
    through_irrelevant: float | None
    wasted: float
    cpu_ms: float | None  # a request; the oracle is not timed
    hours: float | None = None  # of simulated time; None: nothing was simulated


def entry_of(run: Run) -> StandingsEntry:
    """The entry that a run belongs to."""
    return StandingsEntry(run.task.strategy, run.task.judge, run.task.seeds_mode)


def usable(runs: Iterable[Run]) -> list[Run]:
    """The runs that can be measured: those where the oracle could find something."""
    return [run for run in runs if run.R and "aurc" in run.of_oracle]


def by_entry(runs: Iterable[Run]) -> dict[StandingsEntry, list[Run]]:
    """The runs of each entry, in the order in which the entries come."""
    entries: dict[StandingsEntry, list[Run]] = {}
    for run in runs:
        entries.setdefault(entry_of(run), []).append(run)
    return entries


def names(entries: Iterable[StandingsEntry]) -> dict[StandingsEntry, str]:
    """The shortest name that distinguishes each entry from the others."""
    entries = list(entries)
    written = {entry.strategy for entry in entries}
    alike = Counter(map(display_name, written))
    parts = [
        part
        for part in range(len(StandingsEntry._fields))
        if part == 0 or len({entry[part] for entry in entries}) > 1
    ]
    short = {
        one: display_name(one) if alike[display_name(one)] == 1 else one
        for one in written
    }
    return {
        entry: without_controls(
            " · ".join((short[entry.strategy], *(entry[part] for part in parts[1:])))
        )
        for entry in entries
    }


def display_name(strategy: str) -> str:
    """The display name of a strategy: without options, and only the class if it is from
    a file."""
    name, *options = strategy.split(",")
    if is_file(name):
        name = name.rpartition(":")[2]
    return ", ".join([name, *options])


def standings(runs: Iterable[Run]) -> list[Standing]:
    """Every entry, best share of the oracle first; of equals, by name."""
    found = [
        standing(entry, own, [run.measures for run in own])
        for entry, own in by_entry(runs).items()
    ]
    return sorted(found, key=lambda row: (-row.of_oracle, row.entry))


def oracle_standings(runs: Iterable[Run]) -> list[Standing]:
    """The oracle's results on the same tasks: a row for each kind of seeds."""
    modes: dict[str, list[Run]] = {}
    for run in distinct_tasks(runs).values():
        modes.setdefault(run.task.seeds_mode, []).append(run)
    return [
        standing(
            StandingsEntry("oracle", "", mode),
            own,
            [run.oracle for run in own],
            is_oracle=True,
        )
        for mode, own in modes.items()
    ]


def distinct_tasks(runs: Iterable[Run]) -> dict[tuple[str, str, str, int], Run]:
    """One run for each web, topic, seeds and repetition: the oracle's are the same."""
    first: dict[tuple[str, str, str, int], Run] = {}
    for run in runs:
        task = run.task
        key = (task.web, task.topic, task.seeds_mode, task.repeat)
        first.setdefault(key, run)
    return first


def standing(
    entry: StandingsEntry,
    runs: Sequence[Run],
    measures: Sequence[Measures],
    *,
    is_oracle: bool = False,
) -> Standing:
    """The row of one entry; `measures` are those of its runs, or of the oracle."""
    topics = [topic_of(run) for run in runs]

    def mean(values: Iterable[float | None]) -> float | None:
        return mean_over_topics(topics, values)

    aurc, low, high = band([[one.aurc] for one in measures], groups=tasks_of(topics))
    known = bool(np.isfinite(low[0]))
    return Standing(
        entry=entry,
        runs=len(runs),
        aurc=float(aurc[0]),
        aurc_low=float(low[0]) if known else None,
        aurc_high=float(high[0]) if known else None,
        of_oracle=1.0 if is_oracle else mean_share(runs),
        recall_2R=mean(one.recall_2R for one in measures) or 0.0,
        harvest=mean(one.harvest for one in measures) or 0.0,
        pages_to=tuple(
            reached([getattr(one, f"pages_to_{share}") for one in measures])
            for share in REACHED
        ),
        target_length=mean(one.target_length for one in measures),
        through_irrelevant=mean(one.through_irrelevant for one in measures),
        wasted=mean(one.wasted for one in measures) or 0.0,
        cpu_ms=None if is_oracle else mean(run.cpu_ms for run in runs),
        hours=None if is_oracle else mean(run.hours for run in runs) or None,
    )


def mean_over_topics(
    topics: Iterable[Topic], values: Iterable[float | None]
) -> float | None:
    """The mean of the topics' means, each over the runs that have the figure."""
    known: dict[Topic, list[float]] = {}
    for topic, value in zip(topics, values, strict=True):
        if value is not None:
            known.setdefault(topic, []).append(value)
    return fmean(map(fmean, known.values())) if known else None


def mean_share(runs: Sequence[Run]) -> float:
    """Mean share of the oracle's AURC."""
    shares = (run.of_oracle["aurc"] for run in runs)
    return mean_over_topics(map(topic_of, runs), shares) or 0.0


def reached(requests: Sequence[int | None]) -> Reached:
    """The median; None counts as larger than any number."""
    middle = median(math.inf if number is None else number for number in requests)
    count = sum(1 for number in requests if number is not None)
    return Reached(None if math.isinf(middle) else middle, count)


def shares_by_topic(runs: Iterable[Run]) -> dict[tuple[StandingsEntry, str], float]:
    """Each entry's mean share of the oracle on each topic."""
    cells: dict[tuple[StandingsEntry, str], list[Run]] = {}
    for run in runs:
        cells.setdefault((entry_of(run), run.task.topic), []).append(run)
    return {cell: mean_share(own) for cell, own in cells.items()}
