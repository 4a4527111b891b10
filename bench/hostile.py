"""Peak memory and CPU of a crawl that meets one hostile case, for each of them.

    python -m bench.hostile [NAME …]

Memory is that of the crawl and its reader processes, shared pages counted once, sampled
twenty times a second. The first row is a crawl of one ordinary page.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from opilio.lab.hostile.cases import CASES
from opilio.lab.hostile.server import HostileCase, HostileVisit, serve_cases

OPILIO = Path(sys.executable).with_name("opilio")
SETTINGS = """
[crawl]
max_pages = 40
max_idle = 5.0
[politeness]
delay = 0.0
ip_delay = 0.0
attempts = 1
retry_for = 0.0
[store]
min_free = 0
"""


async def ordinary(visit: HostileVisit) -> None:
    """An ordinary page."""
    await visit.answer(visit.page("Bees make honey in a hive."))


def memory_of(pid: int) -> int:
    """MB of a process and its children, shared pages counted once."""
    total = 0
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for each in (pid, *map(int, children)):
        try:
            total += int(
                Path(f"/proc/{each}/smaps_rollup")
                .read_text()
                .split("Pss:")[1]
                .split()[0]
            )
        except (OSError, IndexError):
            continue
    return total // 1024


async def measure(name: str, cases: dict[str, HostileCase], home: Path) -> str:
    """A row of the table."""
    topic, settings, folder = home / "t.toml", home / "s.toml", home / name
    words = ["bee", "honey", "hive"]
    seeds = [f"http://{name}.test/"]
    topic.write_text(f'name = "bees"\nkeywords = {words}\nseeds = {seeds}\n')
    settings.write_text(SETTINGS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    async with serve_cases(cases) as server:
        process = await asyncio.create_subprocess_exec(
            *(str(OPILIO), "crawl", str(topic), "-o", str(folder), "-q"),
            *("--settings", str(settings), "--max-time", "90"),
            *("--proxy", f"http://127.0.0.1:{server.port}"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        peak = 0
        ending = asyncio.create_task(process.communicate())
        while not ending.done():
            try:
                peak = max(peak, memory_of(process.pid))
            except OSError:
                break
            await asyncio.wait((ending,), timeout=0.05)
        _, said = await ending
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        state, reason = db.execute("SELECT state, reason FROM link").fetchone()
        [pages] = db.execute("SELECT count(*) FROM page").fetchone()
        degraded = db.execute("SELECT degraded FROM page WHERE degraded").fetchone()
    end = reason or (f"{state}, by patterns" if degraded else state)
    odd = "  TRACEBACK" if b"Traceback" in said else ""
    sends = cases[name].sends
    seconds = time.monotonic() - began
    return (
        f"| `{name}` | {sends} | {end}, {pages} pages | {peak} | {cpu:.1f} | "
        f"{seconds:.0f} |{odd}"
    )


async def main() -> None:
    """Measure the cases that are named, or all."""
    cases = {"ordinary": HostileCase("ordinary", "an ordinary page", ordinary), **CASES}
    print("| case | what is sent | ends as | peak MB | CPU s | s |")
    print("|---|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as home:
        for name in sys.argv[1:] or cases:
            print(await measure(name, cases, Path(home)), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    asyncio.run(main())
