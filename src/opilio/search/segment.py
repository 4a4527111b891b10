"""A segment of the search index: which pages have a word, how often and where.

A segment is written once and never changed. Words in the title or in a heading count
several times (Robertson, Zaragoza & Taylor, "Simple BM25 extension to multiple weighted
fields", CIKM 2004):

    tf = tf_text + HEADING · tf_headings + TITLE · tf_title

There are two kinds of postings (Yang, §4.4): of ontology features, and of words. In
`paper` mode the words do not include features. Positions are stored for all words.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from opilio.search.positions import WordPositions, places_of
from opilio.search.vocabulary import Vocabulary, vocabulary_of
from opilio.text.word_sequence import Words, WordSequence, unpack_words, word

TITLE = 8
HEADING = 2
MOST = 255  # the largest count
PAGE = np.dtype(
    [
        ("entry", "<i8"),
        ("page", "<i8"),  # link.id
        ("host", "<i4"),
        ("language", "<u2"),  # see language_code
        ("length", "<u4"),  # words
        ("score", "<f4"),  # the verdict
        ("fetched_at", "<f8"),
    ]
)
KINDS = ("words", "features")

Pages = npt.NDArray[np.void]
Numbers = npt.NDArray[np.uint32]


class IndexEntry(NamedTuple):
    """A page to index."""

    entry: int
    page: int
    host: int
    language: str
    score: float
    fetched_at: float
    words: bytes
    features: bytes
    name: str = ""  # its title and the anchor of a link to it


class Postings(NamedTuple):
    """Terms in ascending order; the pages of term n begin at starts[n]."""

    terms: Words
    starts: npt.NDArray[np.int64]
    pages: Numbers  # by their places in the segment
    counts: npt.NDArray[np.uint8]

    def find(self, term: int) -> tuple[Numbers, npt.NDArray[np.uint8]]:
        """The pages that have a term, in ascending order, and how often each."""
        place = int(np.searchsorted(self.terms, np.uint32(term)))
        if place == len(self.terms) or self.terms[place] != term:
            return self.pages[:0], self.counts[:0]
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.pages[part], self.counts[part]

    def find_all(
        self, terms: Words
    ) -> tuple[Numbers, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """The same for many terms at once, with the index of the term of each page."""
        if not len(self.terms):
            return self.pages[:0], self.counts[:0], self.starts[:0]
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        known = np.flatnonzero(self.terms[places] == terms)
        starts, ends = self.starts[places[known]], self.starts[places[known] + 1]
        sizes = ends - starts
        # From each start, as many numbers as there are pages.
        part = np.repeat(ends - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        return self.pages[part], self.counts[part], np.repeat(known, sizes)

    def frequencies(self, terms: Words) -> npt.NDArray[np.int64]:
        """How many pages have each of many terms."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64)
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        sizes: npt.NDArray[np.int64] = self.starts[places + 1] - self.starts[places]
        sizes[self.terms[places] != terms] = 0
        return sizes


FILES = (
    "pages.npy",
    *(f"{kind}-{part}.npy" for kind in KINDS for part in Postings._fields),
    *(f"places-{part}.npy" for part in WordPositions._fields),
    "vocabulary.npy",
)


class Segment(NamedTuple):
    """Some pages, their postings, the positions of words, and the words of titles and
    anchors."""

    pages: Pages
    words: Postings
    features: Postings
    places: WordPositions
    vocabulary: Vocabulary


Without = Callable[[Words], Words]
"""Words -> those of them that belong in the word postings."""


def everything(words: Words) -> Words:
    """All words, as they are."""
    return words


def make_segment(
    entries: Iterable[IndexEntry], without: Without = everything
) -> Segment:
    """The postings of some pages."""
    rows: list[tuple[int | float, ...]] = []
    sequences: list[WordSequence] = []
    words: list[Words] = []
    features: list[Mapping[str, int]] = []
    names: list[str] = []
    for entry in entries:
        said = unpack_words(entry.words)
        length = sum(map(len, said))
        rows.append(
            (
                *(entry.entry, entry.page, entry.host, language_code(entry.language)),
                *(length, entry.score, entry.fetched_at),
            )
        )
        sequences.append(said)
        title, headings, text = map(without, said)
        weighted = (title.repeat(TITLE), headings.repeat(HEADING), text)
        words.append(np.concatenate(weighted))
        features.append(msgspec.msgpack.decode(entry.features))
        names.append(entry.name)
    return Segment(
        np.array(rows, PAGE),
        invert(words),
        invert_counted(features),
        places_of(sequences),
        vocabulary_of(names),
    )


def invert(pages: Sequence[Words]) -> Postings:
    """The postings of pages, each given by all of its words."""
    sizes = [len(page) for page in pages]
    keys = np.concatenate((*pages, np.zeros(0, "<u4"))).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.repeat(np.arange(len(pages), dtype=np.uint64), sizes)
    keys.sort()  # by term, then by page
    edges = np.flatnonzero(np.diff(keys, prepend=~keys[:1], append=~keys[-1:]))
    return collect(keys[edges[:-1]], np.diff(edges))


def invert_counted(pages: Sequence[Mapping[str, int]]) -> Postings:
    """The same for pages that are given by the counts of their terms."""
    names = {name: word(name) for page in pages for name in page}
    found = sorted(
        (names[name] << 32 | place, count)
        for place, page in enumerate(pages)
        for name, count in page.items()
    )
    keys, counts = zip(*found, strict=True) if found else ((), ())
    return collect(np.array(keys, np.uint64), np.array(counts, np.int64))


def collect(keys: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]) -> Postings:
    """Postings of ordered keys, each a term and a page, with their counts."""
    terms = (keys >> np.uint64(32)).astype("<u4")
    starts = np.flatnonzero(np.diff(terms.astype(np.int64), prepend=-1))
    return Postings(
        terms=terms[starts],
        starts=np.append(starts, len(terms)).astype("<i8"),
        pages=keys.astype("<u4"),  # the lower half
        counts=np.minimum(counts, MOST).astype(np.uint8),
    )


def language_code(language: str) -> int:
    """A language of two letters as a number; 0 for any other."""
    letters = language.encode("ascii", "replace")
    return int.from_bytes(letters, "big") if len(letters) == 2 else 0


class Damaged(Exception):
    """A segment on disk has changed since it was written."""


class Stamp(msgspec.Struct, frozen=True):
    """The size and checksum of a file, to notice changes."""

    length: int
    checksum: int


Stamps = dict[str, Stamp]
"""File of a segment -> its stamp."""


def save_segment(segment: Segment, folder: Path) -> Stamps:
    """Write a segment into a new folder, safe on disk when this returns."""
    folder.mkdir()
    arrays: Sequence[npt.NDArray[Any]] = (
        segment.pages,
        *segment.words,
        *segment.features,
        *segment.places,
        segment.vocabulary,
    )
    return {
        name: save_array(folder / name, array)
        for name, array in zip(FILES, arrays, strict=True)
    }


def save_array(path: Path, array: npt.NDArray[Any]) -> Stamp:
    """Write an array, safe on disk when this returns."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    content = buffer.getbuffer()
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return Stamp(len(content), xxh3_64_intdigest(content))


def check_segment(folder: Path, stamps: Stamps, *, thorough: bool) -> None:
    """Raise Damaged if a file has another size or, if thorough, other content."""
    for name in FILES:
        path, stamp = folder / name, stamps.get(name)
        try:
            is_same = stamp is not None and path.stat().st_size == stamp.length
            if is_same and stamp and thorough:
                content = np.memmap(path, np.uint8, "r").data
                is_same = xxh3_64_intdigest(content) == stamp.checksum
        except (OSError, ValueError) as error:
            raise Damaged(str(error)) from error
        if not is_same:
            raise Damaged(f"{path} has changed since it was written")


def open_segment(folder: Path, stamps: Stamps) -> Segment:
    """Open a segment whose arrays are read on demand; may raise Damaged."""
    check_segment(folder, stamps, thorough=True)
    try:
        pages, *parts = (open_array(folder / name) for name in FILES)
    except (OSError, ValueError, EOFError) as error:
        raise Damaged(str(error)) from error
    *parts, vocabulary = parts
    words, features, places = parts[:4], parts[4:8], parts[8:]
    return Segment(
        pages, Postings(*words), Postings(*features), WordPositions(*places), vocabulary
    )


def open_array(path: Path) -> npt.NDArray[Any]:
    """An array on disk as a plain view, which is faster than numpy's memmap."""
    array = np.load(path, mmap_mode="r" if path.stat().st_size > 2**16 else None)
    plain: npt.NDArray[Any] = array.view(np.ndarray)
    return plain
