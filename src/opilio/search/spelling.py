"""A word that no page has in; one that is spelt nearly so, and that pages have, out.

Norvig, "How to write a spelling corrector": all words one edit away are tried, and the
one on most pages is taken. The index has no list of words, only hashes of stems, so the
words are made and looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

LONGEST = 30  # letters; longer words are left as they are
SHORTEST = 3
LATIN = "abcdefghijklmnopqrstuvwxyz"

Frequency = Callable[[str], int]
"""A word -> how many pages have it, in any form."""


def respelt(word: str, frequency: Frequency, letters: Iterable[str] = LATIN) -> str:
    """The most frequent word that is one edit away; "" if there is none."""
    if not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
        return ""
    counted = {other: frequency(other) for other in edits(word, tuple(letters))}
    best = max(counted, key=lambda other: (counted[other], other), default="")
    return best if best and counted[best] else ""


def edits(word: str, letters: tuple[str, ...]) -> set[str]:
    """All that one letter left out, added, changed, or two swapped make of a word."""
    return set(_edits(word, letters)) - {word, ""}


def _edits(word: str, letters: tuple[str, ...]) -> Iterator[str]:
    for place in range(len(word) + 1):
        head, tail = word[:place], word[place:]
        yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in letters:
            yield head + letter + tail
            yield head + letter + tail[1:]
