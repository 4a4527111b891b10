"""Hashes of stems in; where the terms of a topic stand among them out.

The terms are a tree: below each stem hangs what may follow it in a term. A node is
known by 64 bits of all stems on the way to it,

    h(s₁) = hash of s₁,    h(s₁…sₙ) = mix(h(s₁…sₙ₋₁)) ⊕ h(sₙ)

so that one search in a sorted array finds a node, and numpy does so for all words of a
page at once. Two nodes, or a node and a word that is none, are taken for each other
once in 2⁶⁴ comparisons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.words import hash_of

Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NONE = 0  # the node of what begins no term
ROOM = 4  # places a node, so that most nodes are found at the first
MASK = 2**64 - 1
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Phrases(NamedTuple):
    """Where terms of several words stand, by the numbers of words.

    By their beginnings, and where several begin, the longest first.
    """

    first: Integers
    last: Integers
    node: Integers


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
        nodes = np.unique(np.concatenate((*levels, np.zeros(0, np.uint64))))
        # Between two that no search may pass; the first is NONE.
        self.hashes = np.concatenate(([np.uint64(0)], nodes, [np.uint64(MASK)]))
        self.sorted = self.hashes.data
        bits = max(4, (ROOM * len(nodes)).bit_length())
        self.shift = np.uint64(64 - bits)
        begins = np.arange(1 << bits, dtype=np.uint64) << self.shift
        self.begins = np.searchsorted(self.hashes, begins).astype(np.int32)
        self.goes_on = np.zeros(len(self.hashes), np.bool_)
        self.goes_on[self.find(inner_nodes(levels, lengths))] = True
        self.goes_on[NONE] = False
        self.names = [""] * len(self.hashes)  # of each node, the term that ends there
        for node, key in zip(self.find(ends).tolist(), distinct, strict=True):
            self.names[node] = key
        self.ends = np.fromiter(map(bool, self.names), np.bool_, len(self.names))

    def find(self, hashes: Hashes) -> Integers:
        """The node of each hash, or NONE."""
        found: Integers = self.begins[hashes >> self.shift].astype(np.int64)
        there = self.hashes[found]
        while (behind := (there < hashes).nonzero()[0]).size:
            found[behind] += 1
            there[behind] = self.hashes[found[behind]]
        found[there != hashes] = NONE
        return found

    def below(self, nodes: Integers, stems: Hashes) -> Integers:
        """Where one comes from each node by one stem more."""
        return self.find(mix(self.hashes[nodes]) ^ stems)

    def child(self, node: int, stem: int) -> int:
        """The same for one node; from NONE, one comes to the first stems of terms."""
        value = self.sorted[node] * int(_ODD) & MASK
        value ^= value >> 32 ^ stem
        found = bisect_left(self.sorted, value)
        return found if self.sorted[found] == value else NONE

    def phrases(
        self, stems: Hashes, nodes: Integers, apart: Flags | None = None
    ) -> Phrases:
        """Every phrase in a text, given the hash and the node of each word's stem.

        None goes on to a word that is `apart`.
        """
        first = nodes.nonzero()[0]
        first = first[self.goes_on[nodes[first]]]
        last, node = first, nodes[first]
        found: list[Phrases] = []
        while len(first):
            if last[-1] == len(stems) - 1:
                first, last, node = first[:-1], last[:-1], node[:-1]
            last = last + 1
            node = self.below(node, stems[last])
            if apart is not None:
                node[apart[last]] = NONE
            there = node.nonzero()[0]
            first, last, node = first[there], last[there], node[there]
            if not len(there):
                break
            ends = self.ends[node]
            if ends.any():
                found.append(Phrases(first[ends], last[ends], node[ends]))
            more = self.goes_on[node]
            first, last, node = first[more], last[more], node[more]
        return in_order(found) if found else Phrases(first, last, node)


def in_order(found: Iterable[Phrases]) -> Phrases:
    """All of these."""
    first, last, node = map(np.concatenate, zip(*found, strict=True))
    order = np.lexsort((-last, first))
    return Phrases(first[order], last[order], node[order])


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
    """The nodes from which a term goes on."""
    inner = [np.zeros(0, np.uint64)]
    for level, nodes in enumerate(levels):
        inner.append(nodes[lengths[lengths > level] > level + 1])
    return np.concatenate(inner)


def mix(values: Hashes) -> Hashes:
    """Spread what tells values apart over all bits; no two values become one."""
    values = values * _ODD
    return values ^ (values >> _HALF)
