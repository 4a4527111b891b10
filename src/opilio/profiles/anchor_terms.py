"""Finds topic terms in many anchors at once.

Looking for terms in an anchor of three words costs a hundred times as much as three
words of a long text. So the anchors are joined into one text with a line per anchor,
since no term continues on the next line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from opilio.read.lexicon import Lexicon


MOST = 2**18  # characters at once, which a lexicon can read
LONGEST = 2**12  # characters of an anchor that are looked at


def terms_in(
    anchors: Sequence[str], lexicon: Lexicon, language: str
) -> dict[int, Mapping[str, int]]:
    """Term -> times, for each anchor that has any, by its number."""
    found: dict[int, Mapping[str, int]] = {}
    for start, lines in portions(anchors):
        words = lexicon.words("\n".join(lines), language)
        if not len(words.hits):
            continue
        ends = np.cumsum([len(line) + 1 for line in lines])
        places = words.starts[words.hits]
        named = np.unique(np.searchsorted(ends, places, side="right"))
        cuts = []
        for place, number in enumerate(named.tolist()):
            end = int(ends[number])
            cuts += [(end - len(lines[number]) - 1, place), (end, -1)]
        tallies = words.tally(cuts, len(named))
        for number, tally in zip(named.tolist(), tallies, strict=True):
            if tally.terms:
                found[start + number] = tally.terms
    return found


def portions(anchors: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The anchors as lines, in portions of at most MOST characters."""
    start, size = 0, 0
    lines: list[str] = []
    for anchor in anchors:
        line = anchor[:LONGEST].replace("\n", " ")
        lines.append(line)
        size += len(line) + 1
        if size > MOST - LONGEST:
            yield start, lines
            start, size, lines = start + len(lines), 0, []
    yield start, lines
