"""Writes the pages of a crawl to files, in a built-in format or by an exporter from
another package, file or program."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import BinaryIO, Protocol, cast

from opilio import extensions
from opilio.assembly.built_in_export import BuiltInExport, Exported, Shape, Tell
from opilio.assembly.crawled_pages import CrawledPage, best_first
from opilio.assembly.graph_export import GraphExport
from opilio.errors import BadInput
from opilio.store.corpus import graph
from opilio.store.corpus.output_files import whole_file
from opilio.store.corpus.selection import Selection
from opilio.store.export_format import SUFFIXES, Format, choose_format
from opilio.store.export_left_out import count_left_out
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened

__all__ = ["Exported", "Exporter", "Shape", "Tell", "export_graph", "export_pages"]

FORMATS = tuple(Format)


class Exporter(Protocol):
    """Writes pages to a file."""

    def write(self, pages: Iterable[CrawledPage], file: BinaryIO) -> None:
        """Write the pages, given best first, to an open file."""
        ...


def export_pages(
    folder: CrawlFolder,
    out: str,
    form: str | Exporter | type[Exporter] | None = None,
    *,
    selection: Selection | None = None,
    shape: Shape | None = None,
    tell: Tell = lambda done, pages: None,
) -> Exported:
    """Write the pages of a crawl, best first.

    `form` is the name of a format, `file.py:Class`, an exporter or its class; None: the
    suffix of the file selects it.
    """
    exporter = find_exporter(out, form)
    wanted = Format(form) if isinstance(form, str) and form in FORMATS else None
    chosen = None if exporter else choose_format(out, wanted)
    selection, shape = selection or Selection(), shape or Shape()
    folder.require()
    if exporter:
        count = write_with(exporter, folder, out, selection.relevant)
        with opened(folder) as db:
            left_out = count_left_out(db, relevant_only=selection.relevant)
        return Exported(count, left_out)
    chosen = chosen or Format.JSONL
    return BuiltInExport(folder, out, chosen, selection, shape, tell).run()


def export_graph(
    folder: CrawlFolder,
    out: str,
    form: str,
    tell: Tell = lambda done, links: None,
) -> int:
    """Write pages and links of a crawl as a graph: `graphml`, a file, or `parquet`, a
    folder with nodes and edges; returns the number of links."""
    if form not in graph.FORMATS:
        raise BadInput(f"--graph {form}: use {' or '.join(graph.FORMATS)}")
    with opened(folder.require()) as db:
        return GraphExport(db, out, form, tell).run()


def find_exporter(
    out: str, form: str | Exporter | type[Exporter] | None
) -> Exporter | None:
    """The exporter to use; None: a built-in format.

    An installed exporter also writes the files whose suffix is its name.
    """
    if form is None:
        form = suffix = PurePath(out.lower().removesuffix(".gz")).suffix.lstrip(".")
        if f".{suffix}" in SUFFIXES or suffix not in extensions.installed("exporter"):
            return None
    if isinstance(form, str):
        if form in FORMATS:
            return None
        form = cast(type[Exporter], extensions.find_class("exporter", form, FORMATS))
    if isinstance(form, type):
        made: Exporter = extensions.make("exporter", form)
        form = made
    if not callable(getattr(form, "write", None)):
        raise BadInput(
            f"{form!r} is not an exporter: it has no write(pages, file); name a "
            f"format ({', '.join(FORMATS)}) or give an exporter"
        )
    return form


def write_with(
    exporter: Exporter, folder: CrawlFolder, out: str, relevant: bool
) -> int:
    """Let an exporter write the file; returns how many pages it took."""
    count = 0

    def counted() -> Iterator[CrawledPage]:
        nonlocal count
        for page in best_first(folder, relevant):
            count += 1
            yield page

    with whole_file(out) as file:
        if out.lower().endswith(".gz"):
            # Without name and time in it, the same pages make the same file.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as archive:
                exporter.write(counted(), cast(BinaryIO, archive))
        else:
            exporter.write(counted(), file)
    return count
