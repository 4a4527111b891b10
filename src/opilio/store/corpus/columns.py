"""The columns of an exported page, and the row of one page."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

import msgspec

from opilio.errors import BadInput, did_you_mean
from opilio.records import Extraction

ExportRow = dict[str, Any]


class ColumnKind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    TEXTS = "list of texts"
    NUMBER = "number"
    INTEGER = "integer"
    FLAG = "true or false"
    TIME = "time in UTC"
    DATE = "date"
    SHARES = "name to number"
    WORDS = "name to text"


COLUMNS: Mapping[str, ColumnKind] = {
    "url": ColumnKind.TEXT,
    "final_url": ColumnKind.TEXT,
    "canonical": ColumnKind.TEXT,
    "title": ColumnKind.TEXT,
    "text": ColumnKind.TEXT,
    "markdown": ColumnKind.TEXT,
    "language": ColumnKind.TEXT,
    "authors": ColumnKind.TEXTS,
    "published": ColumnKind.DATE,
    "modified": ColumnKind.DATE,
    "description": ColumnKind.TEXT,
    "site": ColumnKind.TEXT,
    "image": ColumnKind.TEXT,
    "licences": ColumnKind.TEXTS,
    "types": ColumnKind.TEXTS,
    "score": ColumnKind.NUMBER,
    "relevant": ColumnKind.FLAG,
    "state": ColumnKind.TEXT,
    "parts": ColumnKind.SHARES,
    "words": ColumnKind.INTEGER,
    "depth": ColumnKind.INTEGER,
    "parent": ColumnKind.TEXT,
    "anchor": ColumnKind.TEXT,
    "fetched_at": ColumnKind.TIME,
    "status": ColumnKind.INTEGER,
    "content_hash": ColumnKind.TEXT,
    "cluster": ColumnKind.INTEGER,
    "copies": ColumnKind.INTEGER,
    "usage": ColumnKind.WORDS,
    "document": ColumnKind.TEXT,
    "pages": ColumnKind.INTEGER,
    "warc": ColumnKind.TEXT,
    "warc_offset": ColumnKind.INTEGER,
    "warc_length": ColumnKind.INTEGER,
}
# Columns for which the main text of a page must be known.
FROM_CONTENT = frozenset(
    (
        *("canonical", "title", "text", "markdown", "authors", "published", "modified"),
        *("description", "site", "image", "licences", "types", "words", "usage"),
        "pages",
    )
)
UNSIGNED = 2**64


def check_fields(fields: Sequence[str] | None) -> tuple[str, ...]:
    """The columns to write; BadInput for one that there is not."""
    if not fields:
        return tuple(COLUMNS)
    for name in fields:
        if name not in COLUMNS:
            raise BadInput(
                f"--fields: there is no column {name!r}; {did_you_mean(name, COLUMNS)}"
                f"the columns are {', '.join(COLUMNS)}"
            )
    return tuple(dict.fromkeys(fields))


def as_row(
    row: sqlite3.Row, content: Extraction | None, usage: Mapping[str, str]
) -> ExportRow:
    """All columns of one page; without its content if its record cannot be read."""
    found = content or Extraction()
    return {
        "url": row["linked"],
        "final_url": row["url"],
        "canonical": found.canonical or None,
        "title": found.title or row["title"] or None,
        "text": found.text if content else None,
        "markdown": found.markdown if content else None,
        "language": row["language"] or None,
        "authors": list(found.authors),
        "published": day_of(found.published),
        "modified": day_of(found.modified),
        "description": found.description or None,
        "site": found.site or None,
        "image": found.image or None,
        "licences": list(found.licences),
        "types": list(found.types),
        "score": row["score"],
        "relevant": bool(row["relevant"]),
        "state": row["state"],
        "parts": msgspec.json.decode(row["parts"] or "{}"),
        "words": len(found.text.split()) if content else row["words"],
        "depth": row["depth"],
        "parent": row["parent"],
        "anchor": row["anchor"] or None,
        "fetched_at": datetime.fromtimestamp(row["fetched_at"], UTC),
        "status": row["status"],
        "content_hash": content_hash(row["content"]),
        "cluster": row["id"],
        "copies": row["copies"],
        "usage": dict(usage),
        "document": row["mime"] or None,
        "pages": found.pages or None,
        "warc": row["warc"],
        "warc_offset": row["warc_offset"],
        "warc_length": row["warc_length"],
    }


def day_of(text: str) -> date | None:
    """A date; None if there is none."""
    return date.fromisoformat(text) if text else None


def content_hash(fingerprint: int | None) -> str | None:
    """The fingerprint of a body (xxh3, 64 bits) in hexadecimal."""
    return None if fingerprint is None else f"{fingerprint % UNSIGNED:016x}"
