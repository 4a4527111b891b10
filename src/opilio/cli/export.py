"""`opilio export`: a crawl in; its pages as JSON lines, CSV, Parquet or WARC, out."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio.cli.terminal import stderr
from opilio.read.main_text import main_text
from opilio.store import export as exports
from opilio.store.folder import CrawlFolder
from opilio.store.stored_responses import StoredResponses


class Format(StrEnum):
    """The forms a corpus is handed on in."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    WARC = "warc"


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; - is stdout."),
    ],
    form: Annotated[
        Format, typer.Option("--format", "-f", help="What to write.")
    ] = Format.JSONL,
    relevant_only: Annotated[
        bool, typer.Option("--relevant-only", help="Only the pages that were kept.")
    ] = False,
) -> None:
    """Hand the pages of a crawl on, best first.

    Examples:

        opilio export my-crawl --format jsonl --relevant-only -o pages.jsonl

        opilio export my-crawl --format csv -o - | head
    """
    write: dict[Format, Callable[..., int]] = {
        Format.JSONL: partial(exports.export_jsonl, extract=main_text),
        Format.CSV: exports.export_csv,
        Format.PARQUET: partial(exports.export_parquet, extract=main_text),
        Format.WARC: exports.export_warc,
    }
    crawl = CrawlFolder(folder).require()
    records = StoredResponses(crawl.warcs)
    count = write[form](crawl, output, relevant_only=relevant_only, records=records)
    if output != "-":
        stderr.print(f"{count:,} pages written to {output}", markup=False)
    if records.trouble:
        stderr.print(Text(records.trouble, "yellow"), soft_wrap=True)
        raise typer.Exit(1)  # there is a result, but it lacks something
