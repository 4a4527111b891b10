"""Reads the example pages that a topic names, as if they had just been fetched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opilio.errors import BadInput
from opilio.records import Response

MOST_EXAMPLES = 1000
MOST_BYTES = 10 * 2**20  # of one example


def read_examples(patterns: Sequence[str]) -> list[Response]:
    """The files that the patterns match; BadInput if one matches none."""
    found: list[Response] = []
    for pattern in patterns:
        paths = [path for name in named(Path(pattern)) for path in files_in(name)]
        if not paths:
            raise BadInput(f"[examples] {pattern}: there is no such file; check it")
        found += map(read_example, paths)
    if len(found) > MOST_EXAMPLES:
        raise BadInput(
            f"[examples] names {len(found)} pages; at most {MOST_EXAMPLES} are read"
        )
    return found


def named(pattern: Path) -> list[Path]:
    """The path itself, or those that match it as a pattern."""
    if pattern.exists():
        return [pattern]
    return sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))


def files_in(path: Path) -> list[Path]:
    """The file itself, or the files of a folder."""
    return sorted(filter(Path.is_file, path.iterdir())) if path.is_dir() else [path]


def read_example(path: Path) -> Response:
    """A saved page, as if it had just been fetched."""
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise BadInput(
                f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are read"
            )
        body = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    url = f"http://example.invalid/{path.name}"
    return Response(url, 200, [("content-type", "text/html")], body, 0.0)
