"""What the default strategy has learnt that holds everywhere, in a form to pass on.

Evidence of links and of their hosts is no part of it: that belongs to those who visit
them.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from opilio.strategies.shared.chooser.groups import Groups
from opilio.strategies.shared.chooser.lessons import (
    Correction,
    LinkWords,
    Taught,
    WordValues,
)
from opilio.strategies.shared.chooser.relevant_left import Remaining

LEVEL = 1  # of compression
MOST = 2**28  # bytes, unpacked


class TaughtState(msgspec.Struct, frozen=True, array_like=True):
    """The sums of a regression on vectors."""

    direction: bytes
    products: bytes
    sum: bytes
    scored: bytes
    scores: float
    count: int
    new: list[tuple[bytes, float]]  # that are not in the sums


class PublishedWeights(msgspec.Struct, frozen=True, array_like=True):
    """Everything that was learnt from all pages."""

    pages: int
    total: float
    squares: float
    sections: tuple[bytes, bytes]  # sums and counts
    words: bytes
    taught: TaughtState
    correction: bytes
    rows: list[tuple[bytes, float, float]]  # that it was learnt from
    found: float
    kept: int
    visits: list[tuple[float, float]]
    samples: list[tuple[int, float]]
    link_words: bytes = b""  # what each is worth; of earlier versions nothing
    links: list[tuple[bytes, float]] = []  # that this was learnt from


_decode = msgspec.msgpack.Decoder(PublishedWeights).decode


def pack_learnt(
    groups: Groups,
    words: WordValues,
    taught: Taught,
    link_words: LinkWords,
    correction: Correction,
    left: Remaining,
) -> bytes:
    """What these have learnt, as bytes."""
    model = PublishedWeights(
        *(groups.pages, groups.total, groups.squares),
        (groups.section_sum.tobytes(), groups.section_count.tobytes()),
        words.sums.tobytes(),
        TaughtState(
            *(taught.direction.tobytes(), taught.products.tobytes()),
            *(taught.sum.tobytes(), taught.scored.tobytes()),
            *(taught.scores, taught.count),
            [(vector.tobytes(), score) for vector, score in taught.new],
        ),
        correction.weights.tobytes(),
        [(row.tobytes(), offset, score) for row, offset, score in correction.rows],
        left.found,
        left.count,
        list(left.visits),
        list(left.samples),
        link_words.table[:, 1].tobytes(),
        [(places.tobytes(), score) for places, score in link_words.links],
    )
    return isal_zlib.compress(msgspec.msgpack.encode(model), LEVEL)


def restore_learnt(
    packed: bytes,
    groups: Groups,
    words: WordValues,
    taught: Taught,
    link_words: LinkWords,
    correction: Correction,
    left: Remaining,
) -> None:
    """Replace what these have learnt from all pages. One that was learnt without word
    vectors, or with others, is ignored: it has other features."""
    model = _decode(isal_zlib.decompressobj().decompress(packed, MOST))
    weights, direction = floats(model.correction), singles(model.taught.direction)
    if (len(weights), len(direction)) != (
        len(correction.weights),
        len(taught.direction),
    ):
        return
    groups.pages, groups.total, groups.squares = (
        *(model.pages, model.total),
        model.squares,
    )
    groups.section_sum = floats(model.sections[0])
    groups.section_count = np.frombuffer(model.sections[1], np.int32).copy()
    words.sums = singles(model.words).reshape(words.sums.shape)
    taught.point(direction)
    taught.products = floats(model.taught.products).reshape(taught.products.shape)
    taught.sum, taught.scored = floats(model.taught.sum), floats(model.taught.scored)
    taught.scores, taught.count = model.taught.scores, model.taught.count
    taught.new = [(singles(vector), score) for vector, score in model.taught.new]
    if model.link_words:
        link_words.table[:, 1] = singles(model.link_words)
        link_words.links.clear()
        link_words.links.extend(
            (np.frombuffer(places, np.uint16), score) for places, score in model.links
        )
    correction.weights = weights
    correction.rows.clear()
    correction.rows.extend(
        (singles(row), offset, score) for row, offset, score in model.rows
    )
    left.found = model.found
    left.elsewhere = max(0, model.kept - len(left.kept))
    left.visits.clear()
    left.visits.extend(model.visits)
    left.samples.clear()
    left.samples.extend(model.samples)


def floats(packed: bytes) -> npt.NDArray[np.float64]:
    """An array of float64 that may be changed."""
    return np.frombuffer(packed, np.float64).copy()


def singles(packed: bytes) -> npt.NDArray[np.float32]:
    """An array of float32 that may be changed."""
    return np.frombuffer(packed, np.float32).copy()
