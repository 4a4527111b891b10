"""Where finished WARC files of a crawl on many machines stay: a folder, or any URL that
fsspec can write to.

A part is copied under its final name, and only then entered in the table `part`. So
nobody reads one that is not whole; a copy that was interrupted is made again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from opilio.cluster.common import set_once
from opilio.errors import BadInput, OpilioError
from opilio.storage.warc_places import is_url, open_files
from opilio.store.warc_files import sync_folder

if TYPE_CHECKING:
    import psycopg

CRAWL = "crawl"  # setting: a name that no other crawl has
AT_ONCE = 2**20  # bytes that are copied together
# They have no folders, and must not make a bucket because a name is misspelt.
OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss")


def crawl_id(db: psycopg.Connection) -> str:
    """The name by which the WARC files of this crawl are told from those of others."""
    return set_once(db, CRAWL, secrets.token_hex(6).encode()).decode()


class PartTarget:
    """A folder or URL for the WARC files of one crawl."""

    def __init__(self, place: str, crawl: str) -> None:
        self.is_url = is_url(place)
        if self.is_url:
            open_files(place)  # raises BadInput
        elif not Path(place).is_absolute():
            raise BadInput(
                f"[store] warc = {place!r} means another folder on each machine; write "
                "a whole path that all machines have, or a URL"
            )
        self.place = f"{place.rstrip('/')}/{crawl}"

    def add(self, source: Path, name: str, length: int) -> str:
        """Copy the beginning of a file, durably; returns its place. A copy that is
        there already is kept: parts never change."""
        place = f"{self.place}/{name}"
        copied = self._to_url if self.is_url else self._to_folder
        if copied(source, place, length) != length:
            raise OpilioError(f"{place} is not as long as {source}; it is copied again")
        return place

    def find(self, name: str, length: int) -> str:
        """The place of a part that is there already; "" if it is not."""
        place = f"{self.place}/{name}"
        if not self.is_url:
            path = Path(place)
            return place if path.exists() and path.stat().st_size == length else ""
        files, path_there = open_files(place)
        try:
            files.invalidate_cache()
            is_there = files.exists(path_there) and files.size(path_there) == length
        except Exception as error:  # the libraries behind fsspec raise what they like
            raise unreachable(place, error) from error
        return place if is_there else ""

    def _to_folder(self, source: Path, place: str, length: int) -> int:
        target = Path(place)
        if not target.exists() or target.stat().st_size != length:
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(f"{target.name}.new")
            with draft.open("wb") as copy:
                for some in beginning(source, length):
                    copy.write(some)
                copy.flush()
                os.fsync(copy.fileno())
            draft.replace(target)
            sync_folder(target.parent)
        return target.stat().st_size

    def _to_url(self, source: Path, place: str, length: int) -> int:
        files, path = open_files(place)
        try:
            files.invalidate_cache()
            if not files.exists(path) or files.size(path) != length:
                if urlsplit(place).scheme not in OBJECT_STORES:
                    files.makedirs(files._parent(path), exist_ok=True)
                with files.open(path, "wb") as copy:
                    for some in beginning(source, length):
                        copy.write(some)
                files.invalidate_cache()
            return int(files.size(path))
        except Exception as error:  # the libraries behind fsspec raise what they like
            raise unreachable(place, error) from error


def unreachable(place: str, error: Exception) -> OpilioError:
    """The error for a place that does not work. What libraries say of it is not shown:
    it may hold addresses with signatures."""
    return OpilioError(
        f"{place} cannot be reached ({type(error).__name__}); check the address and "
        "the credentials in the environment"
    )


def beginning(source: Path, length: int) -> Iterator[bytes]:
    """The first bytes of a file, in pieces."""
    with source.open("rb") as file:
        yield from pieces(file, length)


def pieces(file: BinaryIO, length: int) -> Iterator[bytes]:
    """So many bytes of an open file, or fewer if it ends before."""
    while length and (some := file.read(min(AT_ONCE, length))):
        yield some
        length -= len(some)
