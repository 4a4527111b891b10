"""The search index on disk: segments made from the table `indexed` of crawl.db.

The table is authoritative: a page gets its entry in the transaction that stores the
page, so a crash cannot separate the two. The folder `index` is made from it, entry by
entry, and its list says up to which entry. Later entries are read from the table when
the index is opened. So a page is found as soon as it is committed, and the folder may
be behind, deleted or damaged at any time.
"""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.search.segment import (
    Damaged,
    IndexEntry,
    Postings,
    Segment,
    Stamps,
    Without,
    check_segment,
    everything,
    make_segment,
    open_segment,
    save_segment,
)
from opilio.search.vocabulary import beginning_with
from opilio.text.word_sequence import Words

FEW = 256  # entries; fewer are read from the table by each search
MANY = 4096  # entries of a segment that is not merged any more
FORMAT = 3  # of segments; those of another format are rebuilt
ATTEMPTS = 5  # to open segments that another process may be replacing

ENTRIES = """
    SELECT entry, page.id, host, coalesce(language, ''), coalesce(score, 0.0),
           fetched_at, indexed.words, features,
           coalesce(title, '') || ' ' || coalesce(anchor, '')
    FROM indexed JOIN page ON page.id = indexed.page JOIN link USING (id)
    WHERE entry > ? AND entry <= ? ORDER BY entry
"""


class Range(msgspec.Struct, frozen=True):
    """The entries of a segment, those after `first` up to `last`, and its files."""

    first: int
    last: int
    files: Stamps

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.first + 1}-{self.last}"


class Listed(msgspec.Struct, frozen=True):
    """The list of segments, and the filter by which words were left out."""

    segments: list[Range] = []
    without: int = 0
    format: int = 1  # in lists that do not say

    @property
    def last(self) -> int:
        """The last entry of them all."""
        return self.segments[-1].last if self.segments else 0


class KeptEntries(NamedTuple):
    """A filter of words for the postings, and a number that identifies it."""

    without: Without = everything
    number: int = 0


class Index:
    """All entries of a crawl, as of the last `refresh`."""

    def __init__(
        self, db: sqlite3.Connection, folder: Path, kept: KeptEntries | None = None
    ) -> None:
        self.db = db
        self.folder = folder
        self.kept = kept or KeptEntries()
        self.listed: Listed | None = None
        self.newest = -1
        self.is_damaged = False  # then only the table is used
        self.stored: list[Segment] = []
        self.segments: list[Segment] = []
        self.refresh()

    def refresh(self) -> None:
        """Load new entries."""
        newest, listed = newest_entry(self.db), read_list(self.folder)
        if listed == self.listed and newest == self.newest:
            return
        if not self.is_good(listed, newest):
            self.stored, self.is_damaged = [], False
        elif listed != self.listed:
            listed = self.open(listed)
        self.listed, self.newest = listed, newest
        last = listed.last if self.stored else 0
        recent = (
            entries(self.db, first, min(first + MANY, newest))
            for first in range(last, max(newest, last + 1), MANY)
        )
        made = (make_segment(some, self.kept.without) for some in recent)
        self.segments = [*self.stored, *made]
        self.pages = sum(len(segment.pages) for segment in self.segments)
        lengths = (segment.pages["length"].sum() for segment in self.segments)
        self.mean_length = float(sum(lengths)) / max(self.pages, 1) or 1.0

    def open(self, listed: Listed) -> Listed:
        """Open the segments on disk, unless they are damaged; returns their list."""
        for _ in range(ATTEMPTS):
            try:
                self.stored = [
                    open_segment(self.folder / part.name, part.files)
                    for part in listed.segments
                ]
            except Damaged:
                again = read_list(self.folder)
                if again == listed:
                    break
                listed = again  # replaced by another process a moment ago
            else:
                self.is_damaged = False
                return listed
        self.stored, self.is_damaged = [], True
        return listed

    def is_good(self, listed: Listed, newest: int) -> bool:
        """Whether the segments were made from this table, in the same way."""
        return listed.last <= newest and listed.without == self.kept.number

    def frequency(self, kind: str, term: int) -> int:
        """How many pages have a word or a feature."""
        return sum(len(self.postings(one, kind).find(term)[0]) for one in self.segments)

    def frequencies(self, kind: str, terms: Words) -> npt.NDArray[np.int64]:
        """The same for many at once."""
        found = np.zeros(len(terms), np.int64)
        for segment in self.segments:
            found += self.postings(segment, kind).frequencies(terms)
        return found

    def words_beginning(self, start: str) -> list[str]:
        """The words of titles and anchors with this beginning."""
        found = {start}
        for segment in self.segments:
            found.update(beginning_with(start, segment.vocabulary))
        return sorted(found)

    @staticmethod
    def postings(segment: Segment, kind: str) -> Postings:
        """The postings of words, or of features."""
        return segment.words if kind == "words" else segment.features


def entries(db: sqlite3.Connection, first: int, last: int) -> Iterator[IndexEntry]:
    """The valid entries after one number, up to another."""
    return map(IndexEntry._make, db.execute(ENTRIES, (first, last)))


def newest_entry(db: sqlite3.Connection) -> int:
    """The number of the last entry; 0 if there is none."""
    found: int = db.execute("SELECT coalesce(max(entry), 0) FROM indexed").fetchone()[0]
    return found


def catch_up(
    db: sqlite3.Connection,
    folder: Path,
    kept: KeptEntries | None = None,
    *,
    few: int = FEW,
    many: int = MANY,
    thorough: bool = False,
) -> int:
    """Make segments of entries that have none, if there are enough; returns how many.

    Small segments are merged when they have many entries together; all are rebuilt if
    one is damaged. Does nothing while another process is doing this.
    """
    kept = kept or KeptEntries()
    newest = newest_entry(db)
    listed = sound_list(folder, thorough=thorough)
    if listed is not None and newest - few < listed.last <= newest:
        return 0
    if not folder.is_dir():
        remove(folder)
        folder.mkdir()
    with locked(folder) as mine:
        if not mine:
            return 0
        listed = sound_list(folder, thorough=thorough)
        if not listed or listed.last > newest or listed.without != kept.number:
            listed = Listed(without=kept.number)
        final = [part for part in listed.segments if part.last - part.first >= many]
        small = listed.segments[len(final) :]
        first = listed.last
        if small and newest - small[0].first >= many:
            first, small = small[0].first, []
        made = [
            write_segment(db, folder, kept, start, min(start + many, newest))
            for start in range(first, newest, many)
        ]
        write_list(folder, Listed([*final, *small, *made], kept.number, FORMAT))
        return newest - first


def write_segment(
    db: sqlite3.Connection, folder: Path, kept: KeptEntries, first: int, last: int
) -> Range:
    """Make a segment of some entries."""
    path = folder / Range(first, last, {}).name
    remove(path)
    segment = make_segment(entries(db, first, last), kept.without)
    return Range(first, last, save_segment(segment, path))


def sound_list(folder: Path, *, thorough: bool) -> Listed | None:
    """The segments of a folder; None if one of them is damaged."""
    listed = read_list(folder)
    try:
        for part in listed.segments:
            check_segment(folder / part.name, part.files, thorough=thorough)
    except Damaged:
        return None
    return listed


def read_list(folder: Path) -> Listed:
    """The segments of a folder; none if its list cannot be read."""
    try:
        data = (folder / "segments.json").read_bytes()
        listed = msgspec.json.decode(data, type=Listed)
    except (OSError, ValueError, msgspec.DecodeError):
        return Listed()
    return listed if listed.format == FORMAT else Listed()


def write_list(folder: Path, listed: Listed) -> None:
    """Write the list of segments, and delete all others."""
    draft, path = folder / "segments.new", folder / "segments.json"
    for one in (draft, path):
        if one.is_dir():
            remove(one)
    draft.write_bytes(msgspec.json.encode(listed))
    draft.replace(path)
    names = {part.name for part in listed.segments}
    for path in folder.iterdir():
        if path.is_dir() and path.name not in names:
            shutil.rmtree(path, ignore_errors=True)


def remove(path: Path) -> None:
    """Delete a file or folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Lock the folder for making segments; yields False if another process has it."""
    path = folder / "lock"
    if path.is_dir():
        remove(path)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
