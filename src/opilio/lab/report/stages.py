"""The table of a report with the results of each entry in each stage of a crawl."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.lab.report.curve_points import topic_of
from opilio.lab.report.figures import REFERENCES, Findings
from opilio.lab.report.html import Html, tag
from opilio.lab.report.standings import StandingsEntry, distinct_tasks, mean_over_topics
from opilio.lab.report.tables import bar, name_cell, oracle_name, percent, wide
from opilio.lab.runs import Measures, Run

STAGES = {"recall_50": "first 50", "recall_R": "to R", "recall_3R": "to 3R"}
COLUMNS = ("strategy", "precision of the first 50", *STAGES.values())


def stages_table(found: Findings) -> Html:
    """Precision of the first requests, and targets found as a share of the oracle's."""
    head = tag("tr", *(tag("th", name, scope="col") for name in COLUMNS))
    several = len(found.oracle) > 1
    tasks = list(distinct_tasks(found.all_runs).values())
    rows = [
        tag(
            "tr",
            name_cell(oracle_name(row.entry, several), row.entry),
            tag("td", percent(precision(own, [run.oracle for run in own]))),
            *(tag("td", bar(1.0), class_="share") for _ in STAGES),
            class_="oracle",
        )
        for row in found.oracle
        for own in [of_mode(tasks, row.entry)]
    ]
    rows += [stage_row(found, row.entry) for row in found.rows]
    return wide(tag("table", tag("thead", head), tag("tbody", *rows), class_="rank"))


def stage_row(found: Findings, entry: StandingsEntry) -> Html:
    """One entry."""
    runs = found.runs[entry]
    cells = [
        tag("td", bar(share) if share is not None else "–", class_="share")
        for share in stage_shares(runs)
    ]
    return tag(
        "tr",
        name_cell(found.names[entry], entry),
        tag("td", percent(precision(runs, [run.measures for run in runs]))),
        *cells,
        class_="reference" if entry.strategy in REFERENCES else None,
    )


def stage_shares(runs: Sequence[Run]) -> list[float | None]:
    """Targets found by the end of each stage, as a share of the oracle's."""
    topics = [topic_of(run) for run in runs]
    return [
        mean_over_topics(topics, [run.of_oracle.get(stage) for run in runs])
        for stage in STAGES
    ]


def precision(runs: Sequence[Run], measures: Sequence[Measures]) -> float | None:
    """Mean precision of the first requests."""
    topics = [topic_of(run) for run in runs]
    return mean_over_topics(topics, [one.precision_50 for one in measures])


def of_mode(runs: Sequence[Run], entry: StandingsEntry) -> list[Run]:
    """The runs with the same kind of seeds."""
    return [run for run in runs if run.task.seeds_mode == entry.seeds_mode]
