"""Finds the stem and the topic term of each word, with a table of known words.

The result is the same as hashing `words.stem(words.tokens(text))`. But a page has
thousands of words, most of them known; so the bytes of each word make a key of 64 bits,
and a table that grows with new words maps keys to stems.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from opilio.read import kernels
from opilio.read.plain_kernels import LONG, NO_KEY
from opilio.read.plain_tree import Hashes, Integers
from opilio.read.term_tree import Terms
from opilio.text import words

FEWEST, MOST = 1 << 14, 1 << 20  # places of the table, of 24 bytes each
MEMO_SIZE = 2**14


class StemRow(NamedTuple):
    """The words of a text in order."""

    stems: Hashes  # the hash of each word's stem
    nodes: Integers  # where this stem is in the tree of terms
    starts: Integers  # characters before it in the text
    lines: Integers  # lines before its own


class Runs(NamedTuple):
    """The runs of bytes between separators; most are words."""

    data: bytes  # a zero, the text in lower case with zeros for separators, 8 zeros
    begins: Integers  # bytes of the text before each
    starts: Integers  # characters before it
    lines: Integers  # lines before its own
    keys: Hashes  # 64 bits of it; 0 if it is longer than LONG
    stems: Hashes  # the hash of its stem
    nodes: Integers  # where this stem is in the tree of terms
    new: dict[int, bytes]  # those that the table does not know, by their numbers

    def texts(self, numbers: Sequence[int]) -> list[bytes]:
        """Some of the runs."""
        data = self.data
        starts = [self.begins.item(number) + 1 for number in numbers]
        return [data[start : data.index(0, start)] for start in starts]


class Compound(NamedTuple):
    """The words of a run that is not a single word; none: a dash."""

    stems: Sequence[int]
    offsets: Sequence[int]  # characters of the run before each


Compounds = dict[bytes, Compound]


class StemTable:
    """The words seen so far, with their stems and where these are among the terms."""

    def __init__(self, terms: Terms, language: str) -> None:
        self.terms = terms
        self.language = language
        # A word has two places. It takes the first if that is free; if not, it replaces
        # whatever is in the second, as in a processor's cache. Key, stem and node are
        # side by side: a look-up costs one cache line. The table grows with the words,
        # because one that is larger than the processor's caches is slower.
        self.table = empty_table(FEWEST)
        self.learnt = 0  # words, some of them replaced since
        self.compounds: Compounds = {}

    def find_runs(self, text: str, longest: int) -> Runs:
        """The runs in the first `longest` bytes of a text."""
        return Runs(*kernels.look_up(self.table, text, longest))

    def row(self, runs: Runs, instead: dict[int, Compound] | None = None) -> StemRow:
        """The words of the runs; `instead` has the words that replace some of them."""
        row = StemRow(runs.stems, runs.nodes, runs.starts, runs.lines)
        compounds = self.complete(runs) if runs.new else {}
        if instead:
            compounds |= instead
        if not compounds:
            return row
        terms = self.terms
        return StemRow(*kernels.expand(terms.hashes, terms.begins, *row, compounds))

    def complete(self, runs: Runs) -> dict[int, Compound]:
        """Fill in the stems of new words; returns the compounds among them, which the
        table never holds."""
        texts = set(runs.new.values())
        known = self.compounds
        compounds = {text: known[text] for text in texts if text in known}
        stems, others = self.look_up(texts.difference(compounds))
        compounds |= others
        if stems:
            tree = self.terms.hashes, self.terms.begins
            self.learnt += len(stems)
            if self.learnt > len(self.table) // 4 and len(self.table) < MOST:
                self.table = enlarged(self.table)
            kernels.learn(*tree, self.table, runs, stems)
        if not compounds:
            return {}
        each = ((number, compounds.get(text)) for number, text in runs.new.items())
        return {number: value for number, value in each if value is not None}

    def look_up(self, runs: set[bytes]) -> tuple[dict[bytes, int], Compounds]:
        """The hash of the stem of each run, or the words that it consists of."""
        plain = [run for run in runs if run.isascii() and len(run) <= LONG]
        stems = words.stem_all(list(map(bytes.decode, plain)), self.language)
        found = dict(zip(plain, words.hash_all(stems), strict=True))
        compounds: Compounds = {}
        for run in runs.difference(plain):
            value = self.split(run)
            if isinstance(value, Compound):
                compounds[run] = value
            else:
                found[run] = value
        return found, compounds

    def split(self, run: bytes) -> int | Compound:
        """The same for one run, which may have separators beyond ASCII."""
        text = run.decode("utf-8", "replace")
        spans = words.spans(text)
        stems = words.stem((word for word, _ in spans), self.language)
        hashes = list(map(words.hash_of, stems))
        offsets = [place for _, place in spans]
        if offsets == [0]:
            return hashes[0]
        found = Compound(hashes, offsets)
        if len(run) <= LONG:
            if len(self.compounds) >= MEMO_SIZE:
                self.compounds.clear()
            self.compounds[run] = found
        return found


def empty_table(places: int) -> Hashes:
    """A table without words; a power of 2 as its number of places."""
    table = np.zeros((places, 3), np.uint64)
    table[:, 0] = NO_KEY
    return table


def enlarged(table: Hashes) -> Hashes:
    """The same words in a table of four times the size."""
    found = empty_table(4 * len(table))
    rows = table[table[:, 0] != NO_KEY]
    keys = rows[:, 0]
    first = keys >> np.uint64(65 - len(found).bit_length())
    found[first] = rows
    late = found[first, 0] != keys  # another word has their first place
    found[keys[late] & np.uint64(len(found) - 1)] = rows[late]
    return found
