"""Comparisons of strategies that `opilio lab compare` left in the folder."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from opilio.errors import BadInput
from opilio.lab.statistics import band
from opilio.serve.library import Library
from opilio.serve.view import LibraryView

MOST_REPORTS = 50
MOST_RUNS = 5_000
Shares: TypeAlias = dict[tuple[str, str], float]
"""Web and topic -> share of the oracle."""


class LabRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which comparison to show; by default the first."""

    report: Annotated[str, Meta(max_length=200)] = ""


class LabRun(msgspec.Struct, frozen=True):
    """What is read of a run; everything else in its line is ignored."""

    web: str = ""
    topic: str = ""
    strategy: str = ""
    judge: str = ""
    aurc: float | None = None
    share_of_oracle: float | None = None


class StrategyStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How well a strategy did: means over topics of the means over their runs."""

    strategy: str
    judge: str
    runs: int
    share_of_oracle: float
    low: float | None  # its 95 % interval over topics; null: there is one topic only
    high: float | None
    aurc: float
    wins: int | None  # topics on which it does better than the best; null: it is that
    losses: int | None


class TopicShares(msgspec.Struct, frozen=True):
    """The share of the oracle on one topic, by strategy."""

    web: str
    topic: str
    shares: list[float | None]  # in the order of the standings; null: not tried


class LabReports(msgspec.Struct, frozen=True):
    """The comparisons, and one of them."""

    reports: list[str]
    chosen: str
    webs: list[str]
    standings: list[StrategyStanding]  # the best first
    topics: list[TopicShares]
    has_curves: bool


def show_lab(library: Library, asked: LabRequest) -> LabReports:
    """A comparison by strategy, and topic by topic."""
    found = lab_folders(library)
    if not found:
        return LabReports([], "", [], [], [], False)
    name = asked.report or next(iter(found))
    if name not in found:
        raise BadInput(f"there is no comparison {name[:80]!r} here")
    runs = runs_in(found[name] / "runs.jsonl")
    by_strategy: dict[tuple[str, str], list[LabRun]] = {}
    for run in runs:
        by_strategy.setdefault((run.strategy, run.judge), []).append(run)
    shares = {entry: topic_shares(own) for entry, own in by_strategy.items()}
    order = sorted(shares, key=lambda entry: -fmean(shares[entry].values()))
    topics = sorted({place for known in shares.values() for place in known})
    return LabReports(
        list(found),
        name,
        sorted({run.web for run in runs}),
        [
            standing(entry, by_strategy[entry], shares[entry], shares[order[0]])
            for entry in order
        ],
        [
            TopicShares(*place, [shares[entry].get(place) for entry in order])
            for place in topics
        ],
        (found[name] / "recall.svg").is_file(),
    )


def topic_shares(runs: list[LabRun]) -> Shares:
    """The share of the oracle by web and topic, the mean over repetitions."""
    known: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        known.setdefault((run.web, run.topic), []).append(run.share_of_oracle or 0.0)
    return {place: fmean(values) for place, values in known.items()}


def standing(
    entry: tuple[str, str], runs: list[LabRun], own: Shares, best: Shares
) -> StrategyStanding:
    """The row of a strategy and a judge, compared with the best ones."""
    both = [place for place in own if place in best]
    is_best = own is best
    mean, low, high = band([[value] for value in own.values()])
    known = isfinite(low[0])
    return StrategyStanding(
        strategy=entry[0],
        judge=entry[1],
        runs=len(runs),
        share_of_oracle=float(mean[0]),
        low=float(low[0]) if known else None,
        high=float(high[0]) if known else None,
        aurc=fmean(run.aurc or 0.0 for run in runs),
        wins=None if is_best else sum(own[place] > best[place] for place in both),
        losses=None if is_best else sum(own[place] < best[place] for place in both),
    )


def lab_folders(library: Library) -> dict[str, Path]:
    """The folders with comparisons, by name."""
    if library.is_single:
        return {}
    found = [
        path
        for path in sorted(library.root.iterdir())
        if (path / "runs.jsonl").is_file()
        and path.resolve().is_relative_to(library.root)
    ]
    return {path.name: path for path in found[:MOST_REPORTS]}


def runs_in(file: Path) -> list[LabRun]:
    """The runs of a comparison; lines that are none are left out."""
    decode = msgspec.json.Decoder(LabRun).decode
    runs: list[LabRun] = []
    with file.open("rb") as lines:
        for line in lines:
            if len(runs) >= MOST_RUNS:
                break
            try:
                runs.append(decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
    return runs


LAB = LibraryView(
    name="lab",
    path="lab",
    title="Lab",
    help="Comparisons of strategies that are in the folder.",
    parameters=LabRequest,
    result=LabReports,
    show=show_lab,
)
