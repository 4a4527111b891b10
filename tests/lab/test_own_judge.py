"""A judge of someone else in the lab: from a file, in processes without labels."""

import os
from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.lab.compare import WantedRuns, run_comparison
from opilio.lab.seeds_and_targets import Ground

OWN = """
import os
from pathlib import Path

from opilio import Reads, Verdict

with (Path(__file__).parent / "loaded").open("a") as log:
    log.write(f"{os.getpid()}\\n")


class Own:
    reads = Reads(text=True)

    def __init__(self, subject):
        self.words = set(subject.weights)

    def judge(self, page):
        found = sum(word in page.text.lower() for word in self.words)
        return Verdict(found / len(self.words), found > 1)
"""


def test_a_judge_in_a_file_is_compared_with_ours(ground: Ground, tmp_path: Path):
    own = tmp_path / "own.py"
    own.write_text(OWN)
    judges = ["cosine", f"{own}:Own"]
    wanted = WantedRuns(
        topics=["chess"], strategies=["best-first"], judges=judges, budget="30"
    )
    ours, theirs = run_comparison(ground, wanted, tmp_path / "out")
    assert (ours.run.task.judge, theirs.run.task.judge) == tuple(judges)
    scores = {visit.score for visit in theirs.trace.visits if visit.score}
    assert len(scores) > 1
    assert scores != {visit.score for visit in ours.trace.visits if visit.score}
    pids = {int(line) for line in (tmp_path / "loaded").read_text().split()}
    assert os.getpid() not in pids  # where the labels are


def test_a_changed_judge_is_run_again(ground: Ground, tmp_path: Path):
    own = tmp_path / "own.py"
    wanted = WantedRuns(
        topics=["chess"],
        strategies=["best-first"],
        judges=[f"{own}:Own"],
        budget="10",
    )
    kept = []
    for code in (OWN, OWN, OWN.replace("found > 1", "found > 0")):
        own.write_text(code)
        list(run_comparison(ground, wanted, tmp_path / "out"))
        kept.append(len(list((tmp_path / "out/runs").iterdir())))
    assert kept == [1, 1, 2]


def test_a_judge_that_is_not_there_is_refused(ground: Ground, tmp_path: Path):
    for judge, said in (
        ("cosin", "did you mean 'cosine'"),
        ("cosine,mode=papr", "has no mode 'papr'"),
        (f"{tmp_path}/own.py:Own", "does not exist"),
    ):
        wanted = WantedRuns(topics=["chess"], strategies=["best-first"], judges=[judge])
        with pytest.raises(BadInput, match=said):
            list(run_comparison(ground, wanted, tmp_path / "out"))
