"""Computes the points of a report's curves: recall and harvest after x·R requests.

Topics differ in R, the number of their targets, so requests are counted in units of
R: at x = 1 an oracle that never errs has found everything. For a run whose n-th
request found its t(n)-th target, with n = ⌊x·R⌋:

    recall(x)  = t(n) / R
    harvest(x) = t(n) / min(n, requests made)
    lately(x)  = (t(n) - t(n - w)) / w      with w = R/2 requests: a sliding window

A curve is the mean over topics of the mean over a topic's runs; its band is the 95 %
bootstrap interval of that mean (statistics.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from opilio.lab.runs import Run
from opilio.lab.statistics import Numbers, band

FURTHEST = 3.0  # units of R: the requests that AURC covers
STEPS = 60  # of a curve
WINDOW = 0.5  # units of R

Topic = tuple[str, str]  # web and name


class CurveWalk(NamedTuple):
    """What a crawl found, and when: a run's own, or its oracle's."""

    found_at: Sequence[int]
    requests: int
    targets: int  # R
    topic: Topic


class Curve(NamedTuple):
    """A mean over runs at each x, and its 95 % interval."""

    x: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers

    def at(self, x: float) -> tuple[float, float, float]:
        """Mean, low and high at one x of the grid."""
        place = int(np.argmin(np.abs(self.x - x)))
        return float(self.mean[place]), float(self.low[place]), float(self.high[place])


Measure = Callable[[CurveWalk, Numbers], Numbers]


def topic_of(run: Run) -> Topic:
    """The topic of a run."""
    return run.task.web, run.task.topic


def walked(run: Run) -> CurveWalk:
    """A run as its curve needs it."""
    return CurveWalk(run.found_at, run.requests, run.R, topic_of(run))


def walked_by_oracle(run: Run) -> CurveWalk:
    """The oracle's results on the task of this run."""
    harvest = run.oracle.harvest
    # The records have the oracle's harvest, not its number of requests.
    made = round(len(run.oracle_found_at) / harvest) if harvest else run.budget
    return CurveWalk(run.oracle_found_at, made, run.R, topic_of(run))


def grid(runs: Sequence[Run]) -> Numbers:
    """From 0 to 3 R, or to where the first run used up its budget.

    A run that had nothing left to visit would find no more, so its curve continues.
    """
    cut = [run.budget / run.R for run in runs if run.ended == "budget"]
    return np.linspace(0, min([FURTHEST, *cut]), STEPS + 1)


def recall(walk: CurveWalk, x: Numbers) -> Numbers:
    """Targets found after x·R requests / R."""
    found = found_by(walk, requests_at(walk, x))
    return found / walk.targets


def harvest(walk: CurveWalk, x: Numbers) -> Numbers:
    """Targets found after x·R requests / requests; 0 before the first."""
    asked = requests_at(walk, x)
    made: Numbers = np.clip(np.minimum(asked, walk.requests), 1, None)
    return found_by(walk, asked) / made


def lately(walk: CurveWalk, x: Numbers) -> Numbers:
    """Share of targets among the last R/2 requests; fewer at the beginning."""
    asked = requests_at(walk, x)
    width = max(1, round(WINDOW * walk.targets))
    before = np.maximum(asked - width, 0)
    found = found_by(walk, asked) - found_by(walk, before)
    return found / np.clip(asked - before, 1, None)


def requests_at(walk: CurveWalk, x: Numbers) -> Numbers:
    """x·R as a number of requests, with a small tolerance so that 0.7 · 10 is not 6."""
    asked: Numbers = np.floor(x * walk.targets + 1e-6)
    return asked


def found_by(walk: CurveWalk, asked: Numbers) -> Numbers:
    """Targets found by the first n requests."""
    places = np.searchsorted(np.asarray(walk.found_at), asked, side="right")
    return places.astype(np.float64)


def curve(walks: Sequence[CurveWalk], measure: Measure, x: Numbers) -> Curve:
    """The mean of a measure, with its band; that of a single run is the line itself."""
    values = np.array([measure(walk, x) for walk in walks])
    mean, low, high = band(values, groups=tasks_of([walk.topic for walk in walks]))
    alone = ~np.isfinite(low)
    return Curve(x, mean, np.where(alone, mean, low), np.where(alone, mean, high))


def tasks_of(topics: Sequence[Topic]) -> Sequence[Topic] | None:
    """What is resampled for an interval: topics or, if there is only one, its runs."""
    return topics if len(set(topics)) > 1 else None
