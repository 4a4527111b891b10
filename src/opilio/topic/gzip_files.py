"""Reads files that may be gzipped, up to a size limit."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from opilio.errors import BadInput

MAX_BYTES = 256 * 2**20  # of an unpacked file
GZIP = b"\x1f\x8b"


def unpacked(path: Path) -> bytes:
    """The bytes of a file; dictzip's files (.dz) are gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
        file.seek(0)
        try:
            content = (gzip.GzipFile(fileobj=file) if packed else file).read(
                MAX_BYTES + 1
            )
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadInput(f"{path}: damaged gzip: {error}") from None
    if len(content) > MAX_BYTES:
        raise BadInput(f"{path}: more than {MAX_BYTES >> 20} MB; take a smaller one")
    return content


def file_beside(path: Path, *endings: str) -> Path:
    """The file of that name with the first of these suffixes that exists."""
    stem = str(path)
    for ending in (".gz", ".dz"):
        stem = stem.removesuffix(ending)
    stem = stem[: -len(Path(stem).suffix)] if Path(stem).suffix else stem
    for ending in endings:
        if (found := Path(stem + ending)).is_file():
            return found
    raise BadInput(f"{path}: there is no {Path(stem).name}{endings[0]} beside it")
