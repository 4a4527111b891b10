"""The lab compares a crawl's estimate of what is left with the labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.test_trial import trial
from opilio.lab.compare import run_of
from opilio.lab.estimates import half_way
from opilio.lab.row_export import row
from opilio.lab.runs import Estimated, LabTask
from opilio.lab.seeds_and_targets import Ground


def estimated(request: int, found: float, left: float) -> Estimated:
    return Estimated(request, found, left, left / 2, 2 * left, left)


def test_the_estimate_nearest_to_half_of_the_targets_counts() -> None:
    log = [estimated(10, 3, 9), estimated(20, 6, 6), estimated(30, 8, 1)]
    half = half_way(log, [2, 5, 9, 14, 17, 29, 33, 40], 10)
    assert half is not None
    assert (half.request, half.truth) == (17, 5)  # the fifth of ten
    assert (half.found, half.left) == (6, 6)
    assert half.error == pytest.approx(0.2)  # 12 instead of 10
    assert half.left_error == pytest.approx(0.2)  # 6 instead of 5


def test_a_crawl_that_never_got_there_has_none() -> None:
    assert half_way([estimated(10, 3, 9)], [2, 5, 9], 10) is None
    assert half_way([], [2, 5, 9, 14, 17], 10) is None


def test_a_trial_notes_estimates_and_its_row_has_the_error(
    ground: Ground, tmp_path: Path
) -> None:
    trace = trial(ground, tmp_path, "opilio", "200", judge="opilio")
    assert [one.request % 10 for one in trace.estimates] == [0] * len(trace.estimates)
    assert len(trace.estimates) > 10
    assert trace.estimates[-1].found >= trace.estimates[0].found > 0
    topic = next(iter(ground.web.topics))
    course = ground.course(topic, budget="200")
    task = LabTask(web="", topic=topic, strategy="opilio", judge="opilio")
    run = run_of(task, course, trace)
    assert run.half_way == half_way(trace.estimates, run.found_at, course.R)
    shown = row(run)["half_way"]
    assert shown["low"] < shown["left"] < shown["high"]
    assert shown["truth"] == course.R // 2


def test_other_strategies_have_no_estimate(ground: Ground, tmp_path: Path) -> None:
    assert trial(ground, tmp_path, "best-first").estimates == ()
