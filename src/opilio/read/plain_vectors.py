"""Makes vectors of texts from vectors of words with numpy, used if nothing was
compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from opilio.read.parsed_markup import Spot
from opilio.read.plain_tree import Hashes, Integers

Rows = npt.NDArray[np.int32]
Matrix = npt.NDArray[np.float32]

# Words used of a link's anchor, of the name that replaces it, before and after it, and
# of the heading; the nearest ones.
MOST = np.array([10, 10, 10, 10, 8])
BEFORE = np.array([False, False, True, False, False])
FREE = np.uint64(1)  # the key of a free place in a table
USED = np.uint64(1 << 32)  # marks a row that was found since it was last cleared
STEPS = 127  # from 0 to 1, in a vector of bytes


def find_rows(table: Hashes, keys: Hashes, begins: Integers, ends: Integers) -> Rows:
    """The row that a table has for each word in some stretches, given the words' keys
    and the first word of each stretch and the one after it.

    The table has 2ⁿ places for a key and its row. A word may be in any place from the
    one that the upper bits of its key name up to the next that is free. A key of 0 has
    the row 0, as do words outside the stretches; -1: the table does not have it. What
    was found is marked as USED.
    """
    found = np.zeros(len(keys), np.int32)
    words = (in_stretches(len(keys), begins, ends) & (keys != 0)).nonzero()[0]
    last = len(table) - 1
    places = (keys[words] >> np.uint64(64 - last.bit_length())).astype(np.int64)
    while len(words):
        there = table[places]
        known = there[:, 0] == keys[words]
        table[places[known], 1] |= USED
        found[words[known]] = there[known, 1] & (USED - np.uint64(1))
        missing = there[:, 0] == FREE
        found[words[missing]] = -1
        left = ~(known | missing)
        words, places = words[left], (places[left] + 1) & last
    return found


def put_rows(table: Hashes, keys: Hashes, rows: Rows) -> None:
    """Put keys that the table does not have into it, with their rows."""
    last = len(table) - 1
    shift = 64 - last.bit_length()
    for key, row in zip(keys.tolist(), rows.tolist(), strict=True):
        place = key >> shift
        while table[place, 0] != FREE:
            place = (place + 1) & last
        table[place] = key, row


def in_stretches(size: int, begins: Integers, ends: Integers) -> npt.NDArray[np.bool_]:
    """Which words are in any of the stretches."""
    edges = np.zeros(size + 1, np.int64)
    np.add.at(edges, begins.ravel(), 1)
    np.add.at(edges, np.maximum(begins, ends).ravel(), -1)
    return edges.cumsum()[:-1] > 0


def blend(
    matrix: Matrix,
    rows: Rows,
    begins: Integers,
    ends: Integers,
    groups: Integers,
    weights: npt.NDArray[np.float32],
) -> bytes:
    """For each line of stretches, u(Σ wᵢ·u(Σ v)) in bytes: the unit vector of the sum
    over groups of stretches, each the unit vector of its words' sum times its weight.

    `groups` says which group each column of stretches belongs to. Numbers from -1 to 1
    are multiplied by 127 and rounded.
    """
    total = np.zeros((len(begins), matrix.shape[1]), np.float32)
    for group, weight in enumerate(weights):
        part = np.zeros_like(total)
        for column in (groups == group).nonzero()[0]:
            for line, (begin, end) in enumerate(
                zip(begins[:, column], ends[:, column], strict=True)
            ):
                part[line] += matrix[rows[begin:end]].sum(axis=0)
        total += weight * unit(part)
    return np.rint(STEPS * unit(total)).astype(np.int8).tobytes()


def link_stretches(
    starts: Integers,
    spots: Sequence[Spot],
    ends: list[int],
    headings: list[tuple[int, int]],
) -> tuple[Integers, Integers]:
    """For each link, the first word of its anchor, of the name that replaces it, of the
    text before and after it and of its heading; and the word after each of these.

    The arguments are where each word begins, where the links are, the ends of the parts
    of the text as for `Words.links`, and where the heading of each link's block begins
    and ends.
    """
    places = np.minimum(np.array(spots, np.int64).reshape(-1, 4), ends[0])
    told = np.minimum(np.array(headings, np.int64).reshape(-1, 2), ends[0])
    columns = (
        *(places[:, 1], ends[3::2], places[:, 0], places[:, 2], told[:, 0]),
        *(places[:, 2], ends[4::2], places[:, 1], places[:, 3], told[:, 1]),
    )
    numbers = np.searchsorted(starts, np.column_stack(columns))
    begins, stops = numbers[:, : len(MOST)], numbers[:, len(MOST) :]
    lengths = np.clip(stops - begins, 0, MOST)
    begins = np.where(BEFORE, stops - lengths, begins)
    return begins, begins + lengths


def unit(vectors: Matrix) -> Matrix:
    """Each line as a vector of length 1; zeros stay zeros."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1
    found: Matrix = vectors / lengths
    return found
