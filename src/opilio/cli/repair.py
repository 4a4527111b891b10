"""`opilio repair`: saves what can be saved of a damaged crawl."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from opilio.assembly.event_loop import run_loop
from opilio.assembly.rejudge import rejudge
from opilio.cli.terminal import stdout
from opilio.errors import BadInput
from opilio.store.damage_check import is_unjudged
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.store.repair import Repaired, repair_crawl


def repair(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Repair a damaged crawl: save what can be read, let the rest be fetched again.

    Pages that are only in the WARC files are read and judged again. A damaged crawl.db
    is kept beside the new one. `opilio crawl DIR` then continues.

    Example:

        opilio repair my-crawl
    """
    crawl = CrawlFolder(folder)
    if not crawl.exists:
        raise BadInput(f"{folder} holds no crawl (no crawl.toml in it); name another")
    crawl.warcs.mkdir(exist_ok=True)
    crawl.lock()
    try:
        done = repair_crawl(crawl)
        if done.database or done.found_again:
            shutil.rmtree(crawl.index, ignore_errors=True)
    finally:
        crawl.unlock()
    with opened(crawl) as db:
        unjudged = is_unjudged(db)
    if unjudged:  # what was learnt from the pages may be damaged, too
        run_loop(rejudge(crawl))
    if as_json:
        typer.echo(msgspec.json.encode(done).decode())
        return
    for line in told(done, folder):
        stdout.print(Text(line), soft_wrap=True)


def told(done: Repaired, folder: Path) -> Iterator[str]:
    """What was repaired, in sentences."""
    if done.database:
        yield f"crawl.db was damaged: {done.database}."
    if done.kept_copy:
        yield f"  It was rebuilt; the damaged file is now {done.kept_copy}."
    if done.lost_links:
        yield f"{done.lost_links:,} links were lost; pages with them bring them back."
    for name, size in done.cut_files.items():
        yield f"warc/{name}: {size:,} bytes of incomplete records were cut off."
    if done.fetched_again:
        yield f"{done.fetched_again:,} pages were lost and will be fetched again."
    if done.found_again:
        yield f"{done.found_again:,} pages were found again in the WARC files."
    if done == Repaired():
        yield "Nothing was damaged."
    else:
        yield f"Continue with: opilio crawl {folder}"
