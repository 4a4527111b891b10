"""Comparisons of strategies that `opilio lab compare` left in the folder."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Annotated

import msgspec
from msgspec import Meta

from opilio.errors import BadInput
from opilio.serve.library import Library
from opilio.serve.view import LibraryView

MOST_REPORTS = 50
MOST_RUNS = 5_000


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


class StrategyStanding(msgspec.Struct, frozen=True):
    """How well a strategy did, on average."""

    strategy: str
    judge: str
    runs: int
    share_of_oracle: float
    aurc: float


class LabReports(msgspec.Struct, frozen=True):
    """The comparisons, and one of them."""

    reports: list[str]
    chosen: str
    webs: list[str]
    topics: int
    standings: list[StrategyStanding]  # the best first
    has_curves: bool


def show_lab(library: Library, asked: LabRequest) -> LabReports:
    """The means of a comparison by strategy."""
    found = lab_folders(library)
    if not found:
        return LabReports([], "", [], 0, [], False)
    name = asked.report or next(iter(found))
    if name not in found:
        raise BadInput(f"there is no comparison {name[:80]!r} here")
    runs = runs_in(found[name] / "runs.jsonl")
    by_strategy: dict[tuple[str, str], list[LabRun]] = {}
    for run in runs:
        by_strategy.setdefault((run.strategy, run.judge), []).append(run)
    standings = [
        StrategyStanding(
            strategy,
            judge,
            len(own),
            fmean(run.share_of_oracle or 0.0 for run in own),
            fmean(run.aurc or 0.0 for run in own),
        )
        for (strategy, judge), own in by_strategy.items()
    ]
    standings.sort(key=lambda one: -one.share_of_oracle)
    return LabReports(
        list(found),
        name,
        sorted({run.web for run in runs}),
        len({(run.web, run.topic) for run in runs}),
        standings,
        (found[name] / "recall.svg").is_file(),
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
