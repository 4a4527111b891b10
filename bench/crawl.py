"""Measures CPU per page of whole crawls: Opilio, the raw limit, Scrapy and colly.

A site is served by nginx: a synthetic one with pages of real size, and the pages of a
folder, if one is given. Opilio runs with its defaults (strategy, judge, WARC, durable
frontier, index of what is kept), only without delays: once as users run it, with one
connection per host, and once with 16. CPU is that of all processes of a crawler, its
start included. All of them run on one core, so that what they do to each other's caches
counts; nginx has another. Machines are noisy: read the ratios, which are medians over
rounds in which all ran one after another, with their ranges.

    python -m bench.crawl [FOLDER [PATH]] [--keywords "star, planet"] [--pages N]

FOLDER has HTML files with relative links, or is a web of the lab (web.toml), whose
pages are unpacked: `python -m bench.crawl ../shared/webs/schools wp/a/Astronomy.htm`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from compileall import compile_dir
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import opilio as opilio_package
from bench.served import Cost, measure, median, nginx
from bench.table import show
from opilio.lab.synthetic.dials import REAL_SITE
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import open_web, write_static_site
from opilio.storage.warc_reading import responses

PAGES = 3000
ROUNDS = 3
KEYWORDS = "volcano, lava, eruption, crater, magma chamber"
COLLY = "github.com/gocolly/colly/v2@v2.3.0"
AS_USERS, CONNECTIONS = "Opilio as users run it", "Opilio, 16 connections"

TOPIC = """
name = "bench"
keywords = ["volcano", "lava", "eruption", "crater", "magma chamber"]
seeds = ["{start}"]
"""

# No delays; the lines that follow are still in [politeness].
WITHOUT_DELAYS = """
[crawl]
in_flight = 32
[politeness]
delay = 0.0
ip_delay = 0.0
"""

LOCAL = """
[fetch]
allow_networks = ["127.0.0.0/8"]
[bounds]
per_template = 0
"""

SETTINGS = f"{WITHOUT_DELAYS}per_host = 16{LOCAL}"

Command = Callable[[str, Path], list[str]]
"""The command to run, given the start URL and a folder for its output."""


class Wanted(NamedTuple):
    """What to measure."""

    pages: int
    rounds: int
    keywords: list[str]


def opilio(
    wanted: Wanted, per_host: int, start: str, folder: Path, readers: int = 1
) -> list[str]:
    """The command of a whole Opilio crawl, everything on."""
    topic, settings = folder / "bench.toml", folder / f"settings-{per_host}.toml"
    keywords = json.dumps(wanted.keywords)
    topic.write_text(f'name = "bench"\nkeywords = {keywords}\nseeds = ["{start}"]\n')
    settings.write_text(
        f"[politeness]\ndelay = 0.0\nip_delay = 0.0\nper_host = {per_host}\n{LOCAL}"
    )
    return [
        str(Path(sys.executable).with_name("opilio")),
        *("crawl", str(topic), "--settings", str(settings), "--fresh", "--quiet"),
        *("-o", str(folder / f"crawl-{per_host}-{readers}")),
        *("--max-pages", str(wanted.pages), "--readers", str(readers)),
    ]


def python_peer(module: str, wanted: Wanted, start: str, folder: Path) -> list[str]:
    """The command of another crawler of this package."""
    return [sys.executable, "-m", f"bench.{module}", start, str(wanted.pages)]


def colly_peer(program: Path, wanted: Wanted, start: str, folder: Path) -> list[str]:
    """The command of colly."""
    return [str(program), start, str(wanted.pages)]


def crawlers(wanted: Wanted, folder: Path) -> dict[str, Command]:
    """The crawlers that can run here; prints why others cannot."""
    found: dict[str, Command] = {}
    if find_spec("httptools"):
        found["raw limit"] = partial(python_peer, "raw_limit", wanted)
    else:
        raise SystemExit("the raw limit needs httptools: pip install --group bench")
    found[AS_USERS] = partial(opilio, wanted, 1)
    found[CONNECTIONS] = partial(opilio, wanted, 16)
    if find_spec("scrapy"):
        found["Scrapy"] = partial(python_peer, "scrapy_peer", wanted)
    else:
        print("without Scrapy: pip install --group bench", file=sys.stderr)
    if program := built_colly(folder):
        found["colly"] = partial(colly_peer, program, wanted)
    return found


def built_colly(folder: Path) -> Path | None:
    """The program of `colly_peer.go`; prints why there is none."""
    if not shutil.which("go"):
        print("without colly: it needs Go (https://go.dev)", file=sys.stderr)
        return None
    source = folder / "colly"
    source.mkdir()
    shutil.copy(Path(__file__).with_name("colly_peer.go"), source / "main.go")
    for command in ("mod init colly_peer", f"get {COLLY}", "build -o peer ."):
        done = subprocess.run(["go", *command.split()], cwd=source, capture_output=True)
        if done.returncode:
            last = done.stderr.decode().strip().rpartition("\n")[2]
            print(f"without colly: go {command}: {last}", file=sys.stderr)
            return None
    return source / "peer"


class Brought(NamedTuple):
    """What a run reports; requests and kept pages only if it does so."""

    pages: int  # answered with status 200, which parsers can read
    requests: int | None = None
    kept: int | None = None


def brought(cost: Cost) -> Brought:
    """What a run brought."""
    said = json.loads(cost.printed.strip().rpartition("\n")[2])
    if not isinstance(said, dict):
        return Brought(said)
    requests = said.get("requests")
    if "unusable" in said:
        requests = said["pages"] + sum(said["unusable"].values())
    return Brought(said["pages"], requests, said.get("kept"))


def compare(site: str, start: str, wanted: Wanted, folder: Path) -> None:
    """CPU per page of each crawler, and how it compares in the same round."""
    pinned = ["taskset", "-c", "0"]
    runs: dict[str, list[Cost]] = {}
    commands = crawlers(wanted, folder)
    for number in range(wanted.rounds):
        for name, command in commands.items():
            if name == "Scrapy" and number:
                continue  # it takes as long as all the others
            runs.setdefault(name, []).append(measure(pinned + command(start, folder)))
    each = {
        name: [cost.cpu / brought(cost).pages * 1000 for cost in costs]
        for name, costs in runs.items()
    }
    rows = []
    for name, costs in runs.items():
        rows.append(
            (
                name,
                *("" if n is None else f"{n:,}" for n in brought(costs[0])),
                f"{statistics.median(each[name]):.2f}",
                *(
                    against(each[name], each[other])
                    for other in ("raw limit", AS_USERS)
                ),
                f"{median(costs).peak_mb:.0f}",
            )
        )
    show(
        f"{site}: CPU of all processes, start included, medians of {wanted.rounds}",
        (
            "crawler",
            "pages",
            "requests",
            "kept",
            "ms/page",
            "x limit",
            "x Opilio",
            "peak MB",
        ),
        rows,
    )


def against(ours: list[float], theirs: list[float]) -> str:
    """The median ratio of runs of the same round, and its range."""
    ratios = [one / other for one, other in zip(ours, theirs, strict=False)]
    middle = f"{statistics.median(ratios):.2f}"
    if len(ratios) == 1 or max(ratios) == min(ratios):
        return middle
    return f"{middle} ({min(ratios):.2f}-{max(ratios):.2f})"


def scale(start: str, wanted: Wanted, folder: Path) -> None:
    """Pages a second and CPU with one reader and with two, on all cores."""
    runs: dict[int, list[Cost]] = {1: [], 2: []}
    for _ in range(wanted.rounds):
        for readers, costs in runs.items():
            costs.append(measure(opilio(wanted, 16, start, folder, readers)))
    show(
        f"16 connections on {os.cpu_count()} cores, nginx among them",
        ("readers", "pages/s", "ms of CPU/page"),
        [
            (
                readers,
                f"{brought(costs[0]).pages / median(costs, 'seconds').seconds:.0f}",
                f"{median(costs).cpu / brought(costs[0]).pages * 1000:.2f}",
            )
            for readers, costs in runs.items()
        ],
    )


def main(*given: str) -> None:
    """Serve the sites, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.crawl")
    parser.add_argument("folder", nargs="?", type=Path, help="HTML files to crawl, too")
    parser.add_argument("path", nargs="?", default="", help="of the first page in it")
    parser.add_argument("--keywords", default=KEYWORDS, help="of the topic for it")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", action="store_true", help="crawl the folder alone")
    asked = parser.parse_args(given)
    if asked.folder and not asked.folder.is_dir():
        parser.error(f"{asked.folder} is no folder")
    # As pip does; where Python may not write bytecode, each start would compile again.
    compile_dir(Path(opilio_package.__file__).parent, quiet=1)
    wanted = Wanted(asked.pages, asked.rounds, split(KEYWORDS))
    if not (asked.folder and asked.only):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            site = folder / "site"
            write_static_site(SyntheticWeb(REAL_SITE), site)
            with nginx(site, folder) as start:
                compare("A synthetic site", start, wanted, folder)
                scale(start, wanted, folder)
    if asked.folder:
        wanted = wanted._replace(keywords=split(asked.keywords))
        with tempfile.TemporaryDirectory() as name:
            folder, site = Path(name), asked.folder.absolute()
            if (site / "web.toml").is_file():
                site = unpacked(site, folder / "site")
            with nginx(site, folder) as start:
                compare(asked.folder.name, start + asked.path, wanted, folder)


def unpacked(web: Path, folder: Path) -> Path:
    """The pages of a web of the lab as files."""
    for warc in open_web(web).warcs:
        with warc.open("rb") as stream:
            for response in responses(stream):
                path = unquote(urlsplit(response.url).path).strip("/") or "index.html"
                file = folder / path
                if response.status == 200 and file.resolve().is_relative_to(folder):
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(response.body)
    return folder


def split(keywords: str) -> list[str]:
    """Keywords that stand between commas."""
    return [word.strip() for word in keywords.split(",")]


if __name__ == "__main__":
    main(*sys.argv[1:])
