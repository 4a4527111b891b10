"""Writes the graph of a crawl to a GraphML file or to Parquet files; an interrupted
export is continued."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import BinaryIO

import msgspec

from opilio import __version__
from opilio.errors import BadInput
from opilio.store.corpus.graph import (
    TABLES,
    GraphMl,
    GraphTable,
    rows_after,
    schema_of_graph,
)
from opilio.store.corpus.output_files import (
    ExportNote,
    OutputFiles,
    is_stream,
    stream,
)
from opilio.store.corpus.parquet_file import ParquetTable

# What changes when a crawl goes on or is judged again.
STATE = """
    SELECT (SELECT count(*) FROM link), (SELECT max(rowid) FROM edge),
           (SELECT count(*) FROM page), (SELECT max(number) FROM page),
           (SELECT max(fetched_at) FROM page), (SELECT max(id) FROM event)
"""


class GraphExport:
    """One export of a graph."""

    def __init__(
        self,
        db: sqlite3.Connection,
        out: str,
        form: str,
        tell: Callable[[int, int], None],
    ) -> None:
        self.db = db
        self.out = out
        self.form = form
        self.tell = tell
        self.save: Callable[[], None] = lambda: None
        self.note = ExportNote(key="")

    def run(self) -> int:
        """Write everything; returns the number of links."""
        self.db.execute("BEGIN")  # one consistent snapshot
        counts = [self.db.execute(table.total).fetchone()[0] for table in TABLES]
        self.total = sum(counts)
        if self.form == "graphml" and is_stream(self.out):
            self.note.last = [0] * len(TABLES)
            with stream(self.out) as file:
                self.write_graphml(file)
        elif is_stream(self.out):
            raise BadInput(f"--graph {self.form} is a folder; name one with -o DIR")
        else:
            self.to_files()
        return int(counts[-1])

    def to_files(self) -> None:
        """Write the file or the folder, from where an interrupted export stopped."""
        state = tuple(self.db.execute(STATE).fetchone())
        key = msgspec.json.encode((self.form, state, __version__)).decode()
        files = OutputFiles(self.out, key, folder=self.form == "parquet")
        with closing(files):
            self.note, self.save = files.note, files.save_note
            self.note.last = self.note.last or [0] * len(TABLES)
            if self.form == "graphml":
                with files.opened(files.part, 0) as file:
                    self.write_graphml(file)
            else:
                files.part.mkdir(exist_ok=True)
                self.write_tables(files)
            files.finish()

    def write_graphml(self, file: BinaryIO) -> None:
        """Write the nodes, then the edges."""
        writer = GraphMl()
        writer.begin(file, fresh=not self.note.size)
        for number, table in enumerate(TABLES):
            self.write_rows(writer, file, number, table)
        writer.end()

    def write_tables(self, files: OutputFiles) -> None:
        """Write nodes.parquet and edges.parquet."""
        note = self.note
        for number, table in enumerate(TABLES):
            if number < note.shard:
                continue
            path = files.part / f"{table.name}.parquet"
            with files.opened(path, number) as file:
                writer = ParquetTable(schema_of_graph(table), files.index_file)
                writer.begin(file, fresh=not note.size)
                self.write_rows(writer, file, number, table)
                writer.end()
            note.shard, note.size = number + 1, 0
            self.save()

    def write_rows(
        self,
        writer: GraphMl | ParquetTable,
        file: BinaryIO,
        number: int,
        table: GraphTable,
    ) -> None:
        """Write the rows of a table that are missing."""
        note = self.note
        done = note.pages
        for place, rows in rows_after(self.db, table, note.last[number]):
            writer.write(rows)
            done += len(rows)
            if writer.is_settled() and file.seekable():
                file.flush()
                note.last[number], note.pages, note.size = place, done, file.tell()
                self.save()
            self.tell(done, self.total)
        note.pages = done
