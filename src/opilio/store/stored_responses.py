"""Reads stored responses from a crawl's WARC files, and counts damaged ones.

If some bytes of a file are lost, thousands of its pages are still fine: damaged ones
are skipped and reported at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isal import isal_zlib

from opilio.errors import BadInput
from opilio.records import Response
from opilio.store.warc_files import damaged, file_in, read_bytes, read_record
from opilio.text.content import InflateError

MOST_NAMED = 5  # files
GZIP = 31  # zlib's number for this format, with checksums


class StoredResponses:
    """The records of a crawl's pages; counts those that cannot be read."""

    def __init__(self, warcs: Path) -> None:
        self.warcs = warcs
        self.lost: Counter[str] = Counter()  # of each file
        self.first = ""  # what is wrong with the first of them

    def response(self, name: str, offset: int, length: int) -> Response | None:
        """The response at this place; None if it cannot be read."""
        with self.counted(name):
            return read_record(self.warcs, name, offset, length)
        return None

    def raw(self, name: str, offset: int, length: int) -> bytes | None:
        """The raw bytes at this place; None if they are damaged."""
        with self.counted(name):
            path = file_in(self.warcs, name)
            records = read_bytes(path, offset, length)
            if trouble := fault_in(records):
                raise damaged(path, trouble)
            return records
        return None

    @contextmanager
    def counted(self, name: str) -> Iterator[None]:
        """Count damaged records of a file instead of raising."""
        try:
            yield
        except BadInput as error:
            self.lost[str(name)] += 1
            self.first = self.first or str(error)

    @property
    def trouble(self) -> str:
        """How many records of which files are lost, and the remedy; "" if none."""
        if not self.lost:
            return ""
        count = self.lost.total()
        records = "record" if count == 1 else "records"
        files = sorted(self.lost)
        if len(files) > MOST_NAMED:
            files[MOST_NAMED:] = [f"{len(files) - MOST_NAMED:,} more files"]
        named = ", ".join(files)
        return f"{count:,} {records} of {named} could not be read: {self.first}"


def fault_in(records: bytes) -> str:
    """Why these are not complete records, a gzip member each; "" if they are.

    `gzip.decompress` cannot be used: it takes zeros after a member for padding.
    """
    while records:
        member = isal_zlib.decompressobj(GZIP)
        try:
            is_record = member.decompress(records).startswith(b"WARC/")
        except InflateError as error:
            return str(error)
        if not (is_record and member.eof):
            return "it does not consist of complete records"
        records = member.unused_data
    return ""
