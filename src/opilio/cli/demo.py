"""`opilio demo`: nothing in; a small web served, crawled and explained, out."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio.cli.build import assemble
from opilio.cli.display import Reporter
from opilio.cli.loop import run_loop
from opilio.cli.plan import Plan, save_plan
from opilio.cli.terminal import curve, foreign, stdout
from opilio.config import Crawl, Fetch, Politeness, build
from opilio.errors import BadInput, OpilioError
from opilio.lab.synthetic import SyntheticWeb
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import best_pages, harvest_curve, opened
from opilio.topic import Topic

PAGES = 400
TOPIC = "beekeeping"


def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the crawl goes.")] = Path("demo-crawl"),
) -> None:
    """Make a small web, serve it on loopback, crawl it, and show the harvest."""
    crawl = CrawlFolder(folder)
    if folder.exists() and not crawl.exists:
        raise BadInput(f"{folder} is not a demo's folder; choose another with -o DIR")
    run_loop(run(crawl))
