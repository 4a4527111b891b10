"""Crawls under simulated conditions: many in flight, delays and latency."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median

import msgspec
import pytest

from opilio.lab.compare import WantedRuns, run_comparison, trial_of
from opilio.lab.conditions import REAL, Conditions, latency_of
from opilio.lab.runs import LabTask, Trace
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.trial import conduct
from opilio.lab.virtual_time import run_virtual
from opilio.text.urls import fingerprint


def trial(
    ground: Ground, folder: Path, conditions: Conditions, budget: str = "80"
) -> Trace:
    topic = next(iter(ground.web.topics))
    task = LabTask(
        web="",
        topic=topic,
        strategy="best-first",
        judge="cosine",
        conditions=conditions,
    )
    return conduct(trial_of(ground, ground.course(topic, budget=budget), task, folder))


def urls(trace: Trace) -> list[str]:
    return [visit.url for visit in trace.visits]


def test_simulated_time_passes_without_waiting() -> None:
    async def sleep() -> tuple[float, list[str]]:
        woken: list[str] = []

        async def rest(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            woken.append(name)

        await asyncio.gather(rest("b", 5000), rest("a", 4000), rest("c", 200_000))
        return asyncio.get_running_loop().time(), woken

    before = time.monotonic()
    passed, woken = run_virtual(sleep())
    assert time.monotonic() - before < 5
    assert passed == pytest.approx(200_000)
    assert woken == ["a", "b", "c"]


def test_work_for_threads_takes_no_simulated_time() -> None:
    async def work() -> tuple[int, float]:
        found = await asyncio.to_thread(lambda: (time.sleep(0.01), 7)[1])
        return found, asyncio.get_running_loop().time()

    assert run_virtual(work()) == (7, 0.0)


def test_an_error_in_a_thread_is_raised() -> None:
    with pytest.raises(ValueError, match="no"):
        run_virtual(asyncio.to_thread(int, "no"))


def test_latencies_are_spread_round_their_median() -> None:
    drawn = [latency_of(fingerprint(f"http://a.test/{n}"), 0.3) for n in range(2000)]
    assert median(drawn) == pytest.approx(0.3, rel=0.1)
    assert min(drawn) < 0.15 and 0.9 < max(drawn) <= 1.5
    again = latency_of(fingerprint("http://a.test/0"), 0.3)
    assert again == drawn[0]


def test_a_crawl_under_real_conditions_is_repeatable(
    ground: Ground, tmp_path: Path
) -> None:
    first, second = (trial(ground, tmp_path, REAL) for _ in range(2))
    assert first.visits == second.visits
    assert first.seconds == second.seconds > 0


def test_the_budget_is_kept_with_many_in_flight(ground: Ground, tmp_path: Path) -> None:
    hasty = msgspec.structs.replace(REAL, haste=1.0, delay=0.0)
    trace = trial(ground, tmp_path, hasty, "60")
    assert len(trace.visits) == 60 == len(set(urls(trace)))
    assert trace.ended == "budget"


def test_one_at_a_time_takes_the_sum_of_all_latencies(
    ground: Ground, tmp_path: Path
) -> None:
    slow = trial(ground, tmp_path, Conditions(latency=2.0))
    assert urls(slow) == urls(trial(ground, tmp_path, Conditions()))
    waited = sum(latency_of(fingerprint(url), 2.0) for url in urls(slow))
    assert slow.seconds == pytest.approx(waited, abs=0.01)


def test_delays_are_kept_in_simulated_time(ground: Ground, tmp_path: Path) -> None:
    trace = trial(ground, tmp_path, Conditions(in_flight=8, delay=10.0, haste=1.0))
    hosts = [url.split("/")[2] for url in urls(trace)]
    most = max(hosts.count(host) for host in hosts)
    assert trace.seconds >= 10.0 * (most - 1)


def test_patience_keeps_the_order_of_promises(ground: Ground, tmp_path: Path) -> None:
    alone = urls(trial(ground, tmp_path, Conditions()))
    shared = {}
    for haste in (0.0, 1.0):
        busy = msgspec.structs.replace(REAL, haste=haste)
        found = trial(ground, tmp_path, busy)
        shared[haste] = len({*urls(found)} & {*alone}), found.seconds
    assert shared[0.0][0] > shared[1.0][0]
    assert shared[0.0][1] > shared[1.0][1]


def test_runs_under_other_conditions_are_not_mixed(
    ground: Ground, tmp_path: Path
) -> None:
    topic = next(iter(ground.web.topics))
    wanted = WantedRuns(topics=[topic], strategies=["best-first"], budget="20")
    [alone] = run_comparison(ground, wanted, tmp_path)
    busy = msgspec.structs.replace(wanted, conditions=REAL)
    [together] = run_comparison(ground, busy, tmp_path)
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert alone.run.hours == 0 < together.run.hours
    [recalled] = run_comparison(ground, busy, tmp_path)
    assert recalled.run.cpu_ms == together.run.cpu_ms  # not done again
