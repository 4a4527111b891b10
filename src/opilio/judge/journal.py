"""What a learning judge notes page by page in; the same judge after a restart out.

All that it knows, the sample and the model, takes megabytes, so that is written only
once in `PAGES` pages, and when it has learnt anew: a snapshot. The pages since then are
a journal, in chunks of `CHUNK` pages of which only the last is written again with each
commit. Snapshot and chunks are kept in the transaction of the pages they are of: a
crawl that was killed takes up the snapshot, goes through the journal, and judges on as
if nothing had been.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from opilio.judge.model import Model, Packed, pack, unpack
from opilio.judge.sample import Sample, Seen
from opilio.judge.vectors import PLACES, Row
from opilio.protocols import Learner

PAGES = 1024  # between two snapshots, at most
CHUNK = 16

PackedRow = tuple[bytes, bytes, int]
Noted = tuple[PackedRow, float, float]
"""A page as it came: its row, k, and the score it is kept for."""


class Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """Everything that a judge knows."""

    pages: int
    next_fit: int
    places: bytes  # of words that were seen
    having: bytes  # on how many pages each was
    rows: list[tuple[float, int, float, PackedRow]]  # Seen
    surest: list[int]  # which of the rows, in the order of the heap
    any: list[int]
    model: Packed | None


class Entries(msgspec.Struct, frozen=True, array_like=True):
    """The pages of a chunk, after the snapshot of so many pages."""

    since: int
    noted: list[Noted]


class Journal:
    """Takes note of pages, and knows what of that is not yet written."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.since = 0  # pages of the last snapshot
        self.noted: list[Noted] = []  # since then
        self.is_due = False
        self.written = [0] * (PAGES // CHUNK)  # pages of each chunk that are

    def add(self, row: Row, keywords: float, score: float) -> bool:
        """Take note of a page; True: there is enough more to learn from."""
        self.noted.append((pack_row(row), keywords, score))
        is_enough = self.sample.add(row, keywords, score)
        if is_enough or len(self.noted) >= PAGES:
            self.is_due = True
        return is_enough

    def snapshot(self, model: Model | None) -> bytes | None:
        """Everything, if it is due; the journal begins anew."""
        if not self.is_due:
            return None
        taken = self.taken(model)
        self.begin()
        return taken

    def begin(self) -> None:
        """Begin a journal after a snapshot of what is known now."""
        self.since = self.sample.rarity.pages
        self.noted, self.is_due = [], False
        self.written = [0] * len(self.written)

    def taken(self, model: Model | None) -> bytes:
        """A snapshot."""
        sample, rarity = self.sample, self.sample.rarity
        rows = {seen.number: seen for seen in (*sample.surest, *sample.any)}
        place = {number: place for place, number in enumerate(rows)}
        places = np.flatnonzero(rarity.having).astype("<u4")
        return msgspec.msgpack.encode(
            Snapshot(
                rarity.pages,
                sample.next_fit,
                places.tobytes(),
                rarity.having[places].astype("<u4").tobytes(),
                [(*seen[:3], pack_row(seen.row)) for seen in rows.values()],
                [place[seen.number] for seen in sample.surest],
                [place[seen.number] for seen in sample.any],
                model and pack(model),
            )
        )

    def restore(self, taken: bytes) -> Model | None:
        """Know what a snapshot says, and nothing else; its model."""
        found = msgspec.msgpack.decode(taken, type=Snapshot)
        sample, rarity = self.sample, self.sample.rarity
        rarity.pages, sample.next_fit = found.pages, found.next_fit
        rarity.having = np.zeros(PLACES, np.uint32)
        rarity.having[np.frombuffer(found.places, "<u4")] = np.frombuffer(
            found.having, "<u4"
        )
        rows = [Seen(*seen[:3], unpack_row(seen[3])) for seen in found.rows]
        sample.surest = [rows[place] for place in found.surest]
        sample.any = [rows[place] for place in found.any]
        self.begin()
        return found.model and unpack(found.model)

    def chunks(self) -> Mapping[str, Learner]:
        """The parts of the journal, by the names under which they are kept."""
        count = len(self.written)
        return {f"judge {number:02}": Chunk(self, number) for number in range(count)}


class Chunk:
    """Some pages of a journal, kept by themselves."""

    def __init__(self, journal: Journal, number: int) -> None:
        self.journal = journal
        self.number = number

    def dump(self) -> bytes | None:
        """The pages of this chunk, if there are more of them."""
        journal, start = self.journal, self.number * CHUNK
        noted = journal.noted[start : start + CHUNK]
        if len(noted) == journal.written[self.number]:
            return None
        journal.written[self.number] = len(noted)
        return msgspec.msgpack.encode(Entries(journal.since, noted))

    def load(self, learnt: bytes) -> None:
        """Go through the pages again, if they came after the snapshot that is known."""
        journal = self.journal
        found = msgspec.msgpack.decode(learnt, type=Entries)
        if found.since != journal.since:
            return  # of an earlier journal
        for row, keywords, score in found.noted:
            journal.add(unpack_row(row), keywords, score)
        journal.written[self.number] = len(found.noted)


def pack_row(row: Row) -> PackedRow:
    """A row as bytes."""
    return row.places.tobytes(), row.weights.tobytes(), row.text


def unpack_row(packed: PackedRow) -> Row:
    """The same row again."""
    places, weights, text = packed
    return Row(
        np.frombuffer(places, np.uint32), np.frombuffer(weights, np.float32), text
    )
