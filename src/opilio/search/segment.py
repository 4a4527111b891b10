"""Pages with their words in; postings out: which pages have a word, and how often.

A segment is made at once and never changed. Of a word that stands in the title or in a
heading, a page has several more (Robertson, Zaragoza & Taylor, "Simple BM25 extension
to multiple weighted fields", CIKM 2004):

    tf = tf_text + HEADING · tf_headings + TITLE · tf_title

There are two kinds of postings (Yang, §4.4): of ontology features, and of words. In
`paper` mode no feature is among the words.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.word_sequence import Words, unpack, word

TITLE = 8
HEADING = 2
MOST = 255  # what counts count to
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
PARTS = ("terms", "starts", "pages", "counts")

Pages = npt.NDArray[np.void]
Numbers = npt.NDArray[np.uint32]


class Entry(NamedTuple):
    """A page that is to be found."""

    entry: int
    page: int
    host: int
    language: str
    score: float
    fetched_at: float
    words: bytes
    features: bytes


class Postings(NamedTuple):
    """Terms in ascending order; the pages of term n stand from starts[n] on."""

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

    def frequencies(self, terms: Words) -> npt.NDArray[np.int64]:
        """How many pages have each of many terms."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64)
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        sizes: npt.NDArray[np.int64] = self.starts[places + 1] - self.starts[places]
        sizes[self.terms[places] != terms] = 0
        return sizes


class Segment(NamedTuple):
    """Some pages, and the postings of all that is on them."""

    pages: Pages
    words: Postings
    features: Postings


Without = Callable[[Words], Words]
"""Words -> those of them that belong into the postings of words."""


def everything(words: Words) -> Words:
    """All words, as they are."""
    return words


def make_segment(entries: Iterable[Entry], without: Without = everything) -> Segment:
    """The postings of some pages."""
    rows: list[tuple[int | float, ...]] = []
    words: list[Words] = []
    features: list[Mapping[str, int]] = []
    for entry in entries:
        said = unpack(entry.words)
        length = sum(map(len, said))
        rows.append(
            (
                *(entry.entry, entry.page, entry.host, language_code(entry.language)),
                *(length, entry.score, entry.fetched_at),
            )
        )
        title, headings, text = map(without, said)
        weighted = (title.repeat(TITLE), headings.repeat(HEADING), text)
        words.append(np.concatenate(weighted))
        features.append(msgspec.msgpack.decode(entry.features))
    return Segment(np.array(rows, PAGE), invert(words), invert_counted(features))


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
    """The same for pages that are given by how often they have each of their terms."""
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


def save_segment(segment: Segment, folder: Path) -> None:
    """Write a segment into a new folder, safe on disk when this returns."""
    folder.mkdir()
    save_array(folder / "pages.npy", segment.pages)
    for kind in KINDS:
        for part in PARTS:
            array = getattr(getattr(segment, kind), part)
            save_array(folder / f"{kind}-{part}.npy", array)


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array, safe on disk when this returns."""
    with path.open("wb") as file:
        np.save(file, array)
        file.flush()
        os.fsync(file.fileno())


def open_segment(folder: Path) -> Segment:
    """A segment whose arrays stay on disk until they are looked at."""
    words, features = (
        Postings(*(open_array(folder / f"{kind}-{part}.npy") for part in PARTS))
        for kind in KINDS
    )
    return Segment(open_array(folder / "pages.npy"), words, features)


def open_array(path: Path) -> npt.NDArray[Any]:
    """An array on disk; a plain view of it, which is quicker than numpy's memmap."""
    array = np.load(path, mmap_mode="r" if path.stat().st_size > 2**16 else None)
    plain: npt.NDArray[Any] = array.view(np.ndarray)
    return plain
