"""Runs tests in forks of a process that has imported libraries, for `bench.mutants`.

A fork imports Opilio from a copy of its source, and stops at the first test that fails.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import coverage
import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 300.0  # seconds until a fork is ended that waits for something
MOST_BYTES = 6 * 2**30  # of memory
PHASES = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # no shrinking


class Tried(NamedTuple):
    """A test without an error: its seconds, and the lines that it reaches."""

    seconds: float
    lines: frozenset[int]


class Fork:
    """Tests that run in a process of their own."""

    def __init__(self, place: Path, tests: Sequence[str], plugin: Any) -> None:
        self.started = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            run(place, tests, plugin)

    def kill(self) -> None:
        """End it and what it started."""
        os.killpg(self.pid, signal.SIGKILL)


def run(place: Path, tests: Sequence[str], plugin: Any) -> NoReturn:
    """Be the fork: import Opilio from `place` and run the tests."""
    code = 1
    try:
        os.setpgid(0, 0)
        os.chdir(ROOT)
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in range(3):
            os.dup2(nothing, file)
        sys.path.insert(0, str(place))
        os.environ["PYTHONPATH"] = str(place)
        hypothesis.settings.register_profile(
            "forked",
            phases=PHASES,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=[hypothesis.HealthCheck.too_slow],
        )
        options = ["-q", "-x", "--assert=plain", "-p", "no:cacheprovider"]
        options += ["--hypothesis-profile", "forked", "--basetemp", str(place / "tmp")]
        code = int(pytest.main([*options, *tests], plugins=[plugin]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)


class Recorder:
    """A plugin that records which lines of a file each test reaches, and how long the
    tests take."""

    def __init__(self, file: Path, report: Path) -> None:
        self.report = report
        self.seconds: dict[str, float] = {}
        self.seen = coverage.Coverage(
            data_file=None, config_file=False, include=[str(file)]
        )
        self.file = str(file)

    def pytest_sessionstart(self) -> None:
        self.seen.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.seen.switch_context(item.nodeid)
        started = time.monotonic()
        result = yield
        self.seconds[item.nodeid] = time.monotonic() - started
        return result

    def pytest_sessionfinish(self) -> None:
        self.seen.stop()
        reached: dict[str, list[int]] = {name: [] for name in self.seconds}
        found = self.seen.get_data().contexts_by_lineno(self.file)
        for line, names in found.items():
            for name in names:
                if name in reached:
                    reached[name].append(line)
        outside = [name for name in sys.modules if not name.startswith("opilio")]
        told = {"seconds": self.seconds, "reached": reached, "modules": outside}
        told["cpu"] = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        self.report.write_text(json.dumps(told), encoding="utf-8")


class Ordered:
    """A plugin that runs tests in an order, and notes the first that fails."""

    def __init__(self, order: Callable[[str], Any], report: Path, cpu: float) -> None:
        self.order = order
        self.report = report
        self.cpu = int(cpu)

    def pytest_sessionstart(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu, self.cpu))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.order(item.nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.report.write_text(report.nodeid, encoding="utf-8")


def record(
    place: Path, file: str, tests: Sequence[str]
) -> tuple[dict[str, Tried], float]:
    """Run the tests of a file without an error: each test, and seconds of CPU of all.

    Imports the libraries that they imported, so that forks need not do it.
    """
    report = place / "report"
    fork = Fork(place, tests, Recorder(place / "opilio" / file, report))
    if os.waitstatus_to_exitcode(os.waitpid(fork.pid, 0)[1]):
        raise SystemExit(f"The tests of {file} fail without an error: {tests}")
    told = json.loads(report.read_text(encoding="utf-8"))
    import_libraries(told["modules"])
    tried = {
        name: Tried(seconds, frozenset(told["reached"][name]))
        for name, seconds in told["seconds"].items()
    }
    return tried, told["cpu"]


def import_libraries(names: Collection[str]) -> None:
    """Import what is installed beside Opilio."""
    ours = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {"tests"}
    for name in names:
        if name.partition(".")[0] in ours or name in sys.modules:
            continue
        try:
            import_module(name)
        except Exception:  # not a module of its own, or of tests
            continue
