"""What pages are called in; the words of that, and those that begin in some way, out.

The postings know words by their hashes only, so which words begin with some letters is
looked up here. The words of titles, and of links to the pages, are few enough to be
kept; those that stand nowhere but in texts are not known.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from opilio.text.words import tokens

LONGEST = 40  # characters of a word that is kept
MOST = 100  # words of a segment that begin alike and are looked at

Vocabulary = npt.NDArray[np.uint8]
"""Words in ascending order, a line break before and after each, in UTF-8."""


def vocabulary_of(names: Iterable[str]) -> Vocabulary:
    """The words of some names, each once."""
    words = {word for name in names for word in tokens(name) if len(word) <= LONGEST}
    text = "\n".join(["", *sorted(words), ""])
    return np.frombuffer(text.encode("utf-8", "replace"), np.uint8)


def beginning_with(start: str, vocabulary: Vocabulary) -> list[str]:
    """The words that begin so, the first ones by the alphabet."""
    text, sought = vocabulary.tobytes(), f"\n{start}".encode("utf-8", "replace")
    found: list[str] = []
    place = text.find(sought)
    while place >= 0 and len(found) < MOST and text.startswith(sought, place):
        end = text.index(b"\n", place + 1)
        found.append(text[place + 1 : end].decode())
        place = end
    return found
