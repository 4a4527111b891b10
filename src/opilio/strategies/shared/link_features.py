"""Turns the words and the tag path of links into feature columns.

Columns are hashed (Weinberger et al., ICML 2009), so that no list of words grows with
the crawl. The first FIRST columns are reserved for other features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from opilio.records import Link, LinkPart
from opilio.strategies.shared.linear_model import Floats, Integers, Rows

COLUMNS = 2**18
FIRST = 16
BIAS, VALUE = 0, 1  # what every row has, and the value of the page it was found on
WEIGHT = 3.0  # of VALUE against a word
PATH_PART = 7  # where LinkPart has words, a tag path has its ends
TAGS = 3  # of the shorter end
EVERY_PART = frozenset(LinkPart)

Codes = npt.NDArray[np.uint32]


def columns_of(
    links: Sequence[Link], parts: frozenset[LinkPart] = EVERY_PART, *, paths: bool
) -> Iterator[bytes]:
    """The columns of each link, each once, as little-endian uint32."""
    known: dict[str, Codes] = {}  # most links of a page share few paths
    wanted = np.isin(np.arange(8), list(parts))
    for link in links:
        codes = np.frombuffer(link.words, "<u4")
        if len(parts) < len(EVERY_PART):
            codes = codes[wanted[codes >> 29]]
        if paths and link.path:
            ends = known.get(link.path)
            if ends is None:
                ends = known[link.path] = path_codes(link.path)
            codes = np.concatenate((codes, ends))
        yield np.unique(to_columns(codes)).astype("<u4").tobytes()


def to_columns(codes: Codes) -> Codes:
    """The column of each code, spread over all there are."""
    spread = codes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
    return (spread % np.uint64(COLUMNS - FIRST)).astype(np.uint32) + np.uint32(FIRST)


def path_codes(path: str) -> Codes:
    """A tag path as a whole, and its end."""
    ends = path, "/".join(path.rsplit("/", TAGS)[-TAGS:])
    hashes = [xxh3_64_intdigest(end.encode()) >> 35 for end in ends]
    return np.array(hashes, np.uint32) | np.uint32(PATH_PART << 29)


def to_rows(packed: Sequence[bytes], values: Floats) -> Rows:
    """Rows of a linear model: BIAS, VALUE, then the columns, which together have length
    1."""
    lengths = np.fromiter(map(len, packed), np.int64, len(packed)) // 4
    sizes = lengths + 2
    starts: Integers = np.cumsum(sizes) - sizes
    columns = np.empty(int(sizes.sum()), np.int64)
    is_word = np.ones(len(columns), np.bool_)
    is_word[starts] = is_word[starts + 1] = False
    columns[is_word] = np.frombuffer(b"".join(packed), "<u4")
    columns[starts], columns[starts + 1] = BIAS, VALUE
    scaled = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), sizes)
    scaled[starts], scaled[starts + 1] = 1.0, WEIGHT * values
    return Rows(columns, scaled, starts)


def to_sets(packed: Sequence[bytes]) -> Rows:
    """Rows for naive Bayes: BIAS, then the columns, 1 each."""
    sizes = np.fromiter(map(len, packed), np.int64, len(packed)) // 4 + 1
    starts: Integers = np.cumsum(sizes) - sizes
    columns = np.zeros(int(sizes.sum()), np.int64)
    is_word = np.ones(len(columns), np.bool_)
    is_word[starts] = False
    columns[is_word] = np.frombuffer(b"".join(packed), "<u4")
    columns[starts] = BIAS
    return Rows(columns, np.ones(len(columns)), starts)
