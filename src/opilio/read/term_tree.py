"""The tree of a topic's terms, which finds terms and phrases by hashes of stems.

Below each stem are the stems that may follow it in a term. A node is identified by 64
bits of all stems on the path to it,

    h(s₁) = hash of s₁,    h(s₁…sₙ) = mix(h(s₁…sₙ₋₁)) ⊕ h(sₙ)

so that one search in a sorted array finds a node, and numpy does so for all words of a
page at once. Two nodes, or a node and a word that is none, are taken for each other
once in 2⁶⁴ comparisons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain

import numpy as np

from opilio.read.plain_tree import (
    HALF,
    NONE,
    ODD,
    Hashes,
    Integers,
    Tree,
    different,
    find,
    mix,
)
from opilio.text.words import hash_of

ROOM = 4  # places per node, so that most nodes are found at once
MASK = 2**64 - 1


class Terms:
    """The terms of a topic as a tree, given by their keys."""

    def __init__(self, keys: Iterable[str]) -> None:
        distinct = list(dict.fromkeys(filter(None, keys)))
        split = [key.split() for key in distinct]
        known = {stem: hash_of(stem) for stem in set(chain.from_iterable(split))}
        stems = np.fromiter(
            map(known.__getitem__, chain.from_iterable(split)), np.uint64
        )
        lengths = np.fromiter(map(len, split), np.int64, len(split))
        self.stems = stems  # of all terms
        self.longest = int(lengths.max(initial=0))  # in words
        levels, ends = paths(stems, lengths)
        nodes, _, _ = different(np.concatenate((*levels, np.zeros(0, np.uint64))))
        # Between two sentinels; the first is NONE.
        self.hashes = np.concatenate(([np.uint64(0)], nodes, [np.uint64(MASK)]))
        self.sorted = self.hashes.data
        bits = max(4, (ROOM * len(nodes)).bit_length())
        begins = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        self.begins = np.searchsorted(self.hashes, begins).astype(np.int32)
        self.goes_on = np.zeros(len(self.hashes), np.uint8)
        self.goes_on[self.find(inner_nodes(levels, lengths))] = 1
        self.goes_on[NONE] = 0
        self.names = [""] * len(self.hashes)  # of each node, the term that ends there
        for node, key in zip(self.find(ends).tolist(), distinct, strict=True):
            self.names[node] = key
        whole = np.array(list(map(bool, self.names))).view(np.uint8)
        self.tree = Tree(self.names, self.hashes, self.begins, self.goes_on, whole)

    def find(self, hashes: Hashes) -> Integers:
        """The node of each hash, or NONE."""
        return find(self.hashes, self.begins, hashes)

    def child(self, node: int, stem: int) -> int:
        """The child of a node by a stem; NONE is the root."""
        value = self.sorted[node] * int(ODD) & MASK
        value ^= value >> int(HALF) ^ stem
        found = bisect_left(self.sorted, value)
        return found if self.sorted[found] == value else NONE


def paths(stems: Hashes, lengths: Integers) -> tuple[list[Hashes], Hashes]:
    """The nodes of all terms level by level, and the last node of each term."""
    starts = np.cumsum(lengths) - lengths
    ends = stems[starts] if len(lengths) else stems
    levels = [ends.copy()]
    for level in range(1, int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > level)
        ends[longer] = mix(ends[longer]) ^ stems[starts[longer] + level]
        levels.append(ends[longer])
    return levels, ends


def inner_nodes(levels: list[Hashes], lengths: Integers) -> Hashes:
    """The nodes at which a longer term continues."""
    inner = [np.zeros(0, np.uint64)]
    for level, nodes in enumerate(levels):
        inner.append(nodes[lengths[lengths > level] > level + 1])
    return np.concatenate(inner)
