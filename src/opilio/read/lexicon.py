"""Text in; its vector out: how long it is, what topic terms it holds, its SimHash.

The same as counting `words.stem(words.tokens(text))`. But a page has thousands of
words, most of them old acquaintances; so what numpy can do for all of them at once is
not done word by word:

1. letters and digits to lower case, all other ASCII to zero: words lie between zeros
2. the bytes of each word to a key of 64 bits, eight bytes at a time
3. the key to the hash of the word's stem, by a table that is filled as words come
4. equal hashes side by side, by sorting, and counted
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import Stemmer
from xxhash import xxh3_64_intdigest

from opilio import words
from opilio.read.simhash import simhash
from opilio.types import Fingerprint

Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

LONGEST = 2**21  # bytes of a text that are counted; hostile pages have more
SHORTEST = 50  # words; of fewer, too many are a template's to tell copies by
TABLE_BITS = 20  # the table has a million places, and 16 MB
LONG = words.LONGEST  # bytes; longer words are looked up each time
MEMO_SIZE = 2**14
NO_KEY = np.uint64(1)  # of a place that is free
NO_STEM = 0  # of what is no word: a dash

_ASCII = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 0
    for code in range(256)
)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Vector(NamedTuple):
    """What counting the words of a text gives."""

    words: int
    terms: dict[str, int]  # topic term -> times it occurs
    norm: float  # √Σ(1+ln tf)² over all stems
    simhash: Fingerprint  # 0: the text is too short to tell


class Lexicon:
    """The words met so far with their stems, and the terms of a vocabulary."""

    def __init__(self, vocabulary: words.Vocabulary) -> None:
        self.vocabulary = vocabulary
        # Without the memo of words.stem: our table is one.
        algorithm = words.ALGORITHMS.get(vocabulary.language)
        self.stem_all: Callable[[list[str]], list[str]] = (
            Stemmer.Stemmer(algorithm, 0).stemWords if algorithm else list
        )
        terms = [key.split() for key in vocabulary.keys.values()]
        self.topic = {hash_of(stem): stem for term in terms for stem in term}
        self.topic_hashes = np.array(sorted(self.topic), np.uint64)
        self.phrases: dict[str, list[set[str]]] = {}  # first stem -> all, of each
        for term in terms:
            if len(term) > 1:
                self.phrases.setdefault(term[0], []).append(set(term))
        # As in a processor's cache, a word has one place; a new one takes it over. Key
        # and stem lie side by side, since a look-up costs what fetching a line costs.
        self.table = np.zeros((1 << TABLE_BITS, 2), np.uint64)
        self.table[:, 0] = NO_KEY
        self.compounds: dict[bytes, Hashes] = {}

    def vector(self, text: bytes) -> Vector:
        """Count the words of a text in UTF-8."""
        in_order = self.stem_hashes(text[:LONGEST])
        hashes, counts = count(in_order)
        weights = 1 + np.log(counts, dtype=np.float32)
        return Vector(
            words=len(in_order),
            terms=self.terms(in_order, hashes, counts),
            norm=math.sqrt(float(weights @ weights)),
            simhash=simhash(hashes, weights) if len(in_order) >= SHORTEST else 0,
        )

    def stem_hashes(self, text: bytes) -> Hashes:
        """The hash of each word's stem, in order."""
        # Zeros around: the first word has an edge too, and eight bytes can be read
        # from anywhere in the last one.
        data = b"\0%b%b" % (text.translate(_ASCII), bytes(8))
        starts, lengths = find_words(data)
        keys = word_keys(data, starts, lengths)
        places = (keys >> np.uint64(64 - TABLE_BITS)).view(np.int64)
        rows = self.table.take(places, axis=0)
        stems = rows[:, 1].copy()
        new = np.flatnonzero(rows[:, 0] != keys)
        if len(new):
            ends = (starts[new] + lengths[new]).tolist()
            edges = zip(starts[new].tolist(), ends, strict=True)
            new_words = [data[start:end] for start, end in edges]
            stems = self.learn(stems, new, new_words, places, keys)
        return stems if stems.all() else stems[stems != NO_STEM]

    def learn(
        self,
        stems: Hashes,
        new: Integers,
        new_words: list[bytes],
        places: Integers,
        keys: Hashes,
    ) -> Hashes:
        """The hashes with those of the new words; the table knows them from now on."""
        found = self.look_up(set(new_words))
        learnt = []
        compounds: list[tuple[int, Hashes]] = []
        for number, word in zip(new.tolist(), new_words, strict=True):
            value = found[word]
            if isinstance(value, int):
                stems[number] = value
                if len(word) <= LONG:
                    learnt.append(number)
            else:
                compounds.append((number, value))
        self.table[places[learnt], 0] = keys[learnt]
        self.table[places[learnt], 1] = stems[learnt]
        return expand(stems, compounds) if compounds else stems

    def look_up(self, new_words: set[bytes]) -> dict[bytes, int | Hashes]:
        """The hash of the stem of each word; of each of its stems if it has more."""
        plain = [word for word in new_words if len(word) <= LONG and word.isascii()]
        stems = self.stem_all(list(map(bytes.decode, plain)))
        found: dict[bytes, int | Hashes] = dict(
            zip(plain, map(hash_of, stems), strict=True)
        )
        for word in new_words.difference(plain):
            found[word] = self.compound(word)
        return found

    def compound(self, word: bytes) -> int | Hashes:
        """The same for what other separators than ASCII may divide."""
        known = self.compounds.get(word)
        if known is not None:
            return known
        tokens = words.tokens(word.decode("utf-8", "replace"))
        hashes = list(map(hash_of, words.stem(tokens, self.vocabulary.language)))
        if len(hashes) < 2:
            return hashes[0] if hashes else NO_STEM
        if len(self.compounds) >= MEMO_SIZE:
            self.compounds.clear()
        found = np.array(hashes, np.uint64)
        if len(word) <= LONG:
            self.compounds[word] = found
        return found

    def terms(
        self, in_order: Hashes, hashes: Hashes, counts: Integers
    ) -> dict[str, int]:
        """How often each term of the vocabulary occurs."""
        if not len(hashes):
            return {}
        places = np.searchsorted(hashes, self.topic_hashes)
        np.minimum(places, len(hashes) - 1, out=places)
        places = places[hashes[places] == self.topic_hashes]
        if not len(places):
            return {}
        on_page = hashes[places]
        stems = map(self.topic.__getitem__, on_page.tolist())
        found = dict(zip(stems, counts[places].tolist(), strict=True))
        may_have_phrases = any(
            phrase <= found.keys()
            for stem in found.keys() & self.phrases.keys()
            for phrase in self.phrases[stem]
        )
        row = self.topic_words(in_order, on_page) if may_have_phrases else ()
        return self.vocabulary.count(row, found)

    def topic_words(self, in_order: Hashes, on_page: Hashes) -> list[str]:
        """The stems of the topic in order, with an empty one wherever others stand."""
        spots = np.flatnonzero(np.isin(in_order, on_page))
        stems = [self.topic[value] for value in in_order[spots].tolist()]
        row = stems[:1]
        for gap, stem in zip(np.diff(spots).tolist(), stems[1:], strict=True):
            row += (stem,) if gap == 1 else ("", stem)
        return row


def hash_of(stem: str) -> int:
    """64 bits of a stem."""
    return xxh3_64_intdigest(stem.encode("utf-8", "replace"))


def find_words(data: bytes) -> tuple[Integers, Integers]:
    """Where each run of bytes other than zero starts, and its length."""
    inside = np.frombuffer(data, np.uint8) != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts = edges[0::2]
    return starts, edges[1::2] - starts


def word_keys(data: bytes, starts: Integers, lengths: Integers) -> Hashes:
    """64 bits of each word, by its first LONG bytes."""
    eight_from = np.ndarray(len(data) - 7, np.dtype("<u8"), data, strides=(1,))
    keys = mix(eight_from[starts] & _MASKS[np.minimum(lengths, 8)])
    longer = np.flatnonzero(lengths > 8)
    for done in range(8, LONG, 8):
        if not len(longer):
            break
        size = np.minimum(lengths[longer] - done, 8)
        block = eight_from[starts[longer] + done] & _MASKS[size]
        keys[longer] = mix(keys[longer] ^ block)
        longer = longer[lengths[longer] > done + 8]
    keys[longer] = 0  # which no place in the table has
    return keys


def mix(values: Hashes) -> Hashes:
    """Spread what tells values apart over all bits; no two values become one."""
    values = values * _ODD
    return values ^ (values >> _HALF)


def expand(stems: Hashes, compounds: list[tuple[int, Hashes]]) -> Hashes:
    """Put all stems of each compound, given by its number, in its place."""
    pieces: list[Hashes] = []
    done = 0
    for number, hashes in compounds:
        pieces += (stems[done:number], hashes)
        done = number + 1
    return np.concatenate((*pieces, stems[done:]))


def count(hashes: Hashes) -> tuple[Hashes, Integers]:
    """Each hash once, in ascending order, and how often it occurs."""
    if not len(hashes):
        return hashes, np.zeros(0, np.int64)
    ordered = np.sort(hashes)
    first = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    edges = np.flatnonzero(first)
    return ordered[edges[:-1]], np.diff(edges)
