"""One crawl meets every hostile case at once: it lives, and good pages are fetched."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crawling import end_of, opilio, start_opilio
from opilio.lab.hostile.cases import CASES
from opilio.lab.hostile.content_cases import CONTENT_CASES
from opilio.lab.hostile.server import HostileCase, HostileVisit, serve_cases
from opilio.lab.hostile.wire_cases import WIRE_CASES

GOOD = 4
MOST_MEMORY = 900  # MB, of the crawl and its reader
SETTINGS = """
[crawl]
max_idle = 5.0
[politeness]
delay = 0.0
ip_delay = 0.0
attempts = 1
retry_for = 0.0
[fetch]
timeout = 5.0
connect_timeout = 3.0
[bounds]
per_domain = 4
[store]
min_free = 0
commit_every = 0.1
"""
# How the first URL of a case may end; otherwise as a page, or with any reason.
ENDS = {
    "zstd-bomb": "bad_encoding",
    "stacked-encodings": "bad_encoding",
    "silent": "timeout",
    "slow-headers": "timeout",
    "header-bomb": "too_many_headers",
    "header-lines": "too_many_headers",
    "empty-head": "bad_http",
    "two-lengths": "bad_http",
    "redirect-file": "bad_redirect",
    "zip-as-html": "not_html",
    "long-rest": "http_429",
    "robots-failing": None,  # it waits
    "hints-flood": "too_many_headers",
}


async def good(visit: HostileVisit) -> None:
    number = int(visit.path[1:] or 0)
    links = [f"{visit.root}{number + 1}"] if number + 1 < GOOD else []
    text = f"The bees of hive {number} make honey. " * (3 + number)
    await visit.answer(visit.page(text, *links, title=f"Honey {number}"))


def memory_of(pid: int) -> int:
    """MB of a process and its children, shared pages counted once."""
    total = 0
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for each in (pid, *map(int, children)):
        try:
            told = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(told.split("Pss:")[1].split()[0])
    return total // 1024


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", [WIRE_CASES, CONTENT_CASES], ids=["wire", "content"])
async def test_all_cases_at_once(tmp_path: Path, kind: list[HostileCase]) -> None:
    names = [*(case.name for case in kind), "good"]
    cases = CASES | {"good": HostileCase("good", "ordinary pages", good)}
    topic, settings = tmp_path / "bees.toml", tmp_path / "settings.toml"
    seeds = [f"http://{name}.test/" for name in names]
    words = ["bee", "honey", "hive"]
    topic.write_text(f'name = "bees"\nkeywords = {words}\nseeds = {seeds}\n')
    settings.write_text(SETTINGS)
    folder = tmp_path / "crawl"
    async with serve_cases(cases) as server:
        proxy = f"http://127.0.0.1:{server.port}"
        process = await start_opilio(
            *("crawl", topic, "-o", folder, "-q", "--settings", settings),
            *("--proxy", proxy, "--max-time", 180),
        )
        peak = 0

        async def watch() -> None:
            nonlocal peak
            while process.returncode is None:
                try:
                    peak = max(peak, memory_of(process.pid))
                except OSError:
                    return
                await asyncio.sleep(0.1)

        watching = asyncio.create_task(watch())
        ended = await end_of(process, 280)
        await watching
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in ended.err)
    assert peak < MOST_MEMORY, f"{peak} MB"
    states = states_of(folder)
    for name in names:
        state, reason = states[f"http://{name}.test/"]
        if name in ENDS:
            assert reason == ENDS[name], (name, state, reason)
        assert state == "waiting" or state == "kept" or reason or state == "irrelevant"
    out = tmp_path / "pages.csv"
    assert (await opilio("export", folder, "-o", out)).code == 0
    table = out.read_text()
    fetched = [line for line in table.splitlines() if line.startswith("http://good")]
    assert len(fetched) == GOOD, fetched
    assert '"=' not in table and "\n=" not in table and "\x1b" not in table
    assert server.requests["169.254.169.254"] == 0


def states_of(folder: Path) -> dict[str, tuple[str, str]]:
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        rows = db.execute("SELECT url, state, reason FROM link WHERE depth = 0")
        return {url: (state, reason) for url, state, reason in rows}


def test_the_cases_can_be_listed_and_served_by_hand() -> None:
    command = [sys.executable, "-m", "opilio.lab.hostile"]
    told = subprocess.run([*command, "--list"], capture_output=True, text=True)
    assert [line.split()[0] for line in told.stdout.splitlines()] == list(CASES)
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            assert "cases at http://127.0.0.1:" in server.stdout.readline()
        finally:
            server.kill()
