"""Compares strategies pairwise: which one beats which, and how clearly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from msgspec.structs import replace

from opilio.lab.report.curve_points import tasks_of, topic_of
from opilio.lab.report.figures import Findings
from opilio.lab.report.html import Html, joined, tag
from opilio.lab.report.standings import StandingsEntry
from opilio.lab.report.tables import name_cell, wide
from opilio.lab.runs import Run
from opilio.lab.statistics import Paired, beats, compare, holm

SIGNIFICANT = 0.05

Duels = dict[
    tuple[StandingsEntry, StandingsEntry], Paired
]  # AURC of the first minus the second's


def fight(found: Findings) -> dict[str, Duels]:
    """Every pair of entries with the same kind of seeds, by that kind."""
    modes: dict[str, list[StandingsEntry]] = {}
    for row in found.rows:
        modes.setdefault(row.entry.seeds_mode, []).append(row.entry)
    return {mode: all_duels(found, entries) for mode, entries in modes.items()}


def all_duels(found: Findings, entries: Sequence[StandingsEntry]) -> Duels:
    """Each against each, both ways; not those that have no task in common.

    The p of each is corrected for the number of pairs.
    """
    pairs = {
        (one, other): duel
        for one, other in combinations(entries, 2)
        if (duel := fought(found.runs[one], found.runs[other]))
    }
    duels: Duels = {}
    corrected = holm([duel.p for duel in pairs.values()])
    for ((one, other), duel), p in zip(pairs.items(), corrected, strict=True):
        duels[one, other] = replace(duel, p=p)
        duels[other, one] = turned(duels[one, other])
    return duels


def fought(ours: Sequence[Run], theirs: Sequence[Run]) -> Paired | None:
    """Our AURC minus theirs, task by task."""
    other = {task_of(run): run.measures.aurc for run in theirs}
    both = [run for run in ours if task_of(run) in other]
    if not both:
        return None
    return compare(
        [run.measures.aurc for run in both],
        [other[task_of(run)] for run in both],
        seed=0,
        groups=tasks_of([topic_of(run) for run in both]),
    )


def turned(duel: Paired) -> Paired:
    """The same, seen from the other side."""
    return Paired(
        mean=-duel.mean,
        low=-duel.high,
        high=-duel.low,
        p=duel.p,
        wins=duel.losses,
        ties=duel.ties,
        losses=duel.wins,
    )


def task_of(run: Run) -> tuple[str, str, int]:
    """What makes two runs comparable: the same topic from the same seeds."""
    return run.task.web, run.task.topic, run.task.repeat


def duels_table(found: Findings, duels: Duels) -> Html:
    """A row and a column for each entry; columns are numbered like the rows."""
    entries = [
        row.entry for row in found.rows if any(row.entry in pair for pair in duels)
    ]
    head = [tag("th", place, scope="col") for place in range(1, len(entries) + 1)]
    rows = []
    for place, one in enumerate(entries, 1):
        name = joined(tag("small", place), " ", found.names[one])
        cells = [tag("td", mark(found, duels, one, other)) for other in entries]
        rows.append(tag("tr", name_cell(name, one), *cells))
    title = tag("tr", tag("th", "row against column"), *head)
    table = tag("table", tag("thead", title), tag("tbody", *rows), class_="duels")
    return joined(LEGEND, wide(table))


def mark(
    found: Findings, duels: Duels, one: StandingsEntry, other: StandingsEntry
) -> object:
    """Won, lost or open; the tooltip has the figures."""
    duel = duels.get((one, other))
    if duel is None:
        return ""
    kind = "win" if beats(duel) else "loss" if beats(turned(duel)) else "open"
    names = f"{found.names[one]} less {found.names[other]}"
    counts = f"{duel.wins} won, {duel.ties} even, {duel.losses} lost"
    figures = f"{names}: {told(duel)}; {counts}"
    return tag("span", MARKS[kind], class_=f"mark {kind}", title=figures)


def told(duel: Paired) -> str:
    """A mean difference, its interval, if there is one, and p."""
    figures = f"d̄ {duel.mean:+.3f}"
    if math.isfinite(duel.low):
        figures += f" [{duel.low:+.3f}, {duel.high:+.3f}]"
    return f"{figures.replace('-', '−')}, p {duel.p:.2g} after Holm"


MARKS = {"win": "+", "loss": "−", "open": "·"}
LEGEND = tag(
    "p",
    tag("span", "+", class_="mark win"),
    " beats, ",
    tag("span", "−", class_="mark loss"),
    " is beaten by, ",
    tag("span", "·", class_="mark open"),
    " cannot be told apart from",
    class_="note legend",
)


def warning(duels: Mapping[str, Duels], topics: int) -> str:
    """A note if no comparison could be significant, whatever the result; otherwise
    empty.

    The least p of n tasks is 2^(1-n), and the least of m pairs m times that.
    """
    every = [duel for of_mode in duels.values() for duel in of_mode.values()]
    pairs = max(len(of_mode) // 2 for of_mode in duels.values())
    tasks = max((one.wins + one.ties + one.losses for one in every), default=0)
    least = min(1.0, pairs * 2.0 ** (1 - tasks))
    if not pairs or least < SIGNIFICANT:
        return ""
    what, where = "topics", "these topics"
    if topics == 1:  # its repetitions are compared instead
        what, where = "runs", "this topic"
    return (
        f"No test on so few {what} can be significant after correction (with {tasks}, "
        f"the least p of {pairs} {'pair' if pairs == 1 else 'pairs'} is {least:.2g}), "
        f"so what follows is a tendency on {where}."
    )


def duels_in_words(found: Findings, duels: Duels, entry: StandingsEntry) -> Html:
    """One entry compared with all others, with the figures."""
    own = {other: duel for (one, other), duel in duels.items() if one == entry}
    beaten = [other for other, duel in own.items() if beats(duel)]
    better = [other for other, duel in own.items() if beats(turned(duel))]
    even = [other for other in own if other not in beaten and other not in better]
    all_or_some = "all " if len(beaten) == len(own) else f"{len(beaten)} of "
    others = "other" if len(own) == 1 else "others"
    said = [
        (f" beats {all_or_some}{len(own)} {others}", beaten),
        (" It is beaten by", better),
        (" It cannot be told apart from", even),
    ]
    parts: list[object] = [tag("strong", found.names[entry])]
    for words, entries in said:
        if entries:
            parts += [f"{words}:", listed(found, own, entries)]
        elif entries is beaten:
            parts.append(f"{words}.")
    return tag("div", *parts, class_="told")


def listed(
    found: Findings, own: Mapping[StandingsEntry, Paired], entries: list[StandingsEntry]
) -> Html:
    """Names in a column, each with the figures of the comparison."""
    lines = [
        tag("li", found.names[other], " ", tag("span", told(own[other])))
        for other in entries
    ]
    return tag("ul", *lines)
