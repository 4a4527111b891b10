"""Reads new queries from a growing query log.

There is one query per line, in UTF-8 (other lines are read as Windows-1252). A tab and
the number of times it was asked may follow; further fields are ignored:

    lok sabha polls 2014
    lok sabha polls 2014 dates	12

How far a log was read is a `LogPosition`: a number of bytes, and a mark, the hash of
the bytes just before it. The log has

1. the same mark there: it has grown, and what follows is new;
2. another, or it is shorter: it was rotated, truncated or replaced, and all is new.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from xxhash import xxh3_64_intdigest

from opilio.errors import BadInput

LONGEST = 4096  # bytes of a line; longer ones are not queries
MARK = 1024  # bytes by which a position is recognised
MOST = 10**9  # the largest count of a line
BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class LoggedQuery(NamedTuple):
    """A query and its count."""

    text: str
    times: int = 1


class LogPosition(msgspec.Struct, frozen=True):
    """How far a log was read."""

    offset: int = 0  # bytes
    mark: int = 0  # hash of what stands just before
    inside: bool = False  # in a line whose beginning was taken as a query


START = LogPosition()


class QueryLogFile:
    """A file that others write to, read as it grows; `place` says how far."""

    def __init__(self, path: Path, place: LogPosition = START) -> None:
        self.path = path
        self.place = place
        self.too_long = 0  # skipped lines of the last read
        self._seen: tuple[int, ...] = ()

    def require(self) -> QueryLogFile:
        """The log itself; BadInput if it has nothing to read."""
        if not self.path.exists():
            raise BadInput(
                f"{self.path} does not exist; name a text file, one query per line"
            )
        if not self.path.is_file():
            raise BadInput(
                f"{self.path} is not a file; name a text file, one query per line"
            )
        try:
            with self.path.open("rb") as file:
                head = file.read(MARK)
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read: {error.strerror}") from None
        if head.startswith(UTF_16) or b"\0" in head:
            raise BadInput(f"{self.path} is not text in UTF-8; save it as UTF-8")
        if not head.strip():
            raise BadInput(f"{self.path} is empty; write one query per line")
        return self

    def grown(self) -> bool:
        """Whether there may be new queries; only needs one stat of the file."""
        try:
            return entry(self.path.stat()) != self._seen
        except OSError:
            return False  # between two files, when logs are rotated

    def new(self) -> Iterator[LoggedQuery]:
        """The queries since the last time; the position moves once all are consumed.

        A last line without a line break is still being written, and left for the next
        time; only the first time it counts as a query, because many files end like
        that.
        """
        self.too_long = 0
        try:
            file = self.path.open("rb")
        except OSError:
            return
        with file:
            seen = entry(os.fstat(file.fileno()))
            place = self.place if continues(file, self.place) else START
            file.seek(place.offset)
            inside = place.inside
            offset = place.offset
            for line, size, whole in lines(file):
                if not whole and place.offset:
                    break
                offset += size
                self.too_long += not line
                if not inside and (query := parse(line)):
                    yield query
                inside = not whole
            self.place = LogPosition(offset, mark_before(file, offset), inside)
            self._seen = seen


def entry(status: os.stat_result) -> tuple[int, ...]:
    """The stat values that change when a file changes."""
    return status.st_size, status.st_mtime_ns, status.st_ino


def continues(file: BinaryIO, place: LogPosition) -> bool:
    """Whether this is the file that was read up to the place."""
    size = os.fstat(file.fileno()).st_size
    return size >= place.offset and mark_before(file, place.offset) == place.mark


def mark_before(file: BinaryIO, offset: int) -> int:
    """A hash of the bytes just before an offset; 0 at the beginning."""
    if not offset:
        return 0
    start = max(offset - MARK, 0)
    file.seek(start)
    return xxh3_64_intdigest(file.read(offset - start)) >> 1


def lines(file: BinaryIO) -> Iterator[tuple[bytes, int, bool]]:
    """Each line from here on, empty if too long; its size; whether it has an end."""
    while line := file.readline(LONGEST):
        size, whole = len(line), line.endswith(b"\n")
        while not whole and (more := file.readline(LONGEST)):
            line = b""
            size, whole = size + len(more), more.endswith(b"\n")
        yield line, size, whole


def parse(line: bytes) -> LoggedQuery | None:
    """The query of a line; None if there is none."""
    line = line.removeprefix(BOM)
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("cp1252", "replace")
    query, _, rest = text.partition("\t")
    query, times = query.strip(), 1
    if rest:
        number = rest.partition("\t")[0].strip()
        if number.isascii() and number.isdigit():
            times = min(int(number), MOST)
    return LoggedQuery(query, times) if query and times else None
