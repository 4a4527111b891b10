"""Finds the words of links in numpy, where nothing could be compiled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from opilio.read.parsed_markup import Spot
from opilio.read.plain_tree import Hashes, Integers
from opilio.records import LinkPart

MOST = {  # words of each part: before a link the nearest ones, else the first
    LinkPart.ANCHOR: 20,
    LinkPart.URL: 16,
    LinkPart.BEFORE: 10,
    LinkPart.AFTER: 10,
    LinkPart.HEADING: 10,
    LinkPart.TITLE: 10,
}
BITS = 29  # of a stem's hash

# The name that stands for an anchor which is not in the text is an anchor, too.
ORDER = (LinkPart.ANCHOR, *LinkPart)


def link_words(
    starts: Integers,
    stems: Hashes,
    spots: Sequence[Spot],
    ends: list[int],
    headings: list[tuple[int, int]],
) -> list[bytes]:
    """The words of each link, as in Link.words.

    Given where each word begins, the hash of its stem, where the links are, the ends of
    the parts of the text as for `Words.links`, and where the heading of each link's
    block begins and ends.
    """
    begins, stops = edges(starts, spots, ends, headings)
    most = np.array([MOST[part] for part in ORDER])
    nearest = np.array([part is LinkPart.BEFORE for part in ORDER])
    lengths = np.clip(stops - begins, 0, most)
    begins = np.where(nearest, stops - lengths, begins)
    shift = np.array(ORDER, np.uint32) << np.uint32(BITS)
    each = lengths.ravel()
    before = np.cumsum(each) - each
    chosen = np.arange(each.sum()) + np.repeat(begins.ravel() - before, each)
    codes = (stems[chosen] >> np.uint64(64 - BITS)).astype(np.uint32)
    codes |= np.repeat(np.tile(shift, len(begins)), each)
    data = codes.astype("<u4", copy=False).tobytes()
    cuts = [0, *(4 * np.cumsum(lengths.sum(axis=1))).tolist()]
    return [data[start:end] for start, end in pairwise(cuts)]


def edges(
    starts: Integers,
    spots: Sequence[Spot],
    ends: list[int],
    headings: list[tuple[int, int]],
) -> tuple[Integers, Integers]:
    """For each link, the first word of each part of it, and the word after it."""
    places = np.minimum(np.array(spots, np.int64).reshape(-1, 4), ends[0])
    told = np.minimum(np.array(headings, np.int64).reshape(-1, 2), ends[0])
    titles = np.tile((ends[0], ends[1]), (len(places), 1))
    columns = (
        *(ends[3::2], places[:, 1], ends[2:-1:2]),
        *(places[:, 0], places[:, 2], told[:, 0], titles[:, 0]),
        *(ends[4::2], places[:, 2], ends[3::2]),
        *(places[:, 1], places[:, 3], told[:, 1], titles[:, 1]),
    )
    # ends[3::2] has one more place than there are links where the last part is a name.
    count = len(places)
    table = np.column_stack([np.asarray(column)[:count] for column in columns])
    numbers = np.searchsorted(starts, table)
    return numbers[:, : len(ORDER)], numbers[:, len(ORDER) :]
