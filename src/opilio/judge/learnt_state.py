"""Stores the state of the judges `bootstrapped` and `linear` across restarts.

A snapshot has the sample, the rarity of words and the model; the pages since then are
in a diary (`snapshots.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from opilio.judge.hashed_words import PLACES, WordRow
from opilio.judge.page_sample import Sample, SampledPage
from opilio.judge.snapshots import Diary
from opilio.judge.word_model import Packed, WordModel, pack_model, unpack_model
from opilio.protocols import Learner

PackedRow = tuple[bytes, bytes, int]
NotedRow = tuple[PackedRow, float, float]
"""A page in the order seen: its row, k, and its rank in the sample."""


class JournalState(msgspec.Struct, frozen=True, array_like=True):
    """Everything that a judge knows."""

    pages: int
    next_fit: int
    places: bytes  # of words that were seen
    having: bytes  # on how many pages each was
    rows: list[tuple[float, int, float, PackedRow]]  # Seen
    surest: list[int]  # which of the rows, in the order of the heap
    any: list[int]
    model: Packed | None


class Journal:
    """Adds pages to the sample, and tracks which of them are not yet stored."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.diary: Diary[NotedRow] = Diary(NotedRow, self._take)  # type: ignore[arg-type]
        self._is_enough = False  # enough new pages to learn again

    @property
    def since(self) -> int:
        """The number of pages in the last snapshot."""
        return self.diary.snapshots

    def add(self, row: WordRow, keywords: float, score: float) -> bool:
        """Add a page; True: there are enough new ones to learn again."""
        self.diary.write((pack_row(row), keywords, score))
        return self._is_enough

    def _take(self, noted: NotedRow) -> bool:
        row, keywords, score = noted
        self._is_enough = self.sample.add(unpack_row(row), keywords, score)
        return self._is_enough

    def snapshot(self, model: WordModel | None) -> bytes | None:
        """A snapshot, if it is due; the journal then starts over."""
        if not self.diary.is_due:
            return None
        taken = self.taken(model)
        self.begin()
        return taken

    def begin(self) -> None:
        """Start a new journal after a snapshot of the current state."""
        self.diary.begin(self.sample.rarity.pages)

    def taken(self, model: WordModel | None) -> bytes:
        """A snapshot."""
        sample, rarity = self.sample, self.sample.rarity
        rows = {seen.number: seen for seen in (*sample.surest, *sample.any)}
        place = {number: place for place, number in enumerate(rows)}
        places = np.flatnonzero(rarity.having).astype("<u4")
        return msgspec.msgpack.encode(
            JournalState(
                rarity.pages,
                sample.next_fit,
                places.tobytes(),
                rarity.having[places].astype("<u4").tobytes(),
                [(*seen[:3], pack_row(seen.row)) for seen in rows.values()],
                [place[seen.number] for seen in sample.surest],
                [place[seen.number] for seen in sample.any],
                model and pack_model(model),
            )
        )

    def restore(self, taken: bytes) -> WordModel | None:
        """Replace the state by that of a snapshot; returns its model."""
        found = msgspec.msgpack.decode(taken, type=JournalState)
        sample, rarity = self.sample, self.sample.rarity
        rarity.pages, sample.next_fit = found.pages, found.next_fit
        rarity.having = np.zeros(PLACES, np.uint32)
        rarity.having[np.frombuffer(found.places, "<u4")] = np.frombuffer(
            found.having, "<u4"
        )
        rows = [SampledPage(*seen[:3], unpack_row(seen[3])) for seen in found.rows]
        sample.surest = [rows[place] for place in found.surest]
        sample.any = [rows[place] for place in found.any]
        self.begin()
        return found.model and unpack_model(found.model)

    def chunks(self) -> Mapping[str, Learner]:
        """The parts of the journal, by the names under which they are stored."""
        return self.diary.chunks("judge")


def pack_row(row: WordRow) -> PackedRow:
    """A row as bytes."""
    return row.places.tobytes(), row.weights.tobytes(), row.text


def unpack_row(packed: PackedRow) -> WordRow:
    """The same row again."""
    places, weights, text = packed
    return WordRow(
        np.frombuffer(places, np.uint32), np.frombuffer(weights, np.float32), text
    )
