"""Files and folders that get their name when they are complete, and can be continued.

Until then they are beside their place, with a dot before and `.part` after the name. A
note says how far they are. The same export finds it and resumes there; any other
starts over.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from opilio.errors import BadInput
from opilio.store.corpus.dataset_card import DatasetFacts

CHUNK = 2**20


class ExportNote(msgspec.Struct, kw_only=True):
    """How far an export is."""

    key: str  # which export it is
    pages: int = 0  # of those chosen, that are dealt with
    written: int = 0
    shard: int = 0
    size: int = 0  # bytes of that shard
    left_out: dict[str, int] = {}  # reason -> pages
    facts: DatasetFacts | None = None  # for the card of a dataset
    last: list[int] = []  # of a graph: the last rows of nodes and edges that are there


class OutputFiles:
    """The file, the shards or the folder that an export writes."""

    def __init__(self, out: str, key: str, *, shards: int = 1, folder: bool) -> None:
        self.path = Path(out).resolve()  # a symbolic link stays one
        self.is_folder = folder
        self.shards = shards
        if self.path.is_dir() and not folder:
            raise BadInput(f"{out} is a folder; name a file")
        if folder and self.path.exists() and not is_empty(self.path):
            raise BadInput(f"{out} exists already; remove it, or name another folder")
        self.part = self.path.with_name(f".{self.path.name}.part")
        self.note_file = self.path.with_name(f".{self.path.name}.part.json")
        self.index_file = self.path.with_name(f".{self.path.name}.part.index")
        try:
            self.note_file.touch()
            self.lock_file = self.note_file.open("r+b", buffering=0)
        except OSError as error:
            raise BadInput(f"{out} cannot be written: {error.strerror}") from None
        self.lock(out)
        self.note = self.found(key)

    def lock(self, out: str) -> None:
        """Let no other export write the same."""
        try:
            fcntl.flock(self.lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.lock_file.close()
            raise BadInput(
                f"another export is writing {out}; wait for it, or name another file"
            ) from None

    def found(self, key: str) -> ExportNote:
        """The note of the same export, if it was interrupted, or a new one."""
        self.lock_file.seek(0)
        try:
            told = self.lock_file.readline()  # what follows is of an older note
            note = msgspec.json.decode(told, type=ExportNote)
        except msgspec.DecodeError:
            note = ExportNote(key="")
        if note.key == key and all(map(Path.exists, self.parts()[: note.shard])):
            return note
        self.clear()
        return ExportNote(key=key)

    def parts(self) -> list[Path]:
        """The unfinished file of each shard; for a folder, the folder alone."""
        if self.shards == 1 or self.is_folder:
            return [self.part]
        return [self.part.with_name(f".{path.name}.part") for path in self.finals()]

    def finals(self) -> list[Path]:
        """The files as they will be named."""
        if self.shards == 1 or self.is_folder:
            return [self.path]
        stem, dot, suffixes = self.path.name.partition(".")
        return [
            self.path.with_name(
                f"{stem}-{number:05}-of-{self.shards:05}{dot}{suffixes}"
            )
            for number in range(self.shards)
        ]

    @contextmanager
    def shard(self, number: int) -> Iterator[BinaryIO]:
        """The file of a shard, at the place where it is to be continued."""
        with self.opened(self.parts()[number], number) as file:
            yield file

    @contextmanager
    def opened(self, path: Path, number: int) -> Iterator[BinaryIO]:
        """A file that belongs to a shard, whole and safe on disk afterwards."""
        goes_on = self.note.shard == number and self.note.size
        with path.open("r+b" if goes_on else "w+b", CHUNK) as file:
            if goes_on:
                file.truncate(self.note.size)
                file.seek(self.note.size)
            yield file
            file.flush()
            os.fsync(file.fileno())

    def save_note(self) -> None:
        """Note how far the export is."""
        # At once, so that there is a whole note whenever the process is killed.
        self.lock_file.seek(0)
        self.lock_file.write(msgspec.json.encode(self.note) + b"\n")

    def finish(self) -> None:
        """Give the files their names."""
        for part, final in zip(self.parts(), self.finals(), strict=True):
            if self.is_folder and final.exists():
                final.rmdir()
            part.replace(final)
        self.index_file.unlink(missing_ok=True)
        self.note_file.unlink(missing_ok=True)
        self.lock_file.close()

    def clear(self) -> None:
        """Delete what an export that is not continued has left."""
        for path in (*self.parts(), self.index_file):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the lock; what was written stays, to be continued."""
        self.lock_file.close()


def is_empty(path: Path) -> bool:
    """Whether this is a folder without anything in it."""
    return path.is_dir() and not any(path.iterdir())


def is_stream(out: str) -> bool:
    """Whether the output is standard output, a pipe or a device."""
    path = Path(out)
    return out == "-" or (path.exists() and not path.is_file() and not path.is_dir())


@contextmanager
def stream(out: str) -> Iterator[BinaryIO]:
    """Standard output, a pipe or a device: written to, never replaced."""
    if out != "-":
        with Path(out).open("wb") as device:
            yield device
        return
    if sys.stdout is None:
        raise BadInput("standard output is closed; name a file with -o FILE")
    yield cast(BinaryIO, sys.stdout.buffer)
    sys.stdout.buffer.flush()


@contextmanager
def whole_file(out: str) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete; "-" is standard output."""
    if is_stream(out):
        with stream(out) as file:
            yield file
        return
    path = Path(out).resolve()
    if path.is_dir():
        raise BadInput(f"{out} is a folder; name a file")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        file = draft.open("wb", buffering=CHUNK)
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}") from None
    try:
        with file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
