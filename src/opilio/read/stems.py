"""Text in; the hash of each word's stem out, its place, and the node of its term.

The same as hashing `words.stem(words.tokens(text))`. But a page has thousands of
words, most of them old acquaintances; so the bytes of each word make a key of 64 bits,
and a table that is filled as words come has what the word's stem is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio import words
from opilio.read import kernels
from opilio.read.plain_kernels import LONG, NO_KEY, Hashes, Integers
from opilio.read.terms import Terms

TABLE_BITS = 20  # the table has a million places, and 24 MB
MEMO_SIZE = 2**14
NO_STEM = 0  # of what is no word: a dash


class Row(NamedTuple):
    """The words of a text in order."""

    stems: Hashes  # the hash of each word's stem
    nodes: Integers  # where this stem is in the tree of terms
    starts: Integers  # bytes before it in the text

    def pick(self, which: npt.NDArray[np.bool_]) -> Row:
        """Some of the words."""
        return Row(self.stems[which], self.nodes[which], self.starts[which])


class Runs(NamedTuple):
    """The runs of bytes between separators; most are words."""

    data: bytes  # a zero, the text in lower case with zeros for separators, 8 zeros
    starts: Integers  # bytes of the text before each
    lengths: Integers
    keys: Hashes  # 64 bits of each; 0 if it is longer than LONG

    def texts(self, numbers: Integers) -> list[bytes]:
        """Some of the runs."""
        starts = self.starts[numbers] + 1
        ends = (starts + self.lengths[numbers]).tolist()
        edges = zip(starts.tolist(), ends, strict=True)
        return [self.data[start:end] for start, end in edges]


class Compound(NamedTuple):
    """What stands in the place of a run that is not one word alone."""

    stems: Sequence[int]
    offsets: Sequence[int]  # bytes of the run before each


class StemTable:
    """The words met so far, with their stems and where these are among the terms."""

    def __init__(self, terms: Terms, language: str) -> None:
        self.terms = terms
        self.language = language
        # A word has two places. It takes the first if that is free; if not, the second,
        # as in a processor's cache, from whatever was there. Key, stem and node lie
        # side by side: a look-up costs what fetching a line costs.
        self.table = np.zeros((1 << TABLE_BITS, 3), np.uint64)
        self.table[:, 0] = NO_KEY
        self.compounds: dict[bytes, Compound] = {}

    def row(self, runs: Runs, instead: dict[int, Compound] | None = None) -> Row:
        """The words of the runs; `instead` has what takes the place of some."""
        stems, nodes, new = kernels.look_up(self.table, runs.keys)
        row = Row(stems, nodes, runs.starts)
        compounds = self.learn(row, runs, new) if len(new) else {}
        if instead:
            compounds |= instead
        if compounds:
            row = self.expand(row, compounds)
        if not row.stems.all():
            row = row.pick(row.stems != NO_STEM)
        return row

    def learn(self, row: Row, runs: Runs, new: Integers) -> dict[int, Compound]:
        """Complete the row with the new words, all but the compounds, which it answers;
        the table knows them from now on."""
        texts = runs.texts(new)
        found = self.look_up(set(texts))
        numbers, stems = [], []
        compounds: dict[int, Compound] = {}
        for number, text in zip(new.tolist(), texts, strict=True):
            value = found[text]
            if isinstance(value, int):
                numbers.append(number)
                stems.append(value)
            else:
                compounds[number] = value
        places = np.array(numbers, np.int64)
        row.stems[places] = np.array(stems, np.uint64)
        tree = self.terms.hashes, self.terms.begins
        kernels.learn(*tree, self.table, runs.keys, places, row.stems, row.nodes)
        return compounds

    def look_up(self, runs: set[bytes]) -> dict[bytes, int | Compound]:
        """The hash of the stem of each run, or what it is made up of."""
        plain = [run for run in runs if len(run) <= LONG and run.isascii()]
        stems = words.stem_all(list(map(bytes.decode, plain)), self.language)
        found: dict[bytes, int | Compound] = dict(
            zip(plain, map(words.hash_of, stems), strict=True)
        )
        for run in runs.difference(plain):
            found[run] = self.split(run)
        return found

    def split(self, run: bytes) -> int | Compound:
        """The same for one that other separators than ASCII may divide."""
        known = self.compounds.get(run)
        if known is not None:
            return known
        text = run.decode("utf-8", "replace")
        spans = words.spans(text)
        if not spans:
            return NO_STEM
        tokens, places = zip(*spans, strict=True)
        hashes = list(map(words.hash_of, words.stem(tokens, self.language)))
        if places == (0,):
            return hashes[0]
        found = Compound(hashes, offsets_in(text, places))
        if len(run) <= LONG:
            if len(self.compounds) >= MEMO_SIZE:
                self.compounds.clear()
            self.compounds[run] = found
        return found

    def expand(self, row: Row, compounds: dict[int, Compound]) -> Row:
        """Put what each compound, given by its number, is made up of in its place."""
        numbers = sorted(compounds)
        found = [compounds[number] for number in numbers]
        sizes = np.ones(len(row.stems), np.int64)
        sizes[numbers] = [len(compound.stems) for compound in found]
        inside = np.zeros(len(row.stems), np.bool_)
        inside[numbers] = True
        inside = np.repeat(inside, sizes)
        stems = np.repeat(row.stems, sizes)
        nodes = np.repeat(row.nodes, sizes)
        starts = np.repeat(row.starts, sizes)
        within = chain.from_iterable(compound.stems for compound in found)
        stems[inside] = np.fromiter(within, np.uint64)
        nodes[inside] = self.terms.find(stems[inside])
        offsets = chain.from_iterable(compound.offsets for compound in found)
        starts[inside] += np.fromiter(offsets, np.int64)
        return Row(stems, nodes, starts)


def find_runs(text: bytes) -> Runs:
    """The runs of a text in UTF-8."""
    return Runs(*kernels.split(text))


def offsets_in(text: str, places: Sequence[int]) -> list[int]:
    """How many bytes of a text in UTF-8 stand before each of these characters."""
    offsets = []
    done = offset = 0
    for place in places:
        offset += len(text[done:place].encode())
        offsets.append(offset)
        done = place
    return offsets
