"""Reader processes answer in order, and outlive crashes, hangs and their parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from opilio.read.pool import AHEAD, ReaderPool, start_process
from opilio.records import Reading, Response

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def start_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have readers that need not import anything."""
    monkeypatch.setattr("opilio.read.pool.start_process", start_process)


@pytest.fixture(autouse=True)
def jobs_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))  # of a reader that is a new Python
    monkeypatch.syspath_prepend(HERE)  # of one that is forked


@asynccontextmanager
async def readers(
    count: int = 1,
    job: str = "make_echo",
    deadline: float = 10.0,
    patience: float = 60.0,
) -> AsyncIterator[ReaderPool]:
    pool = ReaderPool(
        count, f"reader_jobs:{job}", b"", deadline=deadline, patience=patience
    )
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


def response(body: str) -> Response:
    return Response("http://a.test/", 200, (), body.encode(), 0.0)


def title(reading: Reading) -> str:
    assert reading.page is not None, reading.reason
    return reading.page.title


async def read_all(pool: ReaderPool, bodies: list[str]) -> list[Reading]:
    return await asyncio.gather(*(pool.read(response(body)) for body in bodies))


async def test_one_reader_answers_in_order() -> None:
    order = []

    async def note(body: str) -> None:
        order.append(title(await pool.read(response(body))))

    async with readers() as pool:
        bodies = [str(n) for n in range(40)]
        await asyncio.gather(*map(note, bodies))
    assert order == bodies


async def test_several_readers_share_the_pages() -> None:
    async with readers(2) as pool:
        readings = await read_all(pool, ["sleep 0.05"] * 8)
    assert len({reading.record for reading in readings}) == 2


async def test_the_setup_reaches_the_job() -> None:
    pool = ReaderPool(1, "reader_jobs:make_echo", b"as told")
    await pool.start()
    try:
        assert (await pool.read(response("x"))).record == b"as told"
    finally:
        await pool.close()


async def test_readings_of_any_size_come_back_whole() -> None:
    sizes = [0, 1, 2**18 - 20, 2**18, 3 * 2**20, 5]
    async with readers(job="make_large") as pool:
        readings = await read_all(pool, [str(size) for size in sizes])
    assert [len(reading.record) for reading in readings] == sizes


async def test_a_page_that_crashes_the_reader_twice_is_given_up() -> None:
    async with readers() as pool:
        poison, *others = await read_all(pool, ["abort", "a", "b", "c", "d", "e"])
    assert (poison.page, poison.reason) == (None, "parse_crashed")
    assert [title(reading) for reading in others] == ["a", "b", "c", "d", "e"]


async def test_a_page_is_tried_again_after_a_crash(tmp_path: Path) -> None:
    async with readers() as pool:
        body = f"abort-once {tmp_path / 'marker'}"
        assert title(await pool.read(response(body))) == body


async def test_a_page_that_sleeps_for_ever_is_given_up() -> None:
    async with readers(deadline=1.0, patience=2.0) as pool:
        hung, *others = await read_all(pool, ["sleep 600", "a", "b"])
    assert (hung.page, hung.reason) == (None, "parse_timeout")
    assert [title(reading) for reading in others] == ["a", "b"]


async def test_a_page_is_not_given_up_because_the_machine_is_busy() -> None:
    async with readers(deadline=0.5) as pool:
        process = pool.readers[0].process
        slow = asyncio.create_task(pool.read(response("sleep 0.2")))
        await asyncio.sleep(0.1)
        os.kill(process.pid, signal.SIGSTOP)  # as if others had the CPU
        await asyncio.sleep(1.5)
        os.kill(process.pid, signal.SIGCONT)
        assert title(await slow) == "sleep 0.2"
        assert pool.readers[0].process is process


async def test_hosts_whose_pages_take_long_are_noted() -> None:
    async with readers(deadline=2.5) as pool:
        await read_all(pool, ["a", "spin 1.2", "b"])
        [(host, seconds)] = pool.heavy.items()
        assert host == "a.test" and 1.1 < seconds < 2.5
        pool.heavy.clear()
        await read_all(pool, ["hang"])
        assert pool.heavy == {"a.test": 5.0}


async def test_a_page_that_hangs_is_given_up_at_the_deadline() -> None:
    async with readers(deadline=0.3) as pool:
        hung, *others = await read_all(pool, ["hang", "a", "b"])
    assert (hung.page, hung.reason) == (None, "parse_timeout")
    assert [title(reading) for reading in others] == ["a", "b"]


@pytest.mark.parametrize("order", ["abort", "hang"])
async def test_pages_beside_one_that_brings_readers_down_are_read(order: str) -> None:
    names = [str(number) for number in range(8)]
    async with readers(deadline=0.3) as pool:
        readings = await read_all(
            pool, [*names[:3], order, *names[3:6], order, *names[6:]]
        )
    assert [reading.page and reading.page.title for reading in readings] == [
        *names[:3], None, *names[3:6], None, *names[6:],
    ]  # fmt: skip


async def test_a_reader_has_no_more_of_large_pages_than_it_must(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("opilio.read.pool.MUCH", 1000)
    async with readers() as pool:
        reading = asyncio.create_task(read_all(pool, ["x" * 600] * 6))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(pool.readers[0].pending) == 2
        assert len(await reading) == 6


async def test_waiting_behind_slow_pages_is_no_reason_to_be_given_up() -> None:
    async with readers(deadline=1.5) as pool:
        readings = await read_all(pool, ["sleep 0.1"] * AHEAD)  # for 1.6 s
    assert [reading.reason for reading in readings] == [""] * AHEAD


async def test_a_page_that_takes_all_memory_is_given_up() -> None:
    async with readers() as pool:
        hoard, after = await read_all(pool, ["hoard", "a"])
    assert (hoard.page, hoard.reason) == (None, "parse_crashed")
    assert title(after) == "a"


async def test_an_error_of_the_job_costs_one_page_and_tells_its_story(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with readers() as pool:
        wrong, before = await read_all(pool, ["raise \u20ac", "x"])
        after = await pool.read(response("y"))
    assert wrong.reason == "parse_crashed"
    assert before.record == after.record, "the reader went on"
    said = capfd.readouterr().err
    assert "ValueError" in said and "\\u20ac" in said and "\x1b" not in said


async def test_readers_ignore_ctrl_c() -> None:
    async with readers() as pool:
        first = await pool.read(response("interrupt"))
        second = await pool.read(response("x"))
    assert first.record == second.record


async def test_a_job_that_cannot_be_made_fails_the_start() -> None:
    pool = ReaderPool(2, "reader_jobs:make_nothing", b"")
    with pytest.raises(RuntimeError, match="make_nothing"):
        await pool.start()


async def test_a_caller_that_gives_up_leaves_the_others_their_answers() -> None:
    async with readers() as pool:
        slow = asyncio.create_task(pool.read(response("sleep 0.2")))
        quick = asyncio.create_task(pool.read(response("a")))
        await asyncio.sleep(0.05)
        slow.cancel()
        assert title(await quick) == "a"


async def test_closing_cancels_who_waits_and_ends_the_processes() -> None:
    async with readers() as pool:
        pid = pool.readers[0].process.pid
        waiting = asyncio.create_task(pool.read(response("sleep 0.2")))
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(RuntimeError, match="closed"):
        await pool.read(response("x"))


def test_readers_work_under_uvloop() -> None:
    async def crash_and_go_on() -> list[str]:
        async with readers() as pool:
            readings = await read_all(pool, ["a", "abort", "b", "c" * 500_000])
            return [reading.reason or title(reading)[:1] for reading in readings]

    assert uvloop.run(crash_and_go_on()) == ["a", "parse_crashed", "b", "c"]


async def test_a_new_setup_reaches_every_reader_and_no_page_is_lost() -> None:
    async with readers(2) as pool:
        pool.renew(b"old")
        before = asyncio.create_task(read_all(pool, ["sleep 0.02"] * 8))
        await pool.read(response("first"))
        pool.renew(b"new")
        later = await read_all(pool, [str(n) for n in range(8)])
        assert len(await before) == 8
    assert {reading.record for reading in later} == {b"new"}


PARENT = """
import asyncio, sys
from opilio.read.pool import ReaderPool
from opilio.records import Response

async def main():
    pool = ReaderPool(2, "reader_jobs:make_echo", b"", deadline=0.5)
    await pool.start()
    print(*(reader.process.pid for reader in pool.readers), flush=True)
    await pool.read(Response("http://a.test/", 200, (), sys.argv[1].encode(), 0.0))

asyncio.run(main())
"""


@pytest.mark.parametrize("body", ["sleep 0.1", "hang"])
def test_readers_leave_when_the_parent_is_killed(body: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, body], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.send_signal(signal.SIGKILL)
    assert len(pids) == 2
    until = time.monotonic() + 60
    while any(map(is_running, pids)):
        assert time.monotonic() < until, "a reader outlived its parent"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # before, or while it is read
        return False


async def test_every_reader_hears_which_links_are_settled_before_its_next_page() -> (
    None
):
    async with readers(2, "make_settled") as pool:
        assert [r.record for r in await read_all(pool, ["a", "b"])] == [b"", b""]
        pool.settle(b"one")
        pool.settle(b"two")
        told = await read_all(pool, ["a", "b"])
        assert [reading.record for reading in told] == [b"onetwo", b"onetwo"]


async def test_a_job_may_do_without_settled_links() -> None:
    async with readers() as pool:
        pool.settle(b"one")
        assert title(await pool.read(response("a"))) == "a"


FORKING = """
import asyncio, os, signal
from pathlib import Path
from opilio.read.pool import ReaderPool
from opilio.records import Response

def response(body):
    return Response("http://a.test/", 200, (), body, 0.0)

def command(reader):
    return Path(f"/proc/{int(reader)}/cmdline").read_bytes()

async def main():
    pool = ReaderPool(2, "reader_jobs:make_echo", b"")
    await pool.start()
    first = (await pool.read(response(b"one"))).record
    print(command(first) == command(os.getpid()), os.getpgid(int(first)) == int(first))
    print(sorted(os.listdir(f"/proc/{int(first)}/fd")))
    killed = next(r for r in pool.readers if r.process.pid == int(first))
    os.kill(int(first), signal.SIGKILL)
    while killed in pool.readers or len(pool.readers) < 2:
        await asyncio.sleep(0.01)
    again = await asyncio.gather(*(pool.read(response(b"two")) for _ in range(9)))
    print({reading.page.title for reading in again})
    # By now there are threads, so the one that replaces it is a new Python.
    own = command(os.getpid())
    print(sum(command(reader.process.pid) != own for reader in pool.readers))
    await pool.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="readers are forked on Linux only")
def test_a_process_with_one_thread_forks_its_readers() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORKING],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "True True",
        "['0', '1', '2', '3']",  # the last is the socket, which is also on stdin
        "{'two'}",
        "1",
    ], ran.stderr


async def test_a_text_that_takes_too_long_is_given_up_at_once(
    tmp_path: Path,
) -> None:
    """It is not worth a second try, which other pages would wait for."""
    async with readers(job="make_extractor", deadline=0.5) as pool:
        text, *pages = await asyncio.gather(
            pool.extract(response("hang")), *(pool.read(response("a")) for _ in "abc")
        )
        assert not text
        assert [title(page) for page in pages] == ["a"] * 3
        assert await pool.extract(response("fine"))
        body = f"abort-once {tmp_path / 'marker'}"
        assert not await pool.extract(response(body))
