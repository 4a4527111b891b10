"""The text of a page and the stems of a query in; a passage with the hits marked out.

A passage is pieces, each with whether it is a hit. Nothing here makes markup, so what
shows it decides how, and what a page says stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import groupby
from typing import NamedTuple

WORDS = 30  # of a passage
LONGEST = 100_000  # characters of a text that are looked at
SAME = 2  # letters that a word and its stem begin with, nearly always
WIDEST = 400  # characters of a passage

_unsafe = re.compile("[\0-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]+").sub

NOTHING: frozenset[str] = frozenset()

Stem = Callable[[str], Collection[str]]
"""A piece of text between spaces -> the stems in it."""


class Piece(NamedTuple):
    """A part of a passage."""

    text: str
    hit: bool


def snippet(text: str, wanted: Collection[str], stems: Stem) -> list[Piece]:
    """The passage that has most of the wanted stems; the beginning if none has any."""
    runs = text[:LONGEST].split()
    known = hits_among(set(runs), wanted, stems)
    start = best_start([known.get(run, NOTHING) for run in runs])
    passage = runs[start : start + WORDS]
    pieces = [
        Piece(_unsafe(" ", " ".join(part)).strip(), hit)
        for hit, part in groupby(passage, key=known.__contains__)
    ]
    if start + WORDS < len(runs):
        pieces.append(Piece("…", False))
    if start:
        pieces.insert(0, Piece("…", False))
    return shortened(pieces)


def hits_among(
    runs: Collection[str], wanted: Collection[str], stems: Stem
) -> dict[str, frozenset[str]]:
    """Those of the runs that have a wanted stem, and which."""
    beginnings = "|".join({re.escape(one[:SAME]) for one in wanted})
    may_be = re.compile(beginnings or "$^", re.IGNORECASE).search
    found = {
        run: frozenset(stems(run)).intersection(wanted) for run in runs if may_be(run)
    }
    return {run: hits for run, hits in found.items() if hits}


def best_start(hits: list[frozenset[str]]) -> int:
    """Where the passage begins that has the most different hits, then most hits."""
    places = [place for place, hit in enumerate(hits) if hit]
    best, begin = (0, 0), 0
    for number, place in enumerate(places):
        close = places[number : number + WORDS]
        inside = [other for other in close if other < place + WORDS]
        different = len(frozenset().union(*(hits[other] for other in inside)))
        if (different, len(inside)) > best:
            # Some words before the first hit, as many as after the last one.
            spare = WORDS - (inside[-1] - place + 1)
            best, begin = (different, len(inside)), max(0, place - spare // 2)
    return begin


def shortened(pieces: list[Piece]) -> list[Piece]:
    """A passage of words that are not endless."""
    room, kept = WIDEST, []
    for piece in pieces:
        if room <= 0:
            break
        kept.append(Piece(piece.text[:room], piece.hit))
        room -= len(piece.text)
    return kept
