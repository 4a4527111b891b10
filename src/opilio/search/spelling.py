"""Suggests another spelling for a word that no page has.

Norvig, "How to write a spelling corrector": all words one edit away are tried, and the
one on most pages is taken. The index has no list of words, only hashes of stems, so the
words are made and looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

LONGEST = 30  # letters; longer words are left as they are
SHORTEST = 3
LATIN = "abcdefghijklmnopqrstuvwxyz"

Frequencies = Callable[[Sequence[str]], Sequence[int]]
"""Words -> how many pages have each, in any form."""


def respelt(word: str, frequencies: Frequencies, letters: Iterable[str] = LATIN) -> str:
    """The most frequent word that is one edit away; "" if there is none."""
    if not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
        return ""
    near = edits(word, tuple(letters))
    counted = dict(zip(near, frequencies(list(near)), strict=True))
    # Forms of one word are equally frequent; the likelier slip comes first.
    best = max(near, key=lambda other: (counted[other], -near[other], other))
    return best if counted[best] else ""


def edits(word: str, letters: tuple[str, ...]) -> dict[str, int]:
    """The words one edit away, and the kind of edit: two letters swapped (0), one
    changed (1), left out (2) or added (3)."""
    made: dict[str, int] = {}
    for other, slip in _edits(word, letters):
        if other and other != word:
            made[other] = min(slip, made.get(other, slip))
    return made


def _edits(word: str, letters: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for place in range(len(word) + 1):
        head, tail = word[:place], word[place:]
        yield head + tail[1:], 3
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:], 0
        for letter in letters:
            yield head + letter + tail, 2
            yield head + letter + tail[1:], 1
