"""`opilio demo`: makes a small web, serves it, crawls it and shows the result."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import accumulate
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio import settings
from opilio.assembly.build import assemble
from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Plan, begin_crawl, load_plan
from opilio.cli.display import Reporter
from opilio.cli.terminal import draw_curve, foreign, stdout
from opilio.errors import BadInput
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.records import SEED_PROMISE
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import best_pages, opened, pages_in_order
from opilio.strategies import DEFAULT
from opilio.topic import Topic

WEB = Dials(pages=5_000, hosts=60, english=True, hindi=0.0)
TOPIC = "beekeeping"
PAGES = 400
POLITENESS = settings.PolitenessSettings(
    delay=0.02, ip_delay=0.0
)  # the hosts are our own


def demo(
    folder: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The folder of the crawl."),
    ] = Path("demo-crawl"),
) -> None:
    """Make a small web, serve it on loopback, crawl it, and show the result."""
    crawl = CrawlFolder(folder)
    crawl.check_free()
    if crawl.exists and load_plan(crawl).topic != demo_topic():
        raise BadInput(f"{folder} holds another crawl; choose a folder with -o DIR")
    run_loop(show(crawl))


def demo_topic() -> Topic:
    """What the demo looks for."""
    tables = tomllib.loads(SyntheticWeb(WEB).topic_file(TOPIC))
    return settings.build_section(tables, Topic, "the demo's topic")


async def show(folder: CrawlFolder) -> None:
    """Crawl the same web twice, focused and not, and compare.

    The pages are counted by their true labels, which are looked up afterwards; the
    crawler has only its keywords.
    """
    web = SyntheticWeb(WEB)
    topic = demo_topic()
    async with served() as proxy:
        stdout.print(
            f"A synthetic web of {WEB.pages:,} pages on {WEB.hosts} hosts, served on "
            f"{proxy.removeprefix('http://')}.\nWanted: {PAGES} pages, as many as "
            f"possible about [bold]{TOPIC}[/].\n"
        )
        focused = await crawl(folder, topic, proxy, DEFAULT)
        with tempfile.TemporaryDirectory() as name:
            other = CrawlFolder(Path(name) / "breadth-first")
            unfocused = await crawl(other, topic, proxy, "breadth-first")
    for name, pages in ((DEFAULT, focused), ("breadth-first", unfocused)):
        show_harvest(name, [TOPIC in web.labels(url) for url in pages])
    show_best(folder)
    show_next(folder)


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """Serve the synthetic web in a separate process; yields the address of its
    proxy."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "opilio.lab.synthetic.server", "--port", "0"),
        *("--pages", str(WEB.pages), "--hosts", str(WEB.hosts)),
        *("--english", "--hindi", "0"),
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


async def crawl(
    folder: CrawlFolder, topic: Topic, proxy: str, strategy: str
) -> list[str]:
    """Crawl the web with a strategy; returns the pages in order."""
    plan = Plan(
        topic=topic,
        crawl=settings.CrawlSettings(strategy=strategy, max_pages=PAGES, in_flight=4),
        politeness=POLITENESS,
        fetch=settings.FetchSettings(proxy=proxy),
        store=settings.StoreSettings(min_free=0),
    )
    begin_crawl(plan, folder, fresh=True)
    async with assemble(plan, folder) as running, Reporter(running, topic.name):
        catalogue = running.store.catalogue
        catalogue.save_event("started", pages=0)
        reason = await running.run(dict.fromkeys(topic.sources.urls, SEED_PROMISE))
        catalogue.save_event("stopped", reason=reason)
        await running.commit()
    with opened(folder) as db:
        return pages_in_order(db)


def show_harvest(name: str, wanted: list[bool]) -> None:
    """The harvest rate, page by page."""
    rates = [total / n for n, total in enumerate(accumulate(wanted), 1)]
    colour = "green" if name == DEFAULT else "dim"
    stdout.print(
        f"[bold]{name}[/]: [bold {colour}]{sum(wanted)}[/] of {len(wanted)} pages are "
        f"about {TOPIC}"
    )
    for row in draw_curve(rates):
        stdout.print(Text(row, colour))
    stdout.print(Text(f"     └{'─' * 60} pages\n"))


def show_best(folder: CrawlFolder) -> None:
    """The pages that are most about the topic."""
    stdout.print("[bold]The best pages[/]")
    with opened(folder) as db:
        for page in best_pages(db, 5):
            stdout.print(Text(f"  {page['score']:.3f}  ") + foreign(page["title"], 70))
            address = Text("         ") + foreign(page["url"], style="dim")
            stdout.print(address, soft_wrap=True)


def show_next(folder: CrawlFolder) -> None:
    """Show which commands to try next."""
    with opened(folder) as db:
        best = best_pages(db, 1)[0]["url"]
    crawl = str(folder.path)
    stdout.print("\n[bold]Try next[/]")
    for words in (
        ("status", crawl),
        ("search", crawl, "queen bee"),
        ("explain", crawl, best),
        ("export", crawl, "--relevant-only", "-o", "bees.csv"),
        ("serve", crawl, "--open"),
    ):
        line = shlex.join((command_name(sys.argv[0]), *words))
        stdout.print(Text(f"  {line}"), soft_wrap=True)


def command_name(typed: str) -> str:
    """How to call this command again: by its name if the shell finds it, else by its
    path."""
    here = Path(typed).absolute()
    found = shutil.which("opilio")
    if found and Path(found).resolve() == here.resolve():
        return "opilio"
    if here.is_relative_to(Path.cwd()):
        return str(here.relative_to(Path.cwd()))
    return str(here)
