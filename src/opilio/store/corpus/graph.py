"""Writes the pages and links of a crawl as a graph: GraphML, or two Parquet files."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from opilio.store.corpus.pyarrow_needed import require_pyarrow

FORMATS = ("graphml", "parquet")
GROUP = 10_000  # rows of a row group
NODES = """
    SELECT link.id, url, state, reason, promise, link.depth, title, score, relevant
    FROM link LEFT JOIN page USING (id) ORDER BY link.id
"""
EDGES = """
    SELECT edge.page AS source, edge.link AS target, link.promise,
           CASE WHEN link.found_on = edge.page THEN link.anchor END AS anchor
    FROM edge JOIN link ON link.id = edge.link ORDER BY edge.rowid
"""
NODE_TYPES = {
    "id": "long",
    "url": "string",
    "state": "string",
    "reason": "string",
    "promise": "double",
    "depth": "long",
    "title": "string",
    "score": "double",
    "relevant": "boolean",
}
EDGE_TYPES = {
    "source": "long",
    "target": "long",
    "promise": "double",
    "anchor": "string",
}
_not_xml = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").sub

Tell = Callable[[int, int], None]


def write_graphml(db: sqlite3.Connection, file: BinaryIO, tell: Tell) -> int:
    """Write the graph as GraphML; returns the number of links."""

    def put(text: str) -> None:
        file.write(text.encode())

    put(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    )
    for owner, types in (("node", NODE_TYPES), ("edge", EDGE_TYPES)):
        for name, kind in types.items():
            if name not in ("id", "source", "target"):
                put(
                    f'<key id="{owner[0]}_{name}" for="{owner}" attr.name="{name}" '
                    f'attr.type="{kind}"/>\n'
                )
    put('<graph edgedefault="directed">\n')
    for row in counted(db, NODES, "link", tell):
        values = dict(zip(NODE_TYPES, row, strict=True))
        put(f'<node id="n{values.pop("id")}">{data_of("n", values)}</node>\n')
    count = 0
    for row in db.execute(EDGES):
        values = dict(zip(EDGE_TYPES, row, strict=True))
        ends = f'source="n{values.pop("source")}" target="n{values.pop("target")}"'
        put(f"<edge {ends}>{data_of('e', values)}</edge>\n")
        count += 1
    put("</graph>\n</graphml>\n")
    return count


def data_of(owner: str, values: dict[str, Any]) -> str:
    """The attributes of a node or an edge."""
    return "".join(
        f'<data key="{owner}_{name}">{as_xml(name, value)}</data>'
        for name, value in values.items()
        if value is not None
    )


def as_xml(name: str, value: object) -> str:
    """A value as XML text."""
    if name == "relevant":
        return "true" if value else "false"
    return escape(_not_xml("", str(value)), quote=False)


def write_graph_tables(db: sqlite3.Connection, folder: Path, tell: Tell) -> int:
    """Write nodes.parquet and edges.parquet; returns the number of links."""
    nodes = counted(db, NODES, "link", tell)
    write_table(folder / "nodes.parquet", NODE_TYPES, nodes)
    return write_table(folder / "edges.parquet", EDGE_TYPES, db.execute(EDGES))


def write_table(
    path: Path, types: dict[str, str], rows: Iterator[Sequence[Any]]
) -> int:
    """Write rows of these types as Parquet; returns how many."""
    arrow = require_pyarrow("writing Parquet")
    from pyarrow import parquet

    kinds = {
        "long": arrow.int64(),
        "string": arrow.string(),
        "double": arrow.float64(),
        "boolean": arrow.bool_(),
    }
    schema = arrow.schema([(name, kinds[kind]) for name, kind in types.items()])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := [row for row, _ in zip(rows, range(GROUP), strict=False)]:
            columns = [
                arrow.array(
                    [None if v is None else bool(v) for v in values]
                    if kind == arrow.bool_()
                    else values,
                    kind,
                )
                for values, kind in zip(
                    zip(*some, strict=True), schema.types, strict=True
                )
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            count += len(some)
    return count


def counted(
    db: sqlite3.Connection, query: str, table: str, tell: Tell
) -> Iterator[Sequence[Any]]:
    """The rows of a query; tells how many of those of a table are done."""
    [total] = db.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    for number, row in enumerate(db.execute(query)):
        if number % GROUP == 0:
            tell(number, total)
        yield row
