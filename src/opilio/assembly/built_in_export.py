"""Writes the pages of a crawl in one of the built-in formats, a few pages at a time.

An interrupted export is resumed: see output_files.py.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import xxhash

from opilio import __version__
from opilio.assembly.exported_rows import RowMaker
from opilio.assembly.plan import Plan, load_plan
from opilio.errors import BadInput
from opilio.storage.database import Database, open_database
from opilio.store.corpus.archive_files import WaczFile, WarcFile
from opilio.store.corpus.columns import ExportRow, check_fields
from opilio.store.corpus.dataset_card import DatasetFacts, card
from opilio.store.corpus.line_files import CsvTable, JsonLines, compressor
from opilio.store.corpus.markdown_files import MarkdownFiles
from opilio.store.corpus.output_files import OutputFiles, is_stream, stream
from opilio.store.corpus.parquet_file import ParquetTable, schema_of
from opilio.store.corpus.selection import Selection, chosen_pages, rows_of
from opilio.store.export_format import Format
from opilio.store.export_left_out import count_left_out, left_out_in_words
from opilio.store.folder import CrawlFolder
from opilio.store.stored_responses import StoredResponses
from opilio.text.usage_signals import MINING, reservation

FOLDERS = (Format.MARKDOWN, Format.HUGGINGFACE)
ARCHIVES = (Format.WARC, Format.WACZ)
SHARD_PAGES = 50_000  # of a dataset, if nothing else is said
CSV_FIELDS = (
    *("url", "title", "language", "authors", "published", "score", "relevant"),
    *("state", "words", "depth", "parent", "anchor", "fetched_at", "status"),
)

Tell = Callable[[int, int], None]
"""Called with the number of pages that are dealt with, and of all."""


class Exported(msgspec.Struct, frozen=True):
    """The result of an export."""

    pages: int  # written
    left_out: dict[str, int]  # reason -> pages
    degraded: int = 0  # pages that the parser could not take: text found by patterns
    trouble: str = ""  # a message about records that could not be read
    files: tuple[str, ...] = ()  # or the folder; none if it was a stream
    unasked: int = 0  # origins whose tdmrep.json would matter, and is unknown


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What is written of each page, and to how many files."""

    fields: tuple[str, ...] = ()  # columns; empty: all, but for CSV
    links: bool = False  # in Markdown
    shards: int = 0  # files; 0: one, or as many as a dataset needs
    command: str = ""  # as the user typed it, for the card of a dataset


class BuiltInExport:
    """One export."""

    def __init__(
        self,
        folder: CrawlFolder,
        out: str,
        form: Format,
        selection: Selection,
        shape: Shape,
        tell: Tell,
    ) -> None:
        self.folder = folder
        self.out = out
        self.form = form
        self.selection = selection
        self.shape = shape
        self.tell = tell
        self.fields = self.columns()
        self.records = StoredResponses(folder.warcs)
        self.facts = DatasetFacts()
        self.reserved = self.done = self.total = 0  # pages
        self.files: tuple[str, ...] = ()  # that were written
        self.check()

    def check(self) -> None:
        """BadInput for what cannot be."""
        streams = is_stream(self.out)
        if self.shape.shards > 1 and (
            self.form in (Format.MARKDOWN, Format.WACZ) or streams
        ):
            raise BadInput(f"--shards: {self.form} has one part only; remove --shards")
        if self.form in FOLDERS and streams:
            raise BadInput(f"{self.form} is a folder; name one with -o DIR")

    def columns(self) -> tuple[str, ...]:
        """The columns to write."""
        if self.form in ARCHIVES:
            return ("title",) if self.form is Format.WACZ else ("url",)
        if self.form is Format.CSV and not self.shape.fields:
            return CSV_FIELDS
        return check_fields(self.shape.fields)

    def run(self) -> Exported:
        """Write everything."""
        from opilio.read.page_texts import PageTexts  # slow to import

        with (
            closing(open_database(self.folder.database, read_only=True)) as db,
            closing(PageTexts()) as texts,
        ):
            db.execute("BEGIN")  # one consistent snapshot
            self.db = db
            pages = chosen_pages(db, self.selection)
            self.total = len(pages)
            counts_usage = self.form is Format.HUGGINGFACE
            self.maker = RowMaker(
                db,
                self.records,
                texts,
                self.fields,
                links=self.shape.links,
                usage=counts_usage or self.selection.purpose is not None,
            )
            if is_stream(self.out):
                written = self.to_stream(pages)
            else:
                written = self.to_files(pages)
            left_out = self.left_out(db)
        matters = self.selection.purpose in MINING
        return Exported(
            written,
            left_out,
            texts.degraded,
            self.records.trouble,
            self.files,
            len(self.maker.unasked) if matters else 0,
        )

    def left_out(self, db: Database) -> dict[str, int]:
        """Why pages were left out."""
        relevant, noindex = self.selection.relevant, self.selection.noindex
        found = count_left_out(db, relevant_only=relevant)
        everything = Selection(relevant=relevant, noindex=noindex)
        if fewer := len(chosen_pages(db, everything)) - self.total:
            found["filtered"] = fewer
        if self.reserved:
            found["reserved"] = self.reserved
        return found

    def to_stream(self, pages: Sequence[int]) -> int:
        """Write to standard output or a device; returns how many pages."""
        writer = self.writer()
        written = 0
        with stream(self.out) as file:
            writer.begin(file, fresh=True)
            for _, rows in self.rows(pages):
                written += self.put(writer, rows)
            writer.end()
        return written

    def to_files(self, pages: array[int]) -> int:
        """Write to a file, shards or a folder; returns how many pages."""
        shards = self.shape.shards or 1
        if self.form is Format.HUGGINGFACE and not self.shape.shards:
            shards = max(1, -(-len(pages) // SHARD_PAGES))
        folder = self.form in FOLDERS
        files = OutputFiles(self.out, self.key(pages), shards=shards, folder=folder)
        with closing(files):
            self.done = files.note.pages
            self.reserved = files.note.left_out.get("reserved", 0)
            if folder:
                files.part.mkdir(exist_ok=True)
            if self.form is Format.MARKDOWN:
                self.to_markdown(files, pages)
            else:
                self.to_shards(files, pages, shards)
            if self.form is Format.HUGGINGFACE:
                self.add_card(files)
            files.finish()
        self.files = tuple(map(str, files.finals()))
        return files.note.written

    def to_shards(self, files: OutputFiles, pages: array[int], shards: int) -> None:
        """Write each shard, from where an interrupted export stopped."""
        note = files.note
        self.facts = note.facts or self.facts
        size = max(1, -(-len(pages) // shards))
        for number in range(note.shard, shards):
            end = min(len(pages), (number + 1) * size)
            with self.shard_file(files, number, shards) as file:
                self.to_shard(files, file, pages[note.pages : end])
            note.pages, note.size, note.shard = end, 0, number + 1
            self.save(files)

    def to_shard(
        self, files: OutputFiles, file: BinaryIO, pages: Sequence[int]
    ) -> None:
        """Write one shard, or what is missing of it."""
        writer, note = self.writer(files.index_file), files.note
        done, written = note.pages, note.written
        writer.begin(file, fresh=note.size == 0)
        try:
            for count, rows in self.rows(pages):
                done += count
                written += self.put(writer, rows)
                if writer.is_settled():
                    file.flush()
                    note.pages, note.written, note.size = done, written, file.tell()
                    self.save(files)
            writer.end()
            note.written = written
        except BaseException:
            writer.abandon()
            raise

    def shard_file(self, files: OutputFiles, number: int, shards: int) -> Any:
        """The file of a shard."""
        if self.form is not Format.HUGGINGFACE:
            return files.shard(number)
        folder = files.part / "data"
        folder.mkdir(exist_ok=True)
        name = f"train-{number:05}-of-{shards:05}.parquet"
        return files.opened(folder / name, number)

    def to_markdown(self, files: OutputFiles, pages: array[int]) -> None:
        """Write a file for each page, from where an interrupted export stopped."""
        writer, note = MarkdownFiles(self.fields), files.note
        for count, rows in self.rows(pages[note.pages :]):
            for row in rows:
                note.written += 1
                writer.write(files.part, note.written, row)
            note.pages += count
            self.save(files)

    def save(self, files: OutputFiles) -> None:
        """Note how far the export is."""
        if self.form is Format.HUGGINGFACE:
            files.note.facts = self.facts
        files.note.left_out = {"reserved": self.reserved}
        files.save_note()

    def rows(self, pages: Sequence[int]) -> Iterator[tuple[int, list[ExportRow]]]:
        """The number of pages of each batch, and the rows of those not reserved."""
        for some in rows_of(self.db, pages):
            rows = [self.maker.row(row) for row in some]
            free = [row for row in rows if not self.is_reserved(row)]
            self.reserved += len(rows) - len(free)
            yield len(some), free
            self.done += len(some)
            self.tell(self.done, self.total)

    def is_reserved(self, row: ExportRow) -> bool:
        """Whether a page is reserved against the purpose of the export."""
        purpose = self.selection.purpose
        return purpose is not None and bool(reservation(row["usage"], purpose))

    def put(self, writer: Any, rows: Sequence[ExportRow]) -> int:
        """Write a batch; returns how many pages of it were written."""
        if self.form not in ARCHIVES:
            writer.write(rows)
            if self.form is Format.HUGGINGFACE:
                for row in rows:
                    self.facts.count(row)
            return len(rows)
        written = 0
        for row in rows:
            place = row["warc"], row["warc_offset"], row["warc_length"]
            if row["warc"] and (records := self.records.raw(*place)):
                writer.write_records(row, records)
                written += 1
        return written

    def writer(self, index: Path | None = None) -> Any:
        """What writes the format; `index`: a file beside it, if that is needed."""
        match self.form:
            case Format.JSONL:
                return JsonLines(self.fields, compressor(self.out))
            case Format.CSV:
                return CsvTable(self.fields, compressor(self.out))
            case Format.WARC:
                return WarcFile(packed=not self.out.lower().endswith(".warc"))
            case Format.WACZ:
                return WaczFile(f"Opilio {__version__}", self.name, index)
            case _:
                return ParquetTable(schema_of(self.fields), index)

    def add_card(self, files: OutputFiles) -> None:
        """Write the card of a dataset."""
        left_out = left_out_in_words(self.left_out(self.db))
        command = self.shape.command or f"opilio export {self.folder.path.name}"
        said = card(
            self.name,
            files.path.name,
            self.facts,
            self.fields,
            left_out,
            command,
            self.provenance(),
        )
        (files.part / "README.md").write_text(said, encoding="utf-8")

    @property
    def name(self) -> str:
        """The name of what is exported."""
        plan = plan_of(self.folder)
        return plan.topic.name if plan else self.folder.path.name

    def provenance(self) -> str:
        """Where the pages come from, in words."""
        plan = plan_of(self.folder)
        if not plan:
            return "A crawl with Opilio."
        said = f"Topic: {plan.topic.name}."
        if plan.topic.keywords:
            said += f" Keywords: {', '.join(map(str, plan.topic.keywords))}."
        purpose = self.selection.purpose
        return said + (f" Purpose: {purpose}." if purpose else "")

    def key(self, pages: array[int]) -> str:
        """Names the export, so that only the same one is continued."""
        shape = msgspec.structs.replace(self.shape, command="")
        told = (self.form, self.selection, self.fields, shape, __version__)
        return xxhash.xxh3_128_hexdigest(msgspec.json.encode(told) + pages.tobytes())


def plan_of(folder: CrawlFolder) -> Plan | None:
    """The plan of a crawl; None if it cannot be read."""
    try:
        return load_plan(folder)
    except (BadInput, OSError):
        return None
