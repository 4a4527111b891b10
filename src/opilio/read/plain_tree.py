"""Finds topic terms and phrases among hashed words with numpy.

`term_tree` describes the tree of terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]  # 1: yes

ODD = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
NONE = 0  # the node of words that begin no term

Row = tuple[Hashes, Integers, Integers, Integers]
"""For each word its stem, its node, the characters before it and its line."""


class Tree(NamedTuple):
    """The terms of a topic."""

    names: list[str]  # the term that ends at each node
    hashes: Hashes  # ascending
    begins: npt.NDArray[np.int32]  # where those with the first bits 0, 1, 2 ... begin
    goes_on: Marks  # whether a longer term does
    ends: Marks  # whether a term does


class FoundPhrases(NamedTuple):
    """Where terms of several words are, by the numbers of words.

    They are ordered by their beginnings; those with the same beginning, longest first.
    """

    first: Integers
    last: Integers
    node: Integers


def mix(values: Hashes) -> Hashes:
    """Mix the bits of values; different values stay different."""
    values = values * ODD
    return values ^ (values >> HALF)


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


def find_phrases(tree: Tree, row: Row, apart: Marks | None) -> FoundPhrases:
    """Every phrase within a line; none continues to a word that is `apart`."""
    _, hashes, begins, goes_on, ends = tree
    stems, of_words, _, lines = row
    first = of_words.nonzero()[0]
    first = first[goes_on[of_words[first]] != 0]
    last, node = first, of_words[first]
    found = [(first[:0], first[:0], first[:0])]
    while len(first):
        if last[-1] == len(stems) - 1:
            first, last, node = first[:-1], last[:-1], node[:-1]
        last = last + 1
        node = find(hashes, begins, mix(hashes[node]) ^ stems[last])
        if apart is not None:
            node[apart[last] != 0] = NONE
        there = node.nonzero()[0]
        first, last, node = first[there], last[there], node[there]
        whole = ends[node] != 0
        found.append((first[whole], last[whole], node[whole]))
        more = goes_on[node] != 0
        first, last, node = first[more], last[more], node[more]
    first, last, node = map(np.concatenate, zip(*found, strict=True))
    one = lines[first] == lines[last]
    return in_order([FoundPhrases(first[one], last[one], node[one])])


def in_order(found: Iterable[FoundPhrases]) -> FoundPhrases:
    """All phrases, in order."""
    first, last, node = map(np.concatenate, zip(*found, strict=True))
    order = np.lexsort((-last, first))
    return FoundPhrases(first[order], last[order], node[order])


def different(keys: Hashes) -> tuple[Hashes, Integers, Integers]:
    """The different keys, ascending, where each is first, and which of them each key
    is; np.unique would import a lot of numpy."""
    order = keys.argsort(kind="stable")
    ordered = keys[order]
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    where = np.empty(len(keys), np.int64)
    where[order] = begins.cumsum() - 1
    return ordered[begins], order[begins], where
