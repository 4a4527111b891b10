"""`opilio export`: writes the pages of a crawl to a file, in four formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio.assembly.export import export_pages
from opilio.cli.terminal import stderr
from opilio.store.export_left_out import left_out_in_words
from opilio.store.folder import CrawlFolder


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
            ".jsonl, .csv, .parquet, .warc, also with .gz. - is standard output.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="The format, if the suffix does not select it: jsonl, csv, parquet, "
            "warc, the exporter of an installed package, or your own class as "
            "FILE.py:CLASS. \\[default: jsonl]",
        ),
    ] = None,
    relevant_only: Annotated[
        bool, typer.Option("--relevant-only", help="Only the relevant pages.")
    ] = False,
) -> None:
    """Write the pages of a crawl to a file, best first.

    Examples:

        opilio export my-crawl --relevant-only -o pages.jsonl.gz

        opilio export my-crawl --format csv -o - | head
    """
    done = export_pages(CrawlFolder(folder), output, form, relevant=relevant_only)
    if output != "-":
        pages = "page" if done.pages == 1 else "pages"
        written = f"{done.pages:,} {pages} written to {output}"
        stderr.print(Text(written), soft_wrap=True)
        if done.left_out:
            stderr.print(Text(left_out_in_words(done.left_out)), soft_wrap=True)
        if done.degraded:
            pages = "page was" if done.degraded == 1 else "pages were"
            told = f"{done.degraded:,} {pages} too hard to parse; see docs/security.md"
            stderr.print(Text(told), soft_wrap=True)
    if done.trouble:
        stderr.print(Text(done.trouble, "yellow"), soft_wrap=True)
        raise typer.Exit(1)  # the result is incomplete
