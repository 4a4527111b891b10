"""Checks the claims of a paper by the figures of crawls.

An experiment compares arms, ways to crawl that differ in one thing, over the same
groups: topics of webs. A claim says that one arm beats another. By the 95 % interval of
the mean difference over the groups (opilio/lab/statistics.py) it is

    shown          if all of the interval is above 0
    contradicted   if all of it is below
    not shown      if 0 is in it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from opilio.lab.seeds_and_targets import Ground
from opilio.lab.statistics import Paired, band, compare
from opilio.lab.synthetic.dials import Dials

SEED = 0  # of the bootstrap


class ClaimVerdict(StrEnum):
    """The verdict of the figures on a claim."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    CONTRADICTED = "contradicted"


class Figures(msgspec.Struct, frozen=True):
    """What one arm reached in one group."""

    arm: str
    group: str
    values: Mapping[str, float]  # measure -> figure; one that is undefined is absent


class Claim(msgspec.Struct, frozen=True):
    """A sentence of a paper, as a comparison of two arms."""

    text: str
    better: str
    worse: str
    measure: str
    main: bool = True  # False: reported, but not claimed by the paper


class Finding(msgspec.Struct, frozen=True):
    """A claim and its verdict."""

    claim: Claim
    paired: Paired
    verdict: ClaimVerdict


class Mean(msgspec.Struct, frozen=True):
    """A mean over groups with its 95 % interval."""

    value: float
    low: float
    high: float
    groups: int


class ClaimOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment on one kind of web: its table and its findings."""

    letter: str
    paper: str
    kind: str  # of webs
    webs: Sequence[str]  # titles
    measures: Sequence[str]
    table: Mapping[str, Mapping[str, Mean]]  # arm -> measure -> mean
    findings: Sequence[Finding]

    @property
    def verdict(self) -> ClaimVerdict:
        """Shown if all that the paper claims is; contradicted if any of it is."""
        told = {each.verdict for each in self.findings if each.claim.main}
        for verdict in (ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_SHOWN):
            if verdict in told:
                return verdict
        return ClaimVerdict.SHOWN


@dataclass(frozen=True)
class Setting:
    """Where and how long an experiment crawls."""

    ground: Ground
    folder: Path  # for topic files and runs
    jobs: int
    budget: str  # of a crawl: 1000, 3R or 25%
    topics: Sequence[str]
    synthetic: bool = True  # so its words are those of the lexicon
    dictionary: Path | None = None  # Hindi, for the words of another web


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A paper's experiment, as the lab repeats it."""

    letter: str
    paper: str
    webs: Mapping[str, Dials]  # kinds of synthetic webs; each seed makes one
    topics: int  # of each that are crawled for, the first ones
    budget: str
    real_budget: str  # on a web that is not synthetic
    measures: Sequence[str]
    claims: Sequence[Claim]
    crawl: Callable[[Setting], list[Figures]]


def judged(
    experiment: Experiment, figures: Sequence[Figures], kind: str, webs: Sequence[str]
) -> ClaimOutcome:
    """The table of all arms and the verdict on every claim."""
    arms = list(dict.fromkeys(each.arm for each in figures))
    return ClaimOutcome(
        letter=experiment.letter,
        paper=experiment.paper,
        kind=kind,
        webs=webs,
        measures=experiment.measures,
        table={
            arm: {
                measure: mean
                for measure in experiment.measures
                if (mean := mean_of(figures, arm, measure))
            }
            for arm in arms
        },
        findings=[finding(claim, figures) for claim in experiment.claims],
    )


def by_group(figures: Sequence[Figures], arm: str, measure: str) -> dict[str, float]:
    """A measure of an arm in each group that has it."""
    return {
        each.group: each.values[measure]
        for each in figures
        if each.arm == arm and measure in each.values
    }


def mean_of(figures: Sequence[Figures], arm: str, measure: str) -> Mean | None:
    """Mean and interval of a measure of an arm, if any group has it."""
    values = list(by_group(figures, arm, measure).values())
    if not values:
        return None
    mean, low, high = band([[value] for value in values], SEED)
    return Mean(float(mean[0]), float(low[0]), float(high[0]), len(values))


def finding(claim: Claim, figures: Sequence[Figures]) -> Finding:
    """What the figures say about a claim, over the groups that have both arms."""
    better = by_group(figures, claim.better, claim.measure)
    worse = by_group(figures, claim.worse, claim.measure)
    groups = [group for group in better if group in worse]
    paired = compare([better[g] for g in groups], [worse[g] for g in groups], SEED)
    verdict = ClaimVerdict.NOT_SHOWN
    if paired.low > 0:
        verdict = ClaimVerdict.SHOWN
    elif paired.high < 0:
        verdict = ClaimVerdict.CONTRADICTED
    return Finding(claim, paired, verdict)
