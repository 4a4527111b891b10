"""Crawls a large synthetic web and shows whether memory and open files grow.

A web of many hosts, with all its faults, is served by another process; Opilio crawls it
without delays and with everything on. Pages, CPU, memory and open files are recorded
every ten seconds; a dozen rows are shown, with the CPU that a page took since the row
before, of the loop and of the readers. Run it with `python -m bench.soak [PAGES
[STRATEGY]]`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.crawl import WITHOUT_DELAYS
from bench.table import show
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb

PAGES = 100_000
ROWS = 12
SETTINGS = f"""{WITHOUT_DELAYS}per_host = 4
max_delay = 0.0
max_rest = 5.0
"""


class Sample(NamedTuple):
    """The state of a crawl at one time."""

    seconds: float
    pages: int
    links: int  # that wait
    loop_mb: float
    readers_mb: float
    files: int  # open in the loop's process
    loop_cpu: float  # seconds so far
    readers_cpu: float


@contextmanager
def served(dials: Dials) -> Iterator[str]:
    """Serve a web in a process of its own; returns the proxy to use."""
    command = [sys.executable, "-m", "opilio.lab.synthetic.server"]
    for name in ("pages", "hosts"):
        command += [f"--{name}", str(getattr(dials, name))]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield str(json.loads(server.stdout.readline())["proxy"])
    finally:
        server.communicate()  # closes its stdin, which ends it


def crawl(dials: Dials, folder: Path, proxy: str, strategy: str) -> Iterator[Sample]:
    """Crawl a number of pages; yields a sample every ten seconds."""
    web = SyntheticWeb(dials)
    topic, settings = folder / "soak.toml", folder / "settings.toml"
    topic.write_text(web.topic_file(web.topics[0]))
    settings.write_text(SETTINGS)
    process = subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("opilio")), "crawl", str(topic)),
            *("-o", str(folder / "crawl"), "--settings", str(settings)),
            *("--proxy", proxy, "--max-pages", str(dials.pages)),
            *("--strategy", strategy),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        try:
            told = json.loads(line)
        except ValueError:
            sys.stderr.write(line)
            continue
        if "pages" in told:
            yield sample(told, process.pid)
    if process.wait():
        raise SystemExit("the crawl failed")


def sample(told: dict[str, float], pid: int) -> Sample:
    """The figures of the crawl's status and of its processes."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return Sample(
        told["seconds"],
        int(told["pages"]),
        int(told["waiting"]),
        resident(pid),
        sum(map(resident, map(int, children))),
        sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
        cpu_of(pid),
        sum(map(cpu_of, map(int, children))),
    )


def resident(pid: int) -> float:
    """The memory of a process in MB; 0 when it has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20
    except (OSError, IndexError):
        return 0.0


def cpu_of(pid: int) -> float:
    """The CPU seconds of a process so far; 0 when it has gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def per_page(now: Sample, before: Sample, cpu: str) -> str:
    """Milliseconds of CPU that a page took between two samples."""
    spent = getattr(now, cpu) - getattr(before, cpu)
    pages = now.pages - before.pages
    return f"{spent / pages * 1000:.2f}" if pages and spent > 0 else ""


def main(pages: int = PAGES, strategy: str = "opilio") -> None:
    """Crawl a web of this many pages and print memory and open files."""
    dials = Dials(pages=pages, hosts=max(60, pages // 100))
    with tempfile.TemporaryDirectory() as folder, served(dials) as proxy:
        samples = list(crawl(dials, Path(folder), proxy, strategy))
    step = max(1, len(samples) // ROWS)
    shown = samples[::-step][::-1]
    nothing = Sample(0.0, 0, 0, 0.0, 0.0, 0, 0.0, 0.0)
    show(
        f"A crawl of {pages:,} pages, {strategy}",
        (
            *("pages", "seconds", "loop ms/page", "readers ms/page"),
            *("links waiting", "loop MB", "readers MB", "open files"),
        ),
        [
            (
                f"{each.pages:,}",
                f"{each.seconds:,.0f}",
                per_page(each, before, "loop_cpu"),
                per_page(each, before, "readers_cpu"),
                f"{each.links:,}",
                f"{each.loop_mb:,.0f}",
                f"{each.readers_mb:,.0f}",
                each.files,
            )
            for before, each in pairwise([nothing, *shown])
        ],
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
