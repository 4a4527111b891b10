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
    MARKDOWN = "markdown"
    HUGGINGFACE = "huggingface"
    WARC = "warc"
    WACZ = "wacz"


SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".csv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".md": Format.MARKDOWN,
    ".warc": Format.WARC,
    ".wacz": Format.WACZ,
}
GZIP, ZSTANDARD = ".gz", ".zst"
COMPRESSED = {
    GZIP: (Format.JSONL, Format.CSV, Format.WARC),
    ZSTANDARD: (Format.JSONL, Format.CSV),
}


def choose_format(out: str, wanted: Format | None = None) -> Format:
    """The format to write to `out`; BadInput if file name and --format disagree.

    The suffix decides, before a final `.gz` or `.zst`. Without a suffix, and for
    standard output, it is JSON lines.
    """
    suffixes = [] if out == "-" else PurePath(out).suffixes
    last = suffixes[-1].lower() if suffixes else ""
    compressed = last if last in COMPRESSED else ""
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
    if compressed and chosen not in COMPRESSED[compressed]:
        raise BadInput(
            f"-o {out}: {chosen} is not compressed as a whole; remove the suffix "
            f"{compressed}"
        )
    return chosen
