"""The lab cannot cheat: no crawl sees a label, and no figure depends on more than it
says."""

from __future__ import annotations

import random
import shutil
import statistics
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec
import pytest

from lab.lab_grounds import ground_of
from opilio.lab import label_guard
from opilio.lab.compare import WantedRuns, run_comparison, trial_of
from opilio.lab.measures import measure
from opilio.lab.runs import LabTask
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.trial import conduct
from opilio.strategies import OURS

pytestmark = pytest.mark.timeout(300)  # they are long where others work as well


def task(topic: str, strategy: str = "blocks", judge: str = "cosine") -> LabTask:
    return LabTask(web="synthetic", topic=topic, strategy=strategy, judge=judge)


def order(ground: Ground, folder: Path, strategy: str, budget: str) -> list[str]:
    """The URLs that a strategy asks for, in order."""
    topic = next(iter(ground.web.topics))
    course = ground.course(topic, budget=budget)
    trace = conduct(trial_of(ground, course, task(topic, strategy), folder))
    return [visit.url for visit in trace.visits]


def test_shuffled_labels_leave_the_order_of_a_crawl_as_it_was(
    lab_web: Path, tmp_path: Path
) -> None:
    other = tmp_path / "web"
    shutil.copytree(lab_web, other)
    rows = [line.split("\t") for line in (other / "labels.tsv").read_text().split("\n")]
    rows = [row for row in rows if len(row) == 2]
    labels = [label for _, label in rows]
    random.Random(5).shuffle(labels)
    shuffled = [
        f"{url}\t{label}\n" for (url, _), label in zip(rows, labels, strict=True)
    ]
    (other / "labels.tsv").write_text("".join(shuffled))
    orders = []
    for folder in (lab_web, other):
        ground = ground_of(folder)
        topic = next(iter(ground.web.topics))
        wanted = WantedRuns(topics=[topic], strategies=["blocks"], budget="60")
        [done] = run_comparison(ground, wanted, tmp_path / folder.name)
        orders.append([visit.url for visit in done.trace.visits])
    assert orders[0] == orders[1]
    assert len(orders[0]) == 60


@pytest.mark.parametrize("strategy", sorted(OURS))
def test_a_short_crawl_is_the_beginning_of_a_longer_one(
    ground: Ground, tmp_path: Path, strategy: str
) -> None:
    short = order(ground, tmp_path, strategy, "25")
    long = order(ground, tmp_path, strategy, "60")
    assert len(short) == 25
    assert len(long) == 60
    assert long[:25] == short


def test_what_is_relevant_by_lot_is_found_as_by_chance(
    ground: Ground, tmp_path: Path
) -> None:
    # With targets drawn by lot among the pages, recall after n of N pages is n/N.
    topic = next(iter(ground.web.topics))
    course = ground.course(topic, budget="200")
    trace = conduct(trial_of(ground, course, task(topic), tmp_path))
    pages = [
        seen for seen, page in zip(ground.atlas.seen, ground.atlas.is_page, strict=True)
        if page
    ]  # fmt: skip
    recalls = []
    for seed in range(200):
        drawn = random.Random(seed).sample(pages, 100)
        targets = {seen.url: seen.content for seen in drawn}
        measures, _ = measure(trace.visits, targets, len(set(targets.values())))
        recalls.append(measures.recall)
    seen = {visit.url for visit in trace.visits if visit.state != "unusable"}
    contents = {each.content for each in pages if each.url in seen}
    expected = len(contents) / len({each.content for each in pages})
    spread = statistics.stdev(recalls) / len(recalls) ** 0.5
    assert abs(statistics.mean(recalls) - expected) < 4 * spread


def opens(path: str) -> str:
    """Try to open a file, in a process of the lab."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except label_guard.Forbidden as error:
        return str(error)


def test_a_process_that_crawls_cannot_open_the_labels(
    lab_web: Path, tmp_path: Path
) -> None:
    labels = lab_web / "labels.tsv"
    link, twin = tmp_path / "link.tsv", tmp_path / "twin.tsv"
    link.symlink_to(labels)
    twin.hardlink_to(labels)
    with ProcessPoolExecutor(
        1, get_context("spawn"), initializer=label_guard.forbid, initargs=([labels],)
    ) as processes:
        for path in (labels, link, twin):
            told = processes.submit(opens, str(path)).result()
            assert told.startswith("the lab lets no crawl see")
        free = processes.submit(opens, str(lab_web / "web.toml")).result()
    assert free.startswith("name")
    assert opens(str(labels)).startswith("http")


def test_a_strategy_that_wants_to_read_the_labels_fails(
    lab_web: Path, tmp_path: Path
) -> None:
    # A package of someone else's, whose strategy opens the labels while it ranks.
    package = tmp_path / "site"
    (package / "cheat-1.dist-info").mkdir(parents=True)
    (package / "cheat-1.dist-info" / "METADATA").write_text("Name: cheat\nVersion: 1\n")
    (package / "cheat-1.dist-info" / "entry_points.txt").write_text(
        "[opilio.strategies]\ncheat = cheat:Cheat\n"
    )
    (package / "cheat.py").write_text(
        textwrap.dedent(f"""
        from opilio.strategies.best_first import BestFirst

        class Cheat(BestFirst):
            def rank(self, page, verdict, lease):
                open({str(lab_web / "labels.tsv")!r}).read()
                return super().rank(page, verdict, lease)
        """)
    )
    command = "lab run --topic chess --strategy cheat --strategy best-first --budget 20"
    files = ["--web", str(lab_web), "--json", str(tmp_path / "out.json")]
    opilio = [sys.executable, "-c", "from opilio.cli import main; main()"]
    told = subprocess.run(
        [*opilio, *command.split(), *files],
        env={"PYTHONPATH": str(package), "XDG_CACHE_HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert "the lab lets no crawl see" in told.stderr
    runs = (tmp_path / "out.json").read_text().splitlines()
    assert [msgspec.json.decode(run)["strategy"] for run in runs] == ["best-first"]


def test_the_labels_of_another_web_in_the_comparison_are_closed_too(
    ground: Ground, tmp_path: Path
) -> None:
    other = tmp_path / "labels-of-another-web.tsv"
    other.write_text("http://a.test/\tchess\n")
    own = tmp_path / "own.py"
    own.write_text(
        textwrap.dedent(f"""
        from opilio.strategies.best_first import BestFirst

        class Curious(BestFirst):
            def rank(self, page, verdict, lease):
                open({str(other)!r}).read()
                return super().rank(page, verdict, lease)
        """)
    )
    wanted = WantedRuns(topics=["chess"], strategies=[f"{own}:Curious"], budget="5")
    [done] = run_comparison(ground, wanted, tmp_path / "open")
    assert done.run.requests == 5
    closed = run_comparison(ground, wanted, tmp_path / "closed", other_secrets=[other])
    with pytest.raises(label_guard.Forbidden, match="lets no crawl see"):
        list(closed)
