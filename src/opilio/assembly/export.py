"""Writes the pages of a crawl to a file, in a built-in format or by an exporter from
another package, file or program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import PurePath
from typing import BinaryIO, Protocol, cast

import msgspec

from opilio import extensions
from opilio.assembly.crawled_pages import CrawledPage, best_first
from opilio.errors import BadInput
from opilio.store import export as exports
from opilio.store.export_format import SUFFIXES, Format, choose_format
from opilio.store.export_left_out import count_left_out
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.store.stored_responses import StoredResponses

FORMATS = tuple(Format)


class Exporter(Protocol):
    """Writes pages to a file."""

    def write(self, pages: Iterable[CrawledPage], file: BinaryIO) -> None:
        """Write the pages, given best first, to an open file."""
        ...


class Exported(msgspec.Struct, frozen=True):
    """The result of an export."""

    pages: int  # written
    left_out: dict[str, int]  # reason -> pages
    degraded: int = 0  # pages that the parser could not take: text found by patterns
    trouble: str = ""  # a message about records that could not be read


def export_pages(
    folder: CrawlFolder,
    out: str,
    form: str | Exporter | type[Exporter] | None = None,
    *,
    relevant: bool = False,
) -> Exported:
    """Write the pages of a crawl to a file, best first.

    `form` is the name of a format, `file.py:Class`, an exporter or its class; None: the
    suffix of the file selects it.
    """
    exporter = find_exporter(out, form)
    wanted = Format(form) if isinstance(form, str) and form in FORMATS else None
    chosen = None if exporter else choose_format(out, wanted)
    records = StoredResponses(folder.require().warcs)
    if exporter:
        count = write_with(exporter, folder, out, relevant)
        degraded = 0
    else:
        from opilio.read.page_texts import PageTexts  # slow to import

        with closing(PageTexts()) as texts:
            write = writer_of(chosen or Format.JSONL, texts.main)
            count = write(folder, out, relevant_only=relevant, records=records)
        degraded = texts.degraded
    with opened(folder) as db:
        left_out = count_left_out(db, relevant_only=relevant)
    return Exported(count, left_out, degraded, records.trouble)


def writer_of(chosen: Format, main_text: exports.Extract) -> Callable[..., int]:
    """The function that writes a built-in format."""
    writers: dict[Format, Callable[..., int]] = {
        Format.JSONL: partial(exports.export_jsonl, extract=main_text),
        Format.CSV: exports.export_csv,
        Format.PARQUET: partial(exports.export_parquet, extract=main_text),
        Format.WARC: exports.export_warc,
    }
    return writers[chosen]


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

    with exports.packed(out) as file:
        exporter.write(counted(), file)
    return count
