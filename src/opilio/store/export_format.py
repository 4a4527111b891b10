"""Chooses the format of an export from its file name and --format."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePath

from opilio.errors import BadInput


class Format(StrEnum):
    """The formats that pages are exported in."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    WARC = "warc"


SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".csv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".warc": Format.WARC,
}
GZIP = ".gz"


def choose_format(out: str, wanted: Format | None = None) -> Format:
    """The format to write to `out`; BadInput if file name and --format disagree.

    The suffix decides, before a final `.gz`. Without a suffix, and for standard output,
    it is JSON lines.
    """
    suffixes = [] if out == "-" else PurePath(out).suffixes
    compressed = bool(suffixes) and suffixes[-1].lower() == GZIP
    if compressed:
        suffixes.pop()
    suffix = suffixes[-1].lower() if suffixes else ""
    named = SUFFIXES.get(suffix)
    if named and wanted and named is not wanted:
        raise BadInput(
            f"-o {out} names a {named} file, but --format asks for {wanted}; remove "
            "--format or change the suffix"
        )
    if suffix and not named and not wanted:
        raise BadInput(
            f"-o {out}: unknown format {suffix}; use "
            f"{', '.join(SUFFIXES)}, or give --format"
        )
    chosen = wanted or named or Format.JSONL
    if compressed and chosen is Format.PARQUET:
        raise BadInput(
            f"-o {out}: Parquet is already compressed; remove the suffix {GZIP}"
        )
    return chosen


def is_compressed(out: str) -> bool:
    """Whether the file name asks for gzip."""
    return out.lower().endswith(GZIP)
