"""`opilio demo`: nothing in; a small web made, served, crawled and shown, out."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio import config
from opilio.build import assemble
from opilio.cli.display import Reporter
from opilio.cli.loop import run_loop
from opilio.cli.terminal import curve, foreign, stdout
from opilio.errors import BadInput
from opilio.lab.dials import Dials
from opilio.lab.synthetic import SyntheticWeb
from opilio.plan import Plan, save_plan
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import best_pages, harvest_curve, opened
from opilio.topic import Topic

WEB = Dials(pages=5_000, hosts=60)
TOPIC = "beekeeping"
PAGES = 400
POLITENESS = config.Politeness(delay=0.02, ip_delay=0.0)  # the hosts are our own


def demo(
    folder: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Where the crawl goes."),
    ] = Path("demo-crawl"),
) -> None:
    """Make a small web, serve it on loopback, crawl it, and show the harvest."""
    if folder.exists() and not CrawlFolder(folder).exists:
        raise BadInput(f"{folder} holds something else; choose another with -o DIR")
    run_loop(show(CrawlFolder(folder)))


async def show(folder: CrawlFolder) -> None:
    """Crawl the same web twice, focused and not, and compare."""
    web = SyntheticWeb(WEB)
    topic = config.build(
        tomllib.loads(web.topic_file(TOPIC)), Topic, "the demo's topic"
    )
    async with served() as proxy:
        stdout.print(
            f"A synthetic web of {WEB.pages:,} pages on {WEB.hosts} hosts, served on "
            f"{proxy.removeprefix('http://')}.\nWanted: {PAGES} pages, as many as "
            f"possible about [bold]{TOPIC}[/].\n"
        )
        focused = await harvest(folder, topic, proxy, "best-first")
        with tempfile.TemporaryDirectory() as name:
            other = CrawlFolder(Path(name) / "breadth-first")
            unfocused = await harvest(other, topic, proxy, "breadth-first")
    show_curves({"best-first": focused, "breadth-first": unfocused})
    show_best(folder)
    show_next(folder)


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """The synthetic web behind a proxy address, in a process of its own."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "opilio.lab.server", "--port", "0"),
        *("--pages", str(WEB.pages), "--hosts", str(WEB.hosts)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        if server.stdout is None or server.stdin is None:
            raise RuntimeError("the server has no pipes")
        line = await asyncio.wait_for(server.stdout.readline(), 30)
        yield f"http://127.0.0.1:{json.loads(line)['port']}"
        server.stdin.close()
        await server.wait()
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()


async def harvest(
    folder: CrawlFolder, topic: Topic, proxy: str, strategy: str
) -> list[float]:
    """Crawl the web with a strategy; answers the harvest rate after each page."""
    plan = Plan(
        topic=topic,
        crawl=config.Crawl(strategy=strategy, max_pages=PAGES, in_flight=4),
        politeness=POLITENESS,
        fetch=config.Fetch(proxy=proxy),
        store=config.Store(min_free=0),
    )
    folder.clear()
    folder.make()
    save_plan(plan, folder)
    async with assemble(plan, folder) as crawl, Reporter(crawl):
        await crawl.run(topic.seeds)
    with opened(folder) as db:
        return harvest_curve(db)


def show_curves(curves: dict[str, list[float]]) -> None:
    """The harvest rates, page by page."""
    for name, values in curves.items():
        stdout.print(
            f"[bold]{name}[/]: {values[-1]:.0%} of {len(values)} pages on {TOPIC}"
        )
        for row in curve(values):
            stdout.print(Text(row, "green" if name == "best-first" else "dim"))
        stdout.print(Text(f"     └{'─' * 60} pages\n"))


def show_best(folder: CrawlFolder) -> None:
    """The pages that are most about the topic."""
    stdout.print("[bold]The best pages[/]")
    with opened(folder) as db:
        for page in best_pages(db, 5):
            line = Text(f"  {page['score']:.3f}  ") + foreign(page["title"], 40, "bold")
            stdout.print(line + Text("  ") + foreign(page["url"], style="dim"))


def show_next(folder: CrawlFolder) -> None:
    """What to type now."""
    with opened(folder) as db:
        best = best_pages(db, 1)[0]["url"]
    command = Path(sys.argv[0])
    name = command if command.parent.name == "bin" and command.exists() else "opilio"
    try:
        name = Path(name).absolute().relative_to(Path.cwd())
    except ValueError:
        name = "opilio"
    stdout.print("\n[bold]Go on with[/]")
    for rest in (
        f"status {folder.path}",
        f"explain {folder.path} {best}",
        f"export {folder.path} --format csv --relevant-only -o bees.csv",
    ):
        stdout.print(Text(f"  {name} {rest}"), soft_wrap=True)
