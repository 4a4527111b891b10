"""`opilio pull`: copies a crawl from PostgreSQL into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from opilio.cluster.connection import require_dsn
from opilio.cluster.pull import pull_crawl
from opilio.store.folder import CrawlFolder


def pull(
    dsn: Annotated[
        str,
        typer.Argument(metavar="DSN", help="The database of a crawl: postgresql://…"),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to make; new or empty.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Copy a crawl on many machines into a folder, also while it runs.

    All other commands work on the folder: status, search, explain, export, crawl.

    Example:

        opilio pull postgresql://crawler@db.example.org/bees bees-copy
    """
    copied = pull_crawl(require_dsn(dsn), CrawlFolder(folder))
    if as_json:
        typer.echo(msgspec.json.encode(copied._asdict()).decode())
        return
    typer.echo(
        f"Copied {copied.pages:,} pages, {copied.links:,} links and "
        f"{copied.warc_files:,} WARC files ({copied.warc_bytes:,} bytes) to {folder}."
    )
