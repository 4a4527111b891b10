"""A log of queries in; those that have come since the last look out.

A query a line, in UTF-8 (a line that is not is read as Windows-1252). After a tab may
follow how often it was asked; further fields are passed over:

    lok sabha polls 2014
    lok sabha polls 2014 dates	12

How far a log was read is a `Place`: a number of bytes, and a mark of what stands just
before. The log has

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

LONGEST = 4096  # bytes of a line; nobody types longer queries
MARK = 1024  # bytes by which a place is known again
MOST = 10**9  # times one line may say that a query was asked
BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class LoggedQuery(NamedTuple):
    """What was asked, and how often."""

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
        self.too_long = 0  # lines of the last look that were passed over
        self._seen: tuple[int, ...] = ()

    def require(self) -> QueryLogFile:
        """The log itself; BadInput if there is nothing in it to read."""
        if not self.path.exists():
            raise BadInput(
                f"{self.path} does not exist; name a text file, a query a line"
            )
        if not self.path.is_file():
            raise BadInput(f"{self.path} is no file; name a text file, a query a line")
        try:
            with self.path.open("rb") as file:
                head = file.read(MARK)
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read: {error.strerror}") from None
        if head.startswith(UTF_16) or b"\0" in head:
            raise BadInput(f"{self.path} is no text in UTF-8; save it as that")
        if not head.strip():
            raise BadInput(f"{self.path} is empty; write a query a line into it")
        return self

    def grown(self) -> bool:
        """Whether new queries may be there; costs one look at the file's entry."""
        try:
            return entry(self.path.stat()) != self._seen
        except OSError:
            return False  # between two files, when logs are rotated

    def new(self) -> Iterator[LoggedQuery]:
        """The queries since the last time; once all are taken, the place is theirs.

        A last line without its end is being written, and left for the next time. Only
        the first time it is a query: many files end so.
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
    """What changes when a file does."""
    return status.st_size, status.st_mtime_ns, status.st_ino


def continues(file: BinaryIO, place: LogPosition) -> bool:
    """Whether this is the file that was read up to the place."""
    size = os.fstat(file.fileno()).st_size
    return size >= place.offset and mark_before(file, place.offset) == place.mark


def mark_before(file: BinaryIO, offset: int) -> int:
    """A hash of what stands just before an offset; 0 at the beginning."""
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
