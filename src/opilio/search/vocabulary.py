"""The words of titles and anchors, to complete a query like `clust*`.

The postings contain only hashes of words, so words with a given beginning are looked up
here. The words of titles and anchors are few enough to be stored; words that only occur
in texts are not known.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from opilio.text.words import tokens

LONGEST = 40  # characters of a stored word
MOST = 100  # words with the same beginning to look at in a segment

Vocabulary = npt.NDArray[np.uint8]
"""Words in ascending order, a line break before and after each, in UTF-8."""


def vocabulary_of(names: Iterable[str]) -> Vocabulary:
    """The words of some names, each once."""
    words = {word for name in names for word in tokens(name) if len(word) <= LONGEST}
    text = "\n".join(["", *sorted(words), ""])
    return np.frombuffer(text.encode("utf-8", "replace"), np.uint8)


def beginning_with(start: str, vocabulary: Vocabulary) -> list[str]:
    """The words with this beginning, the first ones in alphabetical order."""
    text, sought = vocabulary.tobytes(), f"\n{start}".encode("utf-8", "replace")
    found: list[str] = []
    place = text.find(sought)
    while place >= 0 and len(found) < MOST and text.startswith(sought, place):
        end = text.index(b"\n", place + 1)
        found.append(text[place + 1 : end].decode())
        place = end
    return found
