"""Finds the complete records of WARC files that may be torn or damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

from isal import isal_zlib

from opilio.store.stored_responses import GZIP
from opilio.store.warc_files import OUR_FILES
from opilio.text.content import InflateError

CHUNK = 2**20


class WarcMember(NamedTuple):
    """One record of a WARC file."""

    offset: int
    length: int
    kind: bytes  # of record: response, request, …


def our_files(warcs: Path) -> list[Path]:
    """The WARC files that the crawl has written, in their order."""
    return [path for path in sorted(warcs.iterdir()) if OUR_FILES.fullmatch(path.name)]


def cut_torn_ends(warcs: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Cut WARC files after their last complete record; returns the length of each, and
    how many bytes were cut off those that were torn."""
    lengths: dict[str, int] = {}
    cut: dict[str, int] = {}
    for path in our_files(warcs):
        size, good = path.stat().st_size, 0
        for member in members(path):
            good = member.offset + member.length
        if good < size:
            os.truncate(path, good)
            cut[path.name] = size - good
        lengths[path.name] = good
    return lengths, cut


def members(path: Path) -> Iterator[WarcMember]:
    """The complete records of a file; after a damaged one, those that follow it."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        offset = 0
        while 0 <= offset < len(data):
            if found := member_at(data, offset):
                yield found
                offset += found.length
            else:  # look for the beginning of the next record
                offset = data.find(b"\x1f\x8b\x08", offset + 1)


def member_at(data: mmap, offset: int) -> WarcMember | None:
    """The record at a place of a file; None if there is none, or it is damaged."""
    unpacked = isal_zlib.decompressobj(GZIP)
    head, place = b"", offset
    try:
        while not unpacked.eof:
            piece = data[place : place + CHUNK]
            if not piece:
                return None
            out = unpacked.decompress(piece)
            head = head or out[:1000]
            place += len(piece)
    except InflateError:
        return None
    if not head.startswith(b"WARC/"):
        return None
    kind = head.partition(b"WARC-Type: ")[2].partition(b"\r\n")[0]
    return WarcMember(offset, place - len(unpacked.unused_data) - offset, kind)
