"""Packs the words of a page into bytes for the search index, and unpacks them.

A word is 32 bits of the hash of its stem, little-endian. First come two numbers, the
words in the title and in the headings; then these words, then those of the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.text.words import hash_of

Words = npt.NDArray[np.uint32]

BITS = 2**32 - 1
MOST = 20_000  # words of a text; the rest of a longer page is not indexed
MOST_TOLD = 500  # of the title, and of all headings


class WordSequence(NamedTuple):
    """The words of a page, in order."""

    title: Words
    headings: Words
    text: Words


def word(stem: str) -> int:
    """The number of a stem."""
    return hash_of(stem) & BITS


def pack(
    title: npt.NDArray[np.uint64],
    headings: npt.NDArray[np.uint64],
    text: npt.NDArray[np.uint64],
) -> bytes:
    """The hashes of the stems of a page as bytes."""
    title, headings, text = title[:MOST_TOLD], headings[:MOST_TOLD], text[:MOST]
    lengths = np.array((len(title), len(headings)), np.uint64)
    return np.concatenate((lengths, title, headings, text)).astype("<u4").tobytes()


def unpack_words(data: bytes) -> WordSequence:
    """The words that were packed."""
    numbers = np.frombuffer(data, "<u4")
    if len(numbers) < 2:
        return WordSequence(numbers[:0], numbers[:0], numbers[:0])
    headings = 2 + int(numbers[0])
    text = headings + int(numbers[1])
    return WordSequence(numbers[2:headings], numbers[headings:text], numbers[text:])
