"""Workers on a Ray cluster of two nodes, one of which is killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed (extra `ray`, 70 MB)")


@pytest.mark.timeout(600)
def test_a_crawl_survives_the_death_of_a_node():
    command = [sys.executable, "-m", "bench.ray_nodes", "--pages", "120"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["workers_that_died"] >= 1
    assert outcome["recorded_when_killed"] < outcome["expected"]
    assert outcome["recorded"] == outcome["expected"]
    assert outcome["missing"] == outcome["extra"] == 0
    assert (outcome["ended"], outcome["code"]) == ("exhausted", 0)
