"""Writes pages as a folder of Markdown files, one per page, with front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from opilio.store.corpus.columns import ExportRow

PER_FOLDER = 1000  # files
LONGEST_NAME = 60  # characters

_plain = re.compile(r"[^\w]+").sub
# What YAML would not take as it is. JSON strings are YAML, but for these.
_breaks = str.maketrans({"\u2028": " ", "\u2029": " ", "\x85": " ", "\x7f": " "})


class MarkdownFiles:
    """A file per page, named by its rank and title."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.fields = [name for name in fields if name not in ("text", "markdown")]

    def write(self, folder: Path, rank: int, row: ExportRow) -> None:
        """Write the file of one page."""
        place = folder / f"{rank // PER_FOLDER:04}"
        place.mkdir(parents=True, exist_ok=True)
        name = _plain("-", (row["title"] or "page").lower()).strip("-")[:LONGEST_NAME]
        head = "".join(
            f"{field}: {as_yaml(row[field])}\n"
            for field in self.fields
            if row[field] not in (None, [], {})
        )
        body = row["markdown"] if row["markdown"] is not None else row["text"] or ""
        path = place / f"{rank:07}-{name or 'page'}.md"
        path.write_text(f"---\n{head}---\n\n{body}\n", encoding="utf-8")


def as_yaml(value: object) -> str:
    """A value as YAML: JSON, which is a part of it."""
    return msgspec.json.encode(value).decode().translate(_breaks)
