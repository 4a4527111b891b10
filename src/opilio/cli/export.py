"""`opilio export`: writes the pages of a crawl to files, or its graph."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from opilio.assembly.export import Exported, Shape, Tell, export_graph, export_pages
from opilio.assembly.plan import load_plan
from opilio.cli.crawl_argument import CrawlName, crawl_at, shown
from opilio.cli.terminal import stderr
from opilio.errors import BadInput, OpilioError
from opilio.records import Purpose
from opilio.store.corpus.selection import Selection
from opilio.store.export_left_out import left_out_in_words
from opilio.store.folder import CrawlFolder
from opilio.text.usage_signals import PURPOSES


def export(
    folder: CrawlName,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write; its suffix selects the format and compression: "
            ".jsonl, .csv (also with .gz or .zst), .parquet, .warc, .warc.gz, .wacz, "
            ".md (a folder). - is standard output.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="The format, if the suffix does not select it: jsonl, csv, parquet, "
            "markdown, huggingface, warc, wacz, the exporter of an installed package, "
            "or your own class as FILE.py:CLASS. \\[default: jsonl]",
        ),
    ] = None,
    relevant_only: Annotated[
        bool, typer.Option("--relevant-only", help="Only the relevant pages.")
    ] = False,
    min_score: Annotated[
        float,
        typer.Option(metavar="SCORE", help="Only pages with at least this score."),
    ] = 0.0,
    language: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Only pages in this language; repeatable."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE", help="Only pages fetched on or after this day: 2026-11-18."
        ),
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST", help="Only pages of this host or below it; repeatable."
        ),
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PURPOSES),
            help="Omit pages that are reserved against this use. \\[default: the "
            "topic's]",
        ),
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(metavar="NAME,…", help="Only these columns, in this order."),
    ] = None,
    shards: Annotated[
        int, typer.Option(min=0, metavar="N", help="Write this many files.")
    ] = 0,
    links: Annotated[
        bool, typer.Option("--links", help="Keep the links in Markdown.")
    ] = False,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="graphml|parquet",
            help="Write the graph of pages and links instead: a GraphML file, or a "
            "folder with nodes.parquet and edges.parquet.",
        ),
    ] = None,
) -> None:
    """Write the pages of a crawl to a file, best first.

    Repeating an interrupted export resumes it.

    Examples:

        opilio export my-crawl --relevant-only -o pages.jsonl.gz

        opilio export my-crawl --relevant-only --format huggingface -o my-dataset

        opilio export my-crawl --format csv -o - | head
    """
    crawl = crawl_at(folder)
    if graph:
        with progress_bar("Rows") as tell:
            count = export_graph(crawl, output, graph, tell)
        if output != "-":
            stderr.print(Text(f"{count:,} links written to {output}"), soft_wrap=True)
        return
    selection = Selection(
        relevant=relevant_only,
        min_score=min_score,
        languages=tuple(code.lower() for code in language or ()),
        since=start_of(since),
        sites=tuple(site or ()),
        purpose=purpose_of(crawl, purpose),
    )
    names = tuple(filter(None, map(str.strip, (fields or "").split(","))))
    command = shlex.join([Path(sys.argv[0]).name, *map(shown, sys.argv[1:])])
    shape = Shape(fields=names, links=links, shards=shards, command=command)
    with progress_bar("Pages") as tell:
        done = export_pages(
            crawl, output, form, selection=selection, shape=shape, tell=tell
        )
    report(done, output)


@contextmanager
def progress_bar(what: str) -> Iterator[Tell]:
    """A progress bar, gone when it ends; yields what moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=stderr, transient=True, disable=not stderr.is_terminal
    ) as bar:
        task = bar.add_task(what, total=None, rate="")
        begun, first = time.monotonic(), -1

        def tell(done: int, total: int) -> None:
            nonlocal first
            first = done if first < 0 else first  # what an earlier try has written
            rate = (done - first) / max(time.monotonic() - begun, 0.001)
            bar.update(task, completed=done, total=total, rate=f"{rate:,.0f}/s")

        yield tell


def report(done: Exported, output: str) -> None:
    """Say what was written and what was not."""
    if output != "-":
        pages = "page" if done.pages == 1 else "pages"
        where = output
        if len(done.files) > 1:
            where = f"{len(done.files)} files, from {done.files[0]} on"
        written = f"{done.pages:,} {pages} written to {where}"
        stderr.print(Text(written), soft_wrap=True)
        if done.left_out:
            stderr.print(Text(left_out_in_words(done.left_out)), soft_wrap=True)
        if done.unasked:
            sites = "site" if done.unasked == 1 else "sites"
            told = (
                f"tdmrep.json of {done.unasked:,} {sites} is unknown; set the purpose "
                "in the topic before you crawl, so that it is fetched"
            )
            stderr.print(Text(told), soft_wrap=True)
        if done.degraded:
            pages = "page was" if done.degraded == 1 else "pages were"
            told = f"{done.degraded:,} {pages} too hard to parse; see docs/security.md"
            stderr.print(Text(told), soft_wrap=True)
    if done.trouble:
        stderr.print(Text(done.trouble, "yellow"), soft_wrap=True)
        raise typer.Exit(1)  # the result is incomplete


def start_of(day: str | None) -> float:
    """When a day begins, in seconds since 1970; BadInput if it is none."""
    if day is None:
        return 0.0
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise BadInput(f"--since {day}: not a date; write it as 2026-11-18") from None


def purpose_of(crawl: CrawlFolder, said: str | None) -> Purpose | None:
    """The purpose of an export: as given, or that of the topic."""
    if said is None:
        try:
            return load_plan(crawl.require()).topic.purpose
        except OpilioError:
            return None
    for purpose in PURPOSES:
        if said == purpose:
            return purpose
    raise BadInput(f"--purpose {said}: use {', '.join(PURPOSES)}")
