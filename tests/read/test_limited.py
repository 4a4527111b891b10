"""The reader process of commands and programs: threads, forks and crashes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opilio.read.limited import LimitedReader
from opilio.records import Page, Response

JOB = "reader_jobs:make_echo"
HERE = Path(__file__).parent


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[LimitedReader]:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.syspath_prepend(str(HERE))
    made = LimitedReader(JOB)
    yield made
    made.close()


def response(number: int) -> Response:
    return Response(f"http://a.test/{number}", 200, [], b"x" * number, time.time())


def read(reader: LimitedReader, number: int) -> str:
    page: Page | None = reader.read(response(number)).page
    return page.url if page else ""


def test_threads_get_the_readings_of_their_own_pages(reader: LimitedReader) -> None:
    numbers = range(200)
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(lambda number: read(reader, number), numbers))
    assert told == [f"http://a.test/{number}" for number in numbers]


def in_a_fork(reader: LimitedReader, number: int) -> int:
    """Read in a fork; returns its exit code."""
    child = os.fork()
    if not child:
        good = not number or read(reader, number) == f"http://a.test/{number}"
        reader.close()
        os._exit(0 if good else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_has_a_process_of_its_own(reader: LimitedReader) -> None:
    assert read(reader, 1)
    process = reader.process
    assert in_a_fork(reader, 2) == 0
    assert in_a_fork(reader, 0) == 0  # it never reads, and ends nobody's process
    assert read(reader, 3) == "http://a.test/3"
    assert reader.process is process
    assert process and process.returncode is None
