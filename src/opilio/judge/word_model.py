"""The word model of a learning judge: scores a page by its words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from opilio.judge.hashed_words import PLACES, Weights, WordRow, weigh_row


class WordModel(NamedTuple):
    """The numbers of `learning_judge.py`."""

    idf: Weights
    direction: Weights
    low: float
    keywords: float  # α
    words: float  # β

    def by_words(self, row: WordRow) -> float:
        """β·(x·d − lo) of a page."""
        along = float(weigh_row(row, self.idf) @ self.direction[row.places])
        return self.words * (along - self.low)


Packed = tuple[bytes, bytes, bytes, tuple[float, float, float]]
"""Places, their idf and direction, and the other numbers."""


def pack_model(model: WordModel) -> Packed:
    """A model in few bytes: most places have no word."""
    places = np.flatnonzero(model.idf).astype("<u4")
    return (
        places.tobytes(),
        model.idf[places].astype("<f4").tobytes(),
        model.direction[places].astype("<f4").tobytes(),
        (model.low, model.keywords, model.words),
    )


def unpack_model(packed: Packed) -> WordModel:
    """The same model again, to the last bit."""
    places = np.frombuffer(packed[0], "<u4")
    idf, direction = np.zeros(PLACES, np.float32), np.zeros(PLACES, np.float32)
    idf[places] = np.frombuffer(packed[1], "<f4")
    direction[places] = np.frombuffer(packed[2], "<f4")
    return WordModel(idf, direction, *packed[3])
