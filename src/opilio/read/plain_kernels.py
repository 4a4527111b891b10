"""The word kernels in numpy and plain Python, used if nothing was compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from secrets import randbits

import numpy as np
import numpy.typing as npt

from opilio.read.plain_link_words import link_words
from opilio.read.plain_text import Text
from opilio.read.plain_tree import Hashes, Integers, Row, find, mix
from opilio.read.plain_vectors import blend, find_rows, link_stretches, put_rows

__all__ = [
    "EDITION",
    "Text",
    "blend",
    "expand",
    "find_rows",
    "learn",
    "link_stretches",
    "link_words",
    "look_up",
    "put_rows",
]

New = dict[int, bytes]
Runs = tuple[bytes, Integers, Integers, Integers, Hashes, Hashes, Integers, New]

EDITION = 8  # version of the kernels; compiled ones of another version are not used
LONG = 64  # bytes; longer words have no key
SALT = np.uint64(randbits(64))  # so that no page can contain words made to share a key
TOO_LONG = np.uint64(0)
NO_KEY = np.uint64(1)  # of a free place in a table
NEW_LINE = 10

_ASCII = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 0
    for code in range(256)
)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)

# Characters that may be part of a word, in the two blocks with the quotes, dashes and
# spaces of Western texts: U+0080 to U+00BF, U+2000 to U+203F.
_LATIN = np.ones(256, np.bool_)
_LATIN[[0xAA, 0xAD, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE]] = False
_GENERAL = np.ones(256, np.bool_)
_GENERAL[[0x8B, 0x8C, 0x8D]] = False


def look_up(table: Hashes, text: str, longest: int) -> Runs:
    """Split a text in UTF-8 into runs of bytes between separators, most of which are
    words, and look each up in a table of rows (key, stem, node). Only the first
    `longest` bytes are read.

    Returns a zero, the text in lower case with zeros for separators, and eight zeros;
    for each run its offset in bytes and in characters, its line, a key of 64 bits (0 if
    it is longer than LONG), its stem and its node; and the runs that the table does not
    have, by number.
    """
    coded = text.encode("utf-8", "replace")[:longest]
    # Zeros around: the first run has an edge too, and eight bytes can be read from
    # anywhere in the last one.
    data = b"\0%b%b" % (coded.translate(_ASCII), bytes(8))
    if not coded.isascii():
        data = _blank(data)
    inside = np.frombuffer(data, np.uint8) != 0
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    begins = edges[0::2].copy()
    ends = edges[1::2]
    keys = _keys(data, begins, ends - begins)
    cells = np.frombuffer(coded, np.int8)
    lines = (cells == NEW_LINE).nonzero()[0].searchsorted(begins)
    # Bytes that continue a character; as signed numbers they are the least.
    starts = begins - (cells < -64).nonzero()[0].searchsorted(begins)
    rows = _rows(table, keys)
    new = (rows[:, 0] != keys).nonzero()[0]
    rows[new, 1:] = 0
    stems, nodes = rows[:, 1].copy(), rows[:, 2].astype(np.int64)
    texts = {at: data[1 + begins[at] : 1 + ends[at]] for at in new.tolist()}
    return data, begins, starts, lines, keys, stems, nodes, texts


def _blank(data: bytes) -> bytes:
    """Replace the non-ASCII separators of Western texts by zeros."""
    changed = bytearray(data)
    cells = np.frombuffer(changed, np.uint8)
    leads = ((cells & 0xDF) == 0xC2).nonzero()[0]  # 0xC2 or 0xE2
    lead, second, third = cells[leads], cells[leads + 1], cells[leads + 2]
    two = leads[(lead == 0xC2) & _LATIN[second]]
    three = leads[(lead == 0xE2) & (second == 0x80) & _GENERAL[third]]
    cells[two] = cells[two + 1] = 0
    cells[three] = cells[three + 1] = cells[three + 2] = 0
    return bytes(changed)


def _keys(data: bytes, starts: Integers, lengths: Integers) -> Hashes:
    """64 bits of each run, eight bytes at a time, mixed twice in between so that
    differences in neighbouring parts do not cancel out."""
    eight_from = np.ndarray(len(data) - 8, np.dtype("<u8"), data, 1, strides=(1,))
    keys = mix(SALT ^ (eight_from[starts] & _MASKS[np.minimum(lengths, 8)]))
    longer = np.flatnonzero(lengths > 8)
    for done in range(8, LONG, 8):
        if not len(longer):
            break
        size = np.minimum(lengths[longer] - done, 8)
        block = eight_from[starts[longer] + done] & _MASKS[size]
        keys[longer] = mix(mix(keys[longer]) ^ block)
        longer = longer[lengths[longer] > done + 8]
    keys[longer] = TOO_LONG
    return keys


def _rows(table: Hashes, keys: Hashes) -> Hashes:
    """The row in one of the two places of each key."""
    bits = len(table).bit_length() - 1
    rows = table.take((keys >> np.uint64(64 - bits)).view(np.int64), axis=0)
    other = (rows[:, 0] != keys).nonzero()[0]
    second = (keys[other] & np.uint64(len(table) - 1)).view(np.int64)
    rows[other] = table.take(second, axis=0)
    return rows


def learn(
    tree: Hashes,
    begins: npt.NDArray[np.int32],
    table: Hashes,
    runs: Runs,
    found: dict[bytes, int],
) -> None:
    """Fill in the stems and nodes of new words, and add the words to the table.

    A word takes the first of its places if that is free; if not, it replaces whatever
    is in the second, as in a processor's cache. Words without a key are not stored.
    """
    keys, stems, nodes, texts = runs[4:]
    known = {number: text for number, text in texts.items() if text in found}
    new = np.fromiter(known, np.int64)
    stems[new] = np.fromiter(map(found.__getitem__, known.values()), np.uint64)
    nodes[new] = find(tree, begins, stems[new])
    new = new[keys[new] != TOO_LONG]
    own = keys[new]
    places = (own >> np.uint64(65 - len(table).bit_length())).view(np.int64)
    taken = table[places, 0] != NO_KEY
    places[taken] = (own[taken] & np.uint64(len(table) - 1)).view(np.int64)
    table[places] = np.column_stack((own, stems[new], nodes[new].view(np.uint64)))


def expand(
    tree: Hashes,
    begins: npt.NDArray[np.int32],
    stems: Hashes,
    nodes: Integers,
    starts: Integers,
    lines: Integers,
    compounds: Mapping[int, tuple[Sequence[int], Sequence[int]]],
) -> Row:
    """The stems, nodes, places and lines of runs, where some runs are replaced by
    several words, given by their stems and their offsets in characters."""
    numbers = sorted(compounds)
    found = [compounds[number] for number in numbers]
    sizes = np.ones(len(stems), np.int64)
    sizes[numbers] = [len(within) for within, _ in found]
    inside = np.zeros(len(stems), np.bool_)
    inside[numbers] = True
    inside = np.repeat(inside, sizes)
    stems, nodes = np.repeat(stems, sizes), np.repeat(nodes, sizes)
    starts, lines = np.repeat(starts, sizes), np.repeat(lines, sizes)
    stems[inside] = np.fromiter(chain.from_iterable(w for w, _ in found), np.uint64)
    nodes[inside] = find(tree, begins, stems[inside])
    starts[inside] += np.fromiter(chain.from_iterable(o for _, o in found), np.int64)
    return stems, nodes, starts, lines
