"""Shows the output of `opilio evolve`: a crawl of a changing web, and 20 days later.

Prints the commands and their output. The web is synthetic and served on loopback; its
clock and the times in crawl.db are put forward, all else is real. Run it with `python
-m bench.evolve`.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import msgspec

from opilio.lab.synthetic.dials import CALM
from opilio.lab.synthetic.server import Server, serve
from opilio.lab.synthetic.web import SyntheticWeb

DAYS = 20
DIALS = msgspec.structs.replace(
    CALM, seed=6, pages=1500, hosts=30, changing=0.5, english=True, hindi=0.0
)
SETTINGS = "[politeness]\ndelay = 0.0\n[store]\nmin_free = 0\n"


async def run(home: Path, *arguments: str, hidden: tuple[str, ...] = ()) -> None:
    """Run an `opilio` command and print it without the options for this script."""
    print(f"$ opilio {' '.join(arguments)}", flush=True)
    opilio = Path(sys.executable).absolute().with_name("opilio")
    process = await asyncio.create_subprocess_exec(
        opilio, *arguments, *hidden, cwd=home, env={"COLUMNS": "110"}
    )
    await process.wait()
    print(flush=True)


def put_forward(folder: Path, days: float) -> None:
    """Shift everything in crawl.db a number of days into the past."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        db.execute("UPDATE page SET fetched_at = fetched_at - ?", (days * 86_400,))
    db.close()


async def show(home: Path, web: SyntheticWeb, server: Server, now: list[float]) -> None:
    """Crawl, wait, evolve, and explain a page that has changed."""
    (home / "topic.toml").write_text(web.topic_file(web.topics[0]))
    (home / "settings.toml").write_text(SETTINGS)
    proxy = ("--proxy", server.proxy_url)
    crawl = ("crawl", "topic.toml", "-o", "my-crawl", "--max-pages", "150")
    await run(home, *crawl, hidden=(*proxy, "-q", "--settings", "settings.toml"))
    now[0] = DAYS * 86_400
    put_forward(home / "my-crawl", DAYS)
    await run(home, "evolve", "my-crawl", "--pages", "60", hidden=proxy)
    with closing(sqlite3.connect(home / "my-crawl" / "crawl.db")) as db, db:
        [url] = db.execute(
            "SELECT url FROM version JOIN link ON link.id = page "
            "WHERE change IS NOT NULL ORDER BY score DESC LIMIT 1"
        ).fetchone()
    db.close()
    await run(home, "explain", "my-crawl", url)
    statuses = [request.status for request in server.requests]
    print(f"(304 was answered {statuses.count(304)} times)")


async def demonstrate() -> None:
    """Serve the web while it is crawled."""
    now = [0.0]
    web = SyntheticWeb(DIALS, lambda: now[0])
    with tempfile.TemporaryDirectory() as home:
        async with serve(web) as server:
            await show(Path(home), web, server, now)


if __name__ == "__main__":
    asyncio.run(demonstrate())
