"""Measures crawls of a site that builds its pages by scripts: never, auto, always.

The site has pages that are an empty element and a script, and short pages whose script
changes nothing. For each mode it prints what was found, how many pages were rendered
for each that needs it, also after the first fifty pages, and CPU (of all processes,
the browser's too) a page.

    python -m bench.rendering [--pages N] [--notes N]
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec
from fastwarc.warc import ArchiveIterator

from bench.documents import children_cpu
from bench.table import show
from opilio.lab.synthetic.scripted import ScriptedSite
from opilio.lab.synthetic.server import serve

OPILIO = Path(sys.executable).with_name("opilio")
TOPIC = """
name = "bees"
keywords = ["honey bee", "hive"]
seeds = ["http://scripted.test/"]
"""
SETTINGS = """
[crawl]
max_pages = 0
[politeness]
delay = 0.0
ip_delay = 0.0
[bounds]
novelty = 0
[store]
min_free = 0
commit_every = 0.2
"""
LEARNT = "SELECT state FROM learnt WHERE name = 'rendering'"
VISITED = "SELECT url FROM page JOIN link USING (id) ORDER BY number"
KEPT = "SELECT url FROM link WHERE state = 'kept'"
FIRST = 50


class RenderedCrawl(NamedTuple):
    """What a crawl found, and what it cost."""

    visited: list[str]
    found: int  # pages that scripts build, with their text
    rendered: int
    failed: int
    cpu: float
    seconds: float


def main() -> None:
    """Crawl in each mode and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--notes", type=int, default=120)
    given = parser.parse_args()
    site = ScriptedSite(given.pages, notes=given.notes)
    rows = []
    for mode in ("never", "auto", "always"):
        got = asyncio.run(crawl(site, mode))
        needed = sum(map(site.needs_script, got.visited))
        rows.append(
            (
                mode,
                f"{len(got.visited):,}",
                f"{got.found:,} of {given.pages:,}",
                f"{got.rendered:,} ({got.failed} failed)",
                f"{got.rendered / needed:.2f}" if got.rendered else "",
                f"{1000 * got.cpu / len(got.visited):,.0f}",
                f"{len(got.visited) / got.seconds:.1f}",
            )
        )
    columns = (
        "mode",
        "pages",
        "built pages found",
        "rendered",
        "per page that needs it",
    )
    show("A site built by scripts", (*columns, "CPU ms a page", "pages/s"), rows)
    asyncio.run(after_the_first(site))


async def after_the_first(site: ScriptedSite) -> None:
    """Print how many pages `auto` renders after the first fifty."""
    with tempfile.TemporaryDirectory(prefix="opilio-rendering-") as name:
        place = Path(name)
        await run(site, place, "auto", FIRST)
        before = learnt_in(place, "rendered")
        await run(site, place, "auto", 0)
        after = learnt_in(place, "rendered") - before
        needed = sum(map(site.needs_script, visited_in(place)[FIRST:]))
    print(
        f"\nafter the first {FIRST} pages, which took {before} renderings: {after} "
        f"renderings, {needed} pages that need it ({after / needed:.2f})"
    )


async def crawl(site: ScriptedSite, mode: str) -> RenderedCrawl:
    """Crawl the site by the command."""
    with tempfile.TemporaryDirectory(prefix="opilio-rendering-") as name:
        place = Path(name)
        cpu, began = children_cpu(), time.monotonic()
        await run(site, place, mode, 0)
        seconds = time.monotonic() - began
        cpu = children_cpu() - cpu
        with closing(sqlite3.connect(place / "crawl" / "crawl.db")) as db:
            kept = [url for (url,) in db.execute(KEPT)]
        built = {url for url in kept if site.needs_script(url)} & converted_in(place)
        visited = visited_in(place)
        rendered, failed = (learnt_in(place, name) for name in ("rendered", "failed"))
        return RenderedCrawl(visited, len(built), rendered, failed, cpu, seconds)


async def run(site: ScriptedSite, place: Path, mode: str, pages: int) -> None:
    """Run the command until it ends."""
    (place / "topic.toml").write_text(TOPIC)
    (place / "settings.toml").write_text(SETTINGS)
    is_new = not (place / "crawl").exists()
    async with serve(site) as server:
        process = await asyncio.create_subprocess_exec(
            *(str(OPILIO), "crawl", str(place / "topic.toml"), "-q"),
            *("-o", str(place / "crawl"), "--proxy", server.proxy_url),
            *(("--settings", str(place / "settings.toml")) if is_new else ()),
            *("--render", mode, "--max-pages", str(pages)),
            stdout=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise SystemExit("the crawl failed")


def visited_in(place: Path) -> list[str]:
    """The pages of a crawl, in the order of their visits."""
    with closing(sqlite3.connect(place / "crawl" / "crawl.db")) as db:
        return [url for (url,) in db.execute(VISITED)]


def learnt_in(place: Path, name: str) -> int:
    """How many pages were rendered, changed by that, or failed."""
    with closing(sqlite3.connect(place / "crawl" / "crawl.db")) as db:
        row = db.execute(LEARNT).fetchone()
    return int(msgspec.msgpack.decode(row[0])[name]) if row else 0


def converted_in(place: Path) -> set[str]:
    """The pages whose rendered version is in the WARC files."""
    found = set()
    for path in (place / "crawl" / "warc").glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, parse_http=False):
                if record.headers["WARC-Type"] == "conversion":
                    found.add(record.headers["WARC-Target-URI"])
    return found


if __name__ == "__main__":
    main()
