"""Shades the blocks of a page's text by relevance, and marks the topic's terms in it.

The relevance of a block is R(t,b) of `judge/blocks.py`, computed on the main text as it
is stored, so no markup is parsed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import log, sqrt
from typing import TypeAlias

import msgspec

from opilio.judge.blocks import block_relevance
from opilio.records import Block, Extraction, Subject
from opilio.text.words import Vocabulary, stem, tokens

MOST_BLOCKS = 400
LONGEST = 200_000  # characters of a text that are shown
ENOUGH = 40  # words of a block, after which another may begin
STEPS = (0.02, 0.06, 0.12, 0.22)  # the relevance from which each next shade is used
_word = re.compile(r"[^\W_][\w’']*")
_heading = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
Stems: TypeAlias = list[tuple[str, int, int]]
"""The stems of a text, and where each word begins and ends."""
_link = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")


class TextPiece(msgspec.Struct, frozen=True):
    """A part of a text; `term` if it is a term of the topic."""

    text: str
    term: bool


class ShadedBlock(msgspec.Struct, frozen=True):
    """A block of a page's main text: a heading and what stands under it."""

    heading: str
    paragraphs: list[list[TextPiece]]
    words: int
    relevance: float  # R(t,b)
    shade: int  # 0 to 4


def text_blocks(content: Extraction, subject: Subject) -> list[ShadedBlock]:
    """The blocks of a main text, in order."""
    marker = TermMarker(subject)
    relevance = block_relevance(subject.weights)
    found = []
    for heading, lines in grouped(content):
        stems = [marker.stems(line) for line in lines]
        marked = list(map(marker.mark, lines, stems))
        counts = marker.count([marker.stems(heading), *stems])
        value = relevance(counts)
        found.append(ShadedBlock(heading, marked, counts.words, value, shade(value)))
        if len(found) >= MOST_BLOCKS:
            break
    return found


def grouped(content: Extraction) -> Iterator[tuple[str, list[str]]]:
    """The lines of a text under their headings, which its Markdown knows; long parts
    are split between paragraphs."""
    headings = {
        " ".join(_link.sub(r"\1", name).replace("*", "").split())
        for name in _heading.findall(content.markdown[:LONGEST])
    }
    heading, lines, words = "", list[str](), 0
    for line in content.text[:LONGEST].splitlines():
        text = " ".join(line.split())
        is_heading = text in headings
        if (is_heading or words >= ENOUGH) and (heading or lines):
            yield heading, lines
            heading, lines, words = "", [], 0
        if is_heading:
            heading = text
        elif text:
            lines.append(text)
            words += text.count(" ") + 1
    if lines:
        yield heading, lines


def shade(relevance: float) -> int:
    """The shade for a relevance, 0 to 4.

    >>> shade(0.0), shade(0.05), shade(0.5)
    (0, 1, 4)
    """
    return sum(relevance >= step for step in STEPS)


@lru_cache(maxsize=100_000)
def stem_of(word: str, language: str) -> str:
    """The stem of a word of a text; "" if it has none."""
    return next(iter(stem(tokens(word)[:1], language)), "")


class TermMarker:
    """Finds the terms of a topic in text: those that have a weight."""

    def __init__(self, subject: Subject) -> None:
        self.language = subject.language
        keys = Vocabulary(subject.terms, subject.language).keys.values()
        wanted = {key for key in keys if key in subject.weights} or set(keys)
        self.by_first: dict[str, list[tuple[str, ...]]] = {}
        for key in sorted(wanted, key=lambda key: -key.count(" ")):
            stems = tuple(key.split())
            if stems:
                self.by_first.setdefault(stems[0], []).append(stems)

    def stems(self, text: str) -> Stems:
        """The stems of a text, and where each word begins and ends."""
        return [
            (one, match.start(), match.end())
            for match in _word.finditer(text)
            if (one := stem_of(match[0], self.language))
        ]

    def terms(self, stems: Stems) -> Iterator[tuple[int, int]]:
        """The places of terms, first and last word, longest first."""
        place = 0
        while place < len(stems):
            length = 1
            for term in self.by_first.get(stems[place][0], ()):
                here = tuple(one for one, _, _ in stems[place : place + len(term)])
                if here == term:
                    length = len(term)
                    yield place, place + length - 1
                    break
            place += length

    def mark(self, text: str, stems: Stems) -> list[TextPiece]:
        """A text with these stems in pieces, the terms among them marked."""
        pieces, end = list[TextPiece](), 0
        for first, last in self.terms(stems):
            start, stop = stems[first][1], stems[last][2]
            if start > end:
                pieces.append(TextPiece(text[end:start], False))
            pieces.append(TextPiece(text[start:stop], True))
            end = stop
        if end < len(text):
            pieces.append(TextPiece(text[end:], False))
        return pieces

    def count(self, lines: Sequence[Stems]) -> Block:
        """The terms of several lines, counted as a reader counts those of a block."""
        all_stems: Counter[str] = Counter()
        terms: Counter[str] = Counter()
        for stems in lines:
            all_stems.update(one for one, _, _ in stems)
            for first, last in self.terms(stems):
                terms[" ".join(one for one, _, _ in stems[first : last + 1])] += 1
        norm = sqrt(sum((1 + log(count)) ** 2 for count in all_stems.values()))
        return Block(
            words=all_stems.total(),
            terms=dict(terms),
            norm=norm,
            most=max(all_stems.values(), default=0),
        )
