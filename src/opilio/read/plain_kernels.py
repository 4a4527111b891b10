"""The kernels in numpy and plain Python: what runs where nothing could be compiled."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.read.simhash import simhash

Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]  # 1: yes

EDITION = 1  # of the kernels; compiled ones of another edition are not used
ODD = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
LONG = 64  # bytes; longer words have no key
TOO_LONG = np.uint64(0)
NO_KEY = np.uint64(1)  # of a place in a table that is free
NEW_LINE = 10
NONE = 0  # the node of what begins no term

_ASCII = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 0
    for code in range(256)
)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)

# Of the two blocks that Western texts take their quotes, dashes and spaces from, what
# may be part of a word: U+0080 to U+00BF, U+2000 to U+203F.
_LATIN = np.ones(256, np.bool_)
_LATIN[[0xAA, 0xAD, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE]] = False
_GENERAL = np.ones(256, np.bool_)
_GENERAL[[0x8B, 0x8C, 0x8D]] = False


def split(text: bytes) -> tuple[bytes, Integers, Integers, Hashes]:
    """The runs of bytes between separators in a text in UTF-8; most are words.

    Answers a zero, the text in lower case with zeros for separators and eight zeros;
    how many bytes of the text stand before each run; the lengths of the runs; and a key
    of 64 bits for each, 0 if it is longer than LONG.
    """
    # Zeros around: the first run has an edge too, and eight bytes can be read from
    # anywhere in the last one.
    data = b"\0%b%b" % (text.translate(_ASCII), bytes(8))
    if not text.isascii():
        data = _blank(data)
    inside = np.frombuffer(data, np.uint8) != 0
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    starts = edges[0::2]
    lengths = edges[1::2] - starts
    return data, starts, lengths, _keys(data, starts, lengths)


def _blank(data: bytes) -> bytes:
    """Zeros for the separators that Western texts use beside those in ASCII."""
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
    """64 bits of each run, eight bytes at a time."""
    eight_from = np.ndarray(len(data) - 8, np.dtype("<u8"), data, 1, strides=(1,))
    keys = mix(eight_from[starts] & _MASKS[np.minimum(lengths, 8)])
    longer = np.flatnonzero(lengths > 8)
    for done in range(8, LONG, 8):
        if not len(longer):
            break
        size = np.minimum(lengths[longer] - done, 8)
        block = eight_from[starts[longer] + done] & _MASKS[size]
        keys[longer] = mix(keys[longer] ^ block)
        longer = longer[lengths[longer] > done + 8]
    keys[longer] = TOO_LONG
    return keys


def mix(values: Hashes) -> Hashes:
    """Spread what tells values apart over all bits; no two values become one."""
    values = values * ODD
    return values ^ (values >> HALF)


def look_up(table: Hashes, keys: Hashes) -> tuple[Hashes, Integers, Integers]:
    """What a table of rows (key, stem, node) has for each key, which has two places.

    Answers stems, nodes and the numbers of the keys that are in neither place.
    """
    bits = len(table).bit_length() - 1
    rows = table.take((keys >> np.uint64(64 - bits)).view(np.int64), axis=0)
    new = np.flatnonzero(rows[:, 0] != keys)
    if len(new):
        second = (keys[new] & np.uint64(len(table) - 1)).view(np.int64)
        others = table.take(second, axis=0)
        known = others[:, 0] == keys[new]
        rows[new[known]] = others[known]
        new = new[~known]
    return rows[:, 1].copy(), rows[:, 2].astype(np.int64), new


def learn(
    tree: Hashes,
    begins: npt.NDArray[np.int32],
    table: Hashes,
    keys: Hashes,
    new: Integers,
    stems: Hashes,
    nodes: Integers,
) -> None:
    """Put the node of some new words where the nodes are, and the words into the table.

    Each takes the first of its places if that is free; if not, the second, as in a
    processor's cache, from whatever was there. Words without a key are not kept.
    """
    nodes[new] = find(tree, begins, stems[new])
    new = new[keys[new] != TOO_LONG]
    own = keys[new]
    places = (own >> np.uint64(65 - len(table).bit_length())).view(np.int64)
    taken = table[places, 0] != NO_KEY
    places[taken] = (own[taken] & np.uint64(len(table) - 1)).view(np.int64)
    table[places] = np.column_stack((own, stems[new], nodes[new].view(np.uint64)))


def characters(text: bytes, starts: Integers) -> Integers:
    """How many characters of a text in UTF-8 stand before so many bytes, ascending."""
    if text.isascii():
        return starts
    # Bytes that go on with a character; as signed numbers they are the least.
    further = (np.frombuffer(text, np.int8) < -64).nonzero()[0]
    added = np.bincount(starts.searchsorted(further), minlength=len(starts) + 1)
    return starts - np.cumsum(added[:-1])


def find(nodes: Hashes, begins: npt.NDArray[np.int32], hashes: Hashes) -> Integers:
    """The number of each hash among the nodes, which are sorted, or NONE.

    `begins` has where those begin whose first bits are 0, 1, 2 and so on.
    """
    shift = np.uint64(65 - len(begins).bit_length())
    found: Integers = begins[hashes >> shift].astype(np.int64)
    there = nodes[found]
    while (behind := (there < hashes).nonzero()[0]).size:
        found[behind] += 1
        there[behind] = nodes[found[behind]]
    found[there != hashes] = NONE
    return found


def phrases(
    nodes: Hashes,
    begins: npt.NDArray[np.int32],
    goes_on: Marks,
    ends: Marks,
    text: bytes,
    starts: Integers,
    stems: Hashes,
    of_words: Integers,
    apart: Marks | None,
) -> tuple[Integers, Integers, Integers]:
    """First word, last word and node of every phrase in a line of a text.

    Given the tree of terms, the text, and the bytes before each word, its stem and its
    node; none goes on to a word that is `apart`. They come by their beginnings, and
    where several begin, the longest first.
    """
    first = of_words.nonzero()[0]
    first = first[goes_on[of_words[first]] != 0]
    last, node = first, of_words[first]
    found = [(first[:0], first[:0], first[:0])]
    while len(first):
        if last[-1] == len(stems) - 1:
            first, last, node = first[:-1], last[:-1], node[:-1]
        last = last + 1
        node = find(nodes, begins, mix(nodes[node]) ^ stems[last])
        if apart is not None:
            node[apart[last] != 0] = NONE
        there = node.nonzero()[0]
        first, last, node = first[there], last[there], node[there]
        whole = ends[node] != 0
        found.append((first[whole], last[whole], node[whole]))
        more = goes_on[node] != 0
        first, last, node = first[more], last[more], node[more]
    first, last, node = map(np.concatenate, zip(*found, strict=True))
    line_ends = np.flatnonzero(np.frombuffer(text, np.uint8) == NEW_LINE)
    lines = np.searchsorted(line_ends, starts[first])
    one = lines == np.searchsorted(line_ends, starts[last])
    first, last, node = first[one], last[one], node[one]
    order = np.lexsort((-last, first))
    return first[order], last[order], node[order]


def hits(ends: Marks, of_words: Integers, first: Integers) -> Integers:
    """The words where a term begins, given those where phrases do."""
    begins = ends[of_words]
    begins[first] = 1
    return begins.nonzero()[0]


def count(hashes: Hashes) -> tuple[Hashes, Integers]:
    """Each hash once, in ascending order, and how often it occurs."""
    if not len(hashes):
        return hashes, np.zeros(0, np.int64)
    ordered = hashes.copy()
    ordered.sort()
    first = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    edges = first.nonzero()[0]
    return ordered[edges[:-1]], edges[1:] - edges[:-1]


Part = tuple[int, int, int]
"""Whose it is, and how many characters stand before it and before what follows it."""


class Text(NamedTuple):
    """The words of a text, and where terms are among them."""

    names: list[str]  # of each node, the term that ends there
    nodes: Integers  # of each word
    stems: Hashes
    starts: Integers  # the characters before each word
    hits: Integers  # the words where a term begins
    phrases: tuple[Integers, Integers, Integers]
    overlapping: bool  # terms inside others count too


def count_parts(
    text: Text, parts: list[Part]
) -> dict[int, tuple[dict[str, int], float]]:
    """The terms in the parts of a text that each owner has, and the norm √Σ(1+ln tf)²
    over all stems in them; only for those that have any term.

    A term is in a part if all its words are; of terms that overlap there, the leftmost
    and longest counts, unless `overlapping`: then all do, but no term overlaps itself.
    """
    terms = _terms(text, parts)
    if not terms:
        return {}
    of_owner = {owner: number for number, owner in enumerate(terms)}
    theirs = [(of_owner[owner], *part) for owner, *part in parts if owner in of_owner]
    _, norms, _ = _sums(text, theirs, len(of_owner))
    return {owner: (terms[owner], norms[number]) for owner, number in of_owner.items()}


def count_text(text: Text, end: int) -> tuple[int, dict[str, int], float, int]:
    """Of all up to a place: the words, the terms, the norm and the SimHash, in which
    each stem weighs what it does in the norm."""
    terms = _terms(text, [(0, 0, end)])
    words = int(text.starts.searchsorted(end))
    kinds, counts = count(text.stems[:words])
    if not len(kinds):
        return 0, {}, 0.0, 0
    weights = 1 + np.log(counts)
    norm = math.sqrt(float(weights @ weights))
    return words, terms.get(0, {}), norm, simhash(kinds, weights)


def count_blocks(
    text: Text, parts: list[Part], number: int
) -> list[tuple[int, dict[str, int], float, int]]:
    """Of each of so many owners: the words in their parts, the terms, the norm, and how
    often the most frequent stem occurs."""
    terms = _terms(text, parts)
    words, norms, most = _sums(text, parts, number)
    return [
        (words[block], terms.get(block, {}), norms[block], most[block])
        for block in range(number)
    ]


def _sums(
    text: Text, parts: Sequence[Sequence[int]], number: int
) -> tuple[list[int], list[float], list[int]]:
    """Words, norms and most frequent stems of so many owners."""
    owners, begins, ends = np.array(parts, np.int64).reshape(-1, 3).T
    begins, ends = text.starts.searchsorted(begins), text.starts.searchsorted(ends)
    lengths = np.maximum(ends - begins, 0)
    before = np.cumsum(lengths) - lengths
    chosen = np.arange(lengths.sum()) + np.repeat(begins - before, lengths)
    of_words = np.repeat(owners, lengths)
    sizes = np.bincount(of_words, minlength=number)
    # One number for both, so that one sort is enough: the owner, then the stem without
    # the bits that there is no room for.
    bits = number.bit_length()
    above = of_words.view(np.uint64) << np.uint64(64 - bits)
    both, counts = count(above | text.stems[chosen] >> np.uint64(bits))
    each = (both >> np.uint64(64 - bits)).view(np.int64)
    weights = 1 + np.log(counts)
    norms = np.sqrt(np.bincount(each, weights * weights, number))
    most = np.zeros(number, np.int64)
    np.maximum.at(most, each, counts)
    return sizes.tolist(), norms.tolist(), most.tolist()


def _terms(text: Text, parts: Sequence[Part]) -> dict[int, dict[str, int]]:
    """The terms of each owner that has any."""
    found: dict[int, dict[str, int]] = {}
    names, overlapping, hit_words = text.names, text.overlapping, text.hits.tolist()
    first, last, node = (column.tolist() for column in text.phrases)
    for owner, start, stop in parts:
        begin, end = text.starts.searchsorted((start, stop)).tolist()
        done = -1  # the last word of the last term
        until: dict[int, int] = {}  # phrase -> its last word when it was last found
        for at in range(bisect_left(hit_words, begin), len(hit_words)):
            word = hit_words[at]
            if word >= end:
                break
            if word <= done:
                continue
            names_here = []
            phrase = bisect_left(first, word)
            while phrase < len(first) and first[phrase] == word:
                final = last[phrase]
                if final < end:
                    if overlapping:
                        if word > until.get(node[phrase], -1):
                            until[node[phrase]] = final
                            names_here.append(names[node[phrase]])
                    # Words with several meanings may make several of one length.
                    elif done < word or done == final:
                        done = final
                        names_here.append(names[node[phrase]])
                phrase += 1
            single = names[int(text.nodes[word])]
            if single and (overlapping or not names_here):
                names_here.append(single)
            for name in names_here:
                terms = found.setdefault(owner, {})
                terms[name] = terms.get(name, 0) + 1
    return found
