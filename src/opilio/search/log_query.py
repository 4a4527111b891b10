"""Appends a search to the query log that the crawl follows."""

from __future__ import annotations

import os
from pathlib import Path

LONGEST = 1000  # characters


def log_query(path: Path, words: str) -> None:
    """Append a query in one write, because others may append at the same time."""
    line = " ".join(words.split())[:LONGEST]
    if not line:
        return
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, f"{line}\n".encode("utf-8", "replace"))
    finally:
        os.close(handle)
