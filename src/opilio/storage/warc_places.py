"""Reads parts of WARC files wherever they are: in the folder of the crawl, in another
folder, or at a URL that fsspec can open.

A folder of WARC files may have a file places.json: for names of files that are not in
it, the path or URL where they are. Bytes from URLs are cached in blocks.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opilio.errors import BadInput
from opilio.storage.caches import note_use

PLACES = "places.json"
BLOCK = 2**22  # bytes that are fetched and cached together
MOST = 2**31  # bytes of the cache
LOOK_EVERY = 64  # new blocks between two looks at its size
EXTRAS = {"s3": "opilio[s3]", "s3a": "opilio[s3]"}

_written = 0


def read_at(path: Path, offset: int, length: int) -> bytes:
    """Bytes of a WARC file; fewer than asked for if it is too short. FileNotFoundError
    if nobody knows where it is."""
    if not path.is_file() and (place := read_places(path.parent).get(path.name)):
        if is_url(place):
            return read_url(place, offset, length)
        path = Path(place)
    with path.open("rb") as file:
        file.seek(offset)
        rest = os.fstat(file.fileno()).st_size - offset
        return file.read(max(0, min(length, rest)))


def is_url(place: str) -> bool:
    """Whether this is not a path.

    >>> is_url("s3://bucket/crawl"), is_url("/data/warc")
    (True, False)
    """
    return "://" in place


def read_places(folder: Path) -> dict[str, str]:
    """Where WARC files are that are not in their folder."""
    file = folder / PLACES
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        return {}
    return _places(str(file), changed)


@lru_cache(maxsize=16)
def _places(file: str, changed: int) -> dict[str, str]:
    found: dict[str, str] = json.loads(Path(file).read_bytes())
    return found


def write_places(folder: Path, places: dict[str, str]) -> None:
    """Note where WARC files are that are not in this folder."""
    draft = folder / f"{PLACES}.new"
    draft.write_text(json.dumps(places))
    draft.replace(folder / PLACES)


def open_files(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it; BadInput if there is none.

    Keys and passwords come from the environment or the configuration of the library
    behind it, never from the URL, which is stored with the crawl and shown.
    """
    parts = urlsplit(url)
    if parts.password or parts.query:
        raise BadInput(
            f"{parts.scheme}://{parts.hostname or ''}… must not contain a password or "
            "a query; give secrets in the environment (AWS_ACCESS_KEY_ID and so on)"
        )
    try:
        from fsspec.core import url_to_fs

        found: tuple[Any, str] = url_to_fs(url)
    except ImportError:
        extra = EXTRAS.get(parts.scheme, "")
        install = f"pip install '{extra}'" if extra else "see fsspec's documentation"
        raise BadInput(
            f"{parts.scheme}:// needs a library that is not installed: {install}"
        ) from None
    except ValueError as error:
        raise BadInput(f"{url} cannot be used: {error}") from None
    return found


def read_url(url: str, offset: int, length: int) -> bytes:
    """Bytes of a file at a URL, which never changes; cached."""
    first, last = offset // BLOCK, (offset + max(length, 1) - 1) // BLOCK
    found = b"".join(block_of(url, number) for number in range(first, last + 1))
    start = offset - first * BLOCK
    return found[start : start + length]


def block_of(url: str, number: int) -> bytes:
    """One block of a file; fetched once. A file that grew since has a longer last
    block, so a short one is fetched again."""
    from xxhash import xxh3_128_hexdigest

    file = cache_folder() / f"{xxh3_128_hexdigest(url.encode())}-{number}"
    with suppress(OSError):
        known = file.read_bytes()
        if len(known) == BLOCK:
            note_use(file)
            return known
    files, path = open_files(url)
    try:
        block: bytes = files.cat_file(path, number * BLOCK, (number + 1) * BLOCK)
    except FileNotFoundError:
        raise
    except Exception as error:  # the libraries behind fsspec raise what they like
        raise OSError(f"{url} cannot be read: {type(error).__name__}") from error
    with suppress(OSError):
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_bytes(block)
        draft.replace(file)
        keep_small()
    return block


def cache_folder() -> Path:
    """Where blocks are cached."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "opilio" / "warc-blocks"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_small() -> None:
    """Delete the blocks that were used longest ago, now and then."""
    global _written
    _written += 1
    if _written % LOOK_EVERY:
        return
    with os.scandir(cache_folder()) as found:
        files = [
            (file.stat().st_mtime, file.stat().st_size, file.path) for file in found
        ]
    left = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if left <= MOST:
            return
        with suppress(OSError):
            Path(file).unlink()
        left -= size
