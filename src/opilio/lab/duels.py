"""Findings in; who beats whom, as figures, as a table and in words, out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from opilio.lab.curves import interval
from opilio.lab.figures import Findings
from opilio.lab.html import Html, joined, tag
from opilio.lab.report_tables import wide
from opilio.lab.runs import Run
from opilio.lab.standings import Entry


class Duel(NamedTuple):
    """The mean difference in AURC of two entries over the tasks that both tried."""

    difference: float
    low: float  # 95 % interval
    high: float
    beats: bool
    beaten: bool

    def reversed(self) -> Duel:
        """The same, seen from the other side."""
        return Duel(-self.difference, -self.high, -self.low, self.beaten, self.beats)


Duels = dict[tuple[Entry, Entry], Duel]


def fight(found: Findings) -> dict[str, Duels]:
    """Every pair of entries with the same kind of seeds, by that kind."""
    modes: dict[str, list[Entry]] = {}
    for row in found.rows:
        modes.setdefault(row.entry.seeds_mode, []).append(row.entry)
    return {mode: all_duels(found, entries) for mode, entries in modes.items()}


def all_duels(found: Findings, entries: Sequence[Entry]) -> Duels:
    """Each against each, both ways; not those that have no task in common."""
    duels: Duels = {}
    for one, other in combinations(entries, 2):
        duel = paired(found.runs[one], found.runs[other])
        if duel:
            duels[one, other] = duel
            duels[other, one] = duel.reversed()
    return duels


def paired(ours: Sequence[Run], theirs: Sequence[Run]) -> Duel | None:
    """Our AURC less theirs, task by task."""
    other = {task_of(run): run.measures.aurc for run in theirs}
    both = [run for run in ours if task_of(run) in other]
    if not both:
        return None
    differences = np.array([[run.measures.aurc - other[task_of(run)]] for run in both])
    low, high = interval(differences, [task_of(run)[:2] for run in both])
    return Duel(
        float(differences.mean()),
        float(low[0]),
        float(high[0]),
        bool(low[0] > 0),
        bool(high[0] < 0),
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
        rows.append(tag("tr", tag("th", name, scope="row"), *cells))
    title = tag("tr", tag("th", "row against column"), *head)
    table = tag("table", tag("thead", title), tag("tbody", *rows), class_="duels")
    return joined(LEGEND, wide(table))


def mark(found: Findings, duels: Duels, one: Entry, other: Entry) -> object:
    """Won, lost or open; the figures appear under the pointer."""
    duel = duels.get((one, other))
    if duel is None:
        return ""
    kind = "win" if duel.beats else "loss" if duel.beaten else "open"
    names = f"{found.names[one]} less {found.names[other]}"
    return tag(
        "span", MARKS[kind], class_=f"mark {kind}", title=f"{names}: {told(duel)}"
    )


def told(duel: Duel) -> str:
    """A difference and its interval."""
    figures = f"{duel.difference:+.3f} [{duel.low:+.3f}, {duel.high:+.3f}]"
    return figures.replace("-", "−")


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


def in_words(found: Findings, duels: Duels, entry: Entry) -> Html:
    """How one entry did against all others."""
    own = {other: duel for (one, other), duel in duels.items() if one == entry}
    beaten = [other for other, duel in own.items() if duel.beats]
    better = [other for other, duel in own.items() if duel.beaten]
    even = [other for other, duel in own.items() if not duel.beats | duel.beaten]
    parts: list[object] = [tag("strong", found.names[entry])]
    if len(beaten) == len(own):
        parts.append(f" beats all {len(own)} others.")
    else:
        parts.append(f" beats {len(beaten)} of {len(own)} others")
        parts.append(f": {listed(found, beaten)}." if beaten else ".")
    if better:
        parts.append(f" It is beaten by {listed(found, better)}.")
    if even:
        apart = [f"{found.names[other]} ({told(own[other])})" for other in even]
        parts.append(f" It cannot be told apart from {', '.join(apart)}.")
    return tag("p", *parts)


def listed(found: Findings, entries: Iterable[Entry]) -> str:
    """Names in a row."""
    return ", ".join(found.names[entry] for entry in entries)
