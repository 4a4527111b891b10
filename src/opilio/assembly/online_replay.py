"""Crawls WARC files and fetches from the web what they lack (`--replay --online`).

What was fetched is added to the archive: not to the files the user gave, which are
never written to, but to one beside the first of them, `web.added.warc.gz` beside
`web.warc.gz`. Every later replay of `web.warc.gz` reads it too.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from isal import isal_zlib

from opilio.errors import NO_ROOM, BadInput, Unusable, full_disk
from opilio.fetch.http import HttpFetch, Keep
from opilio.fetch.replay import ReplayFetch, additions_to, with_additions
from opilio.records import Headers, Response
from opilio.settings import DocumentSettings
from opilio.store.warc_files import DESCRIPTION
from opilio.store.warc_records import pack_response, pack_warcinfo

MakeNetwork = Callable[[Keep], HttpFetch]
"""Makes what fetches from the network and reports each response."""

GZIP_MEMBER = 31  # zlib's `wbits` for data with gzip's head and checksum
CHUNK = 2**20


class Additions:
    """The file that takes what the archive lacked.

    Every response is written at once, so it survives the process. What a crash left
    incomplete at the end is cut off when the file is opened again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.added = 0
        try:
            self.file = path.open("ab", buffering=0)
        except OSError as error:
            raise BadInput(
                f"--online adds what it fetches to {path}, which cannot be written: "
                f"{error.strerror}; copy the archive to a folder of your own"
            ) from None
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            raise BadInput(
                f"another crawl is adding to {path}; wait until it ends, or give it "
                "and this one copies of the archive"
            ) from None
        self.length = whole_length(path)
        self.file.truncate(self.length)
        if not self.length:
            self._write(pack_warcinfo(path.name, time.time(), DESCRIPTION))

    def add(self, response: Response) -> int:
        """Append a response; returns where it begins."""
        offset = self.length
        self._write(pack_response(response))
        self.added += 1
        return offset

    def _write(self, records: bytes) -> None:
        """Append all of the records or none of them."""
        try:
            rest = memoryview(records)
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError as error:
            self.file.truncate(self.length)
            if error.errno in NO_ROOM:
                raise full_disk(self.path.parent, error) from error
            raise
        self.length += len(records)

    def close(self) -> None:
        """Close the file after writing it to the disk."""
        os.fsync(self.file.fileno())
        self.file.close()


def whole_length(path: Path) -> int:
    """The length of a file up to the end of its last complete gzip member."""
    whole = 0
    with path.open("rb") as file:
        data = file.read(CHUNK)
        while data:
            member, size = isal_zlib.decompressobj(GZIP_MEMBER), 0
            while data and not member.eof:
                try:
                    member.decompress(data)
                except isal_zlib.error:  # type: ignore[misc]
                    return whole
                size += len(data)
                data = member.unused_data or file.read(CHUNK)
            if not member.eof:
                break
            whole += size - len(member.unused_data)
    return whole


class OnlineReplay:
    """Answers from the archive, and from the web what it lacks."""

    def __init__(
        self, archive: ReplayFetch, additions: Additions, make_network: MakeNetwork
    ) -> None:
        self.archive = archive
        self.additions = additions
        self.network = make_network(self.keep)

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """The archived response of a URL; if there is none, that of the web."""
        if not self.archive.holds(url):
            return await self.network.fetch(url, validators)
        try:
            response = await self.archive.fetch(url)
        except Unusable as error:
            error.contacted = False  # so the host need not rest
            raise
        return msgspec.structs.replace(response, replayed=True)

    def keep(self, response: Response) -> None:
        """Add a response to the archive, which has it from now on."""
        offset = self.additions.add(response)
        self.archive.note(self.additions.path, response.url, offset)

    def through(self, network: HttpFetch) -> OnlineReplay:
        """The same archive in front of another way to the network."""
        return OnlineReplay(self.archive, self.additions, lambda keep: network)

    async def close(self) -> None:
        """Close the archive and every connection."""
        await self.archive.close()
        await self.network.close()
        self.additions.close()


def open_online(
    archives: Sequence[str], make_network: MakeNetwork, documents: DocumentSettings
) -> OnlineReplay:
    """Archives with the file beside the first of them that takes what they lack."""
    paths = [Path(name) for name in archives]
    additions = Additions(additions_to(paths[0]))
    archive = ReplayFetch(with_additions(paths), documents=documents)
    return OnlineReplay(archive, additions, make_network)
