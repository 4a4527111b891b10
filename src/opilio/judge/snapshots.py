"""Stores what a judge learns from pages, so that it survives a restart.

The state of a judge takes megabytes, so the whole of it is written only now and then: a
snapshot. The pages since then are stored in chunks of `CHUNK` pages, of which only the
last is written again with each commit. After a restart the judge loads the snapshot
and learns again from the pages that followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from opilio.protocols import Learner

PAGES = 1024  # between two snapshots, at most
CHUNK = 16

P = TypeVar("P")


class Diary(Generic[P]):
    """The pages since the last snapshot, in chunks."""

    def __init__(self, kind: type[P], learn: Callable[[P], bool]) -> None:
        self.learn = learn  # learns from a page; True: a snapshot is due
        self.snapshots = 0  # number of snapshots before the pages in this diary
        self.noted: list[P] = []
        self.is_due = False
        self._written = [0] * (PAGES // CHUNK)  # stored pages of each chunk
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(tuple[int, list[kind]]).decode  # type: ignore[valid-type]

    def write(self, page: P) -> None:
        """Learn from a page, and add it to the diary."""
        self.noted.append(page)
        if self.learn(page) or len(self.noted) >= PAGES:
            self.is_due = True

    def begin(self, snapshots: int) -> None:
        """Start a new diary after the snapshot of this number."""
        self.snapshots = snapshots
        self.noted, self.is_due = [], False
        self._written = [0] * len(self._written)

    def chunks(self, name: str) -> Mapping[str, Learner]:
        """The parts that are stored separately, by name."""
        numbers = range(len(self._written))
        return {f"{name} {number:02}": Chunk(self, number) for number in numbers}

    def dump(self, number: int) -> bytes | None:
        """The pages of a chunk, if it has grown since it was stored."""
        noted = self.noted[number * CHUNK : (number + 1) * CHUNK]
        if len(noted) == self._written[number]:
            return None
        self._written[number] = len(noted)
        return self._encode((self.snapshots, noted))

    def load(self, number: int, kept: bytes) -> None:
        """Learn from the pages of a stored chunk, if they are after the snapshot."""
        snapshots, noted = self._decode(kept)
        if snapshots != self.snapshots:
            return
        for page in noted:
            self.write(page)
        self._written[number] = len(noted)


class Chunk:
    """Some pages of a diary."""

    def __init__(self, diary: Diary[P], number: int) -> None:
        self.diary = diary
        self.number = number

    def dump(self) -> bytes | None:
        """Its pages, if there are new ones."""
        return self.diary.dump(self.number)

    def load(self, learnt: bytes) -> None:
        """Restore an earlier dump."""
        self.diary.load(self.number, learnt)
