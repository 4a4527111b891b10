"""`opilio export`: writes the pages of a crawl to a file, in four formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio.cli.terminal import stderr
from opilio.read.main_text import main_text
from opilio.store import export as exports
from opilio.store.export_format import Format, choose_format
from opilio.store.folder import CrawlFolder
from opilio.store.left_out import count_left_out, in_words
from opilio.store.lookup import opened
from opilio.store.records import Records


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write; its suffix selects the format and compression: "
            ".jsonl, .csv, .parquet, .warc, also with .gz. - is the standard output.",
        ),
    ],
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            help="The format, if the suffix does not say it. \\[default: jsonl]",
        ),
    ] = None,
    relevant_only: Annotated[
        bool, typer.Option("--relevant-only", help="Only the pages that were kept.")
    ] = False,
) -> None:
    """Write the pages of a crawl to a file, best first.

    Examples:

        opilio export my-crawl --relevant-only -o pages.jsonl.gz

        opilio export my-crawl --format csv -o - | head
    """
    write: dict[Format, Callable[..., int]] = {
        Format.JSONL: partial(exports.export_jsonl, extract=main_text),
        Format.CSV: exports.export_csv,
        Format.PARQUET: partial(exports.export_parquet, extract=main_text),
        Format.WARC: exports.export_warc,
    }
    chosen = choose_format(output, form)
    crawl = CrawlFolder(folder).require()
    records = Records(crawl.warcs)
    count = write[chosen](crawl, output, relevant_only=relevant_only, records=records)
    if output != "-":
        pages = "page" if count == 1 else "pages"
        written = f"{count:,} {pages} written to {output}"
        stderr.print(Text(written), soft_wrap=True)
        with opened(crawl) as db:
            left_out = count_left_out(db, relevant_only=relevant_only)
        if left_out:
            stderr.print(Text(in_words(left_out)), soft_wrap=True)
    if records.trouble:
        stderr.print(Text(records.trouble, "yellow"), soft_wrap=True)
        raise typer.Exit(1)  # there is a result, but it lacks something
