"""The pages and links of a crawl as a graph: its rows, and how GraphML has them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, BinaryIO, NamedTuple

from opilio.store.corpus.pyarrow_needed import require_pyarrow

FORMATS = ("graphml", "parquet")
GROUP = 10_000  # rows that are read at a time
ENDS = ("id", "source", "target")  # what GraphML has as attributes of elements
_not_xml = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").sub

Row = Mapping[str, Any]


class GraphTable(NamedTuple):
    """The nodes or the edges."""

    name: str
    total: str  # SQL
    query: str  # SQL: rows after a place; the first column is the place of a row
    types: Mapping[str, str]  # of the other columns, as GraphML names them


NODES = GraphTable(
    "nodes",
    "SELECT count(*) FROM link",
    "SELECT link.id, link.id, url, state, reason, promise, link.depth, title, score, "
    "relevant FROM link LEFT JOIN page USING (id) WHERE link.id > ? "
    "ORDER BY link.id LIMIT ?",
    {
        "id": "long",
        "url": "string",
        "state": "string",
        "reason": "string",
        "promise": "double",
        "depth": "long",
        "title": "string",
        "score": "double",
        "relevant": "boolean",
    },
)
EDGES = GraphTable(
    "edges",
    "SELECT count(*) FROM edge",
    "SELECT edge.rowid, edge.page, edge.link, link.promise, "
    "CASE WHEN link.found_on = edge.page THEN link.anchor END "
    "FROM edge JOIN link ON link.id = edge.link WHERE edge.rowid > ? "
    "ORDER BY edge.rowid LIMIT ?",
    {"source": "long", "target": "long", "promise": "double", "anchor": "string"},
)
TABLES = (NODES, EDGES)


def rows_after(
    db: sqlite3.Connection, table: GraphTable, place: int
) -> Iterator[tuple[int, list[Row]]]:
    """The rows of a table after a place, in batches, with the place of the last."""
    while found := db.execute(table.query, (place, GROUP)).fetchall():
        place = found[-1][0]
        yield place, [as_row(table, values) for _, *values in found]


def as_row(table: GraphTable, values: Sequence[Any]) -> Row:
    """A row by the names of its columns."""
    row = dict(zip(table.types, values, strict=True))
    if row.get("relevant") is not None:
        row["relevant"] = bool(row["relevant"])
    return row


def schema_of_graph(table: GraphTable) -> Any:
    """The types of the columns of a table, for Parquet."""
    arrow = require_pyarrow("writing Parquet")
    kinds = {
        "long": arrow.int64(),
        "string": arrow.string(),
        "double": arrow.float64(),
        "boolean": arrow.bool_(),
    }
    return arrow.schema([(name, kinds[kind]) for name, kind in table.types.items()])


class GraphMl:
    """Writes nodes, then edges, as GraphML."""

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on; a new one gets a head."""
        self.file = file
        if fresh:
            self.put(
                '<?xml version="1.0" encoding="UTF-8"?>\n'
                '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            )
            self.put("".join(keys_of("node", NODES) + keys_of("edge", EDGES)))
            self.put('<graph edgedefault="directed">\n')

    def write(self, rows: Sequence[Row]) -> None:
        """Write some nodes or edges."""
        self.put("".join(map(element, rows)))

    def put(self, text: str) -> None:
        """Write some text."""
        self.file.write(text.encode())

    def is_settled(self) -> bool:
        """Whether all rows so far are in the file."""
        return True

    def end(self) -> None:
        """Complete the file."""
        self.put("</graph>\n</graphml>\n")


def keys_of(owner: str, table: GraphTable) -> list[str]:
    """What GraphML has to know of the columns of a table."""
    return [
        f'<key id="{owner[0]}_{name}" for="{owner}" attr.name="{name}" '
        f'attr.type="{kind}"/>\n'
        for name, kind in table.types.items()
        if name not in ENDS
    ]


def element(row: Row) -> str:
    """A node or an edge."""
    if "id" in row:
        return f'<node id="n{row["id"]}">{data_of("n", row)}</node>\n'
    ends = f'source="n{row["source"]}" target="n{row["target"]}"'
    return f"<edge {ends}>{data_of('e', row)}</edge>\n"


def data_of(owner: str, row: Row) -> str:
    """The values of a node or an edge."""
    return "".join(
        f'<data key="{owner}_{name}">{as_xml(value)}</data>'
        for name, value in row.items()
        if value is not None and name not in ENDS
    )


def as_xml(value: object) -> str:
    """A value as XML text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(_not_xml("", str(value)), quote=False)
