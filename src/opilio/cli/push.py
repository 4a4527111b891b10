"""`opilio push`: copies a crawl from a folder into PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from opilio.cli.terminal import stderr
from opilio.cluster.connection import require_dsn, without_password
from opilio.cluster.push import push_crawl
from opilio.store.folder import CrawlFolder


def push(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    dsn: Annotated[
        str,
        typer.Argument(
            metavar="DSN", help="A database without a crawl: postgresql://…"
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Copy a crawl into PostgreSQL, where many machines continue it.

    The folder stays as it is. If the command is interrupted, repeat it.

    Example:

        opilio push bees-crawl postgresql://crawler@db.example.org/bees
    """
    require_dsn(dsn)
    with stderr.status("Copying the crawl.") as status:
        copied = push_crawl(CrawlFolder(folder), dsn, status.update)
    if as_json:
        typer.echo(msgspec.json.encode(copied._asdict()).decode())
        return
    typer.echo(
        f"Copied {copied.pages:,} pages, {copied.links:,} links and "
        f"{copied.warc_files:,} WARC files ({copied.warc_bytes:,} bytes) to "
        f"{without_password(dsn)}."
    )
