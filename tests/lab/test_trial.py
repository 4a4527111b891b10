"""Crawls of the lab: the same as any other crawl, but for where pages come from."""

from __future__ import annotations

import faulthandler
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from opilio.cli import app
from opilio.errors import OpilioError
from opilio.lab.compare import trial_of
from opilio.lab.runs import LabTask, Trace
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.trial import conduct
from opilio.records import ReaderSetup
from opilio.strategies import OURS


def trial(
    ground: Ground, folder: Path, strategy: str, budget: str = "50", **changes: object
) -> Trace:
    topic = next(iter(ground.web.topics))
    task = LabTask(web="", topic=topic, strategy=strategy, judge="cosine")
    made = trial_of(ground, ground.course(topic, budget=budget), task, folder)
    return conduct(msgspec.structs.replace(made, **changes))


def urls(trace: Trace) -> list[str]:
    return [visit.url for visit in trace.visits]


@pytest.mark.parametrize("strategy", sorted(OURS))
def test_what_readers_share_does_not_change_a_crawl(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    shared = trial(ground, tmp_path, strategy)

    def nothing_more(setup: ReaderSetup) -> ReaderSetup:
        return setup

    monkeypatch.setattr("opilio.lab.shared_readings.everything", nothing_more)
    alone = trial(ground, tmp_path, strategy, readings="")
    assert [(v.url, v.state) for v in shared.visits] == [
        (v.url, v.state) for v in alone.visits
    ]
    # Sums are taken in another order, so the last digit may differ.
    for one, other in zip(shared.visits, alone.visits, strict=True):
        assert (one.score or 0) == pytest.approx(other.score or 0, rel=1e-12)


def test_a_trial_visits_in_the_order_of_opilio_crawl(
    ground: Ground, tmp_path: Path
) -> None:
    topic = next(iter(ground.web.topics.values()))
    warc = ground.web.warcs[0]
    arguments = ["crawl", str(topic), "--replay", str(warc), "--strategy", "blocks"]
    folder = tmp_path / "crawl"
    told = CliRunner().invoke(
        app, [*arguments, "--max-pages", "60", "-o", str(folder), "-q"]
    )
    assert told.exit_code == 0, told.output
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        rows = db.execute("SELECT url FROM page JOIN link USING (id) ORDER BY number")
        crawled = [url for (url,) in rows]
    db.close()
    trace = trial(ground, tmp_path, "blocks", "120")
    answered = [visit.url for visit in trace.visits if visit.state != "unusable"]
    assert len(crawled) >= 60
    assert answered[: len(crawled)] == crawled


def test_dead_links_and_redirects_count_as_requests(
    ground: Ground, tmp_path: Path
) -> None:
    trace = trial(ground, tmp_path, "breadth-first", "150")
    reasons = {visit.reason for visit in trace.visits}
    assert len(trace.visits) == 150
    assert "redirect" in reasons
    assert "http_404" in reasons
    assert trace.ended == "budget"


THEIRS = """
import time
from opilio.strategies.best_first import BestFirst

class Theirs(BestFirst):
    def rank(self, page, verdict, lease):
        {line}
        return super().rank(page, verdict, lease)
"""


@pytest.mark.parametrize(
    "line",
    [
        "while True: pass",
        "time.sleep(50)",
        "\n        while True:\n            try: time.sleep(9)\n"
        "            except Exception: pass",
    ],
    ids=["busy", "asleep", "deaf"],
)
def test_a_strategy_that_hangs_is_ended_and_named(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    last_resort = faulthandler.dump_traceback_later

    def later(seconds: float, **options: bool) -> None:
        """Else it ends this process when the machine stands still for 2 s."""
        last_resort(max(seconds, 60.0), **options)

    monkeypatch.setattr(faulthandler, "dump_traceback_later", later)
    own = tmp_path / "theirs.py"
    own.write_text(THEIRS.replace("{line}", line))
    with pytest.raises(OpilioError, match=r"Theirs did not end within 2 s"):
        trial(ground, tmp_path, f"{own}:Theirs", time_limit=2.0)
