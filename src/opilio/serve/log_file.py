"""Reads the end of the log file of processes that the server has started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

LAST_LINES = 12
TAIL = 8_000  # bytes
ERROR = "opilio: "  # what the line of an error begins with


def failed_with(lines: Sequence[str]) -> bool:
    """Whether the last lines of a log have an error of `opilio`."""
    return any(ERROR in line for line in lines)


def last_lines(log: Path) -> list[str]:
    """The end of a log file, without lines of progress."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    told = [line for line in text.splitlines() if line.strip() and line[:1] != "{"]
    return told[-LAST_LINES:]


def error_since(log: Path, start: float) -> str:
    """The error that a process ended with, if it wrote to the log after a time."""
    try:
        if log.stat().st_mtime < start:
            return ""
    except OSError:
        return ""
    told = [line.partition(ERROR)[2] for line in last_lines(log) if ERROR in line]
    return told[-1] if told else ""
