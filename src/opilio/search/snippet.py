"""Chooses the passage of a page to show for a query, and marks the hits in it.

A passage with a whole phrase of the query is preferred to those with its separate
words. A hit in a sentence counts most, one in a heading or a short line less, and one
in a menu, a footer or advertising is used only if there is no other. A passage is a
list of pieces, each marked as a hit or not. Nothing here makes markup, so the caller
decides how to show it, and the text of a page stays text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple
from unicodedata import category

WIDTH = 230  # characters of a passage
CLOSE = 160  # characters of the part with the hits
LONGEST = 100_000  # characters of a text that are looked at
MOST_WORDS = 5000  # words with the right beginning that are looked at
MOST = 100  # hits among these that are weighed
MOST_FOR_PHRASES = 500  # hits in which a phrase is looked for
SAME = 3  # letters that a word nearly always shares with its stem
LONGEST_WORD = 64
SENTENCE = 60  # characters of a line that is more than a heading or a link
IN_A_SENTENCE, IN_A_SHORT_LINE, BESIDE = 1.0, 0.5, 0.0  # the weight of a hit
WHOLE = 200.0  # the factor of a phrase: more than all words of a query together

_ends = re.compile(r"[.!?…]['\"”’)]*\s|[。！？]|\n").finditer  # of sentences
_is_end = re.compile(r"[.!?…。！？:;,·]['\"”’)]*\Z").search
_lines = re.compile(r"(?<!\s)\s*\n\s*").split
_blanks = re.compile(" +").sub

First = Callable[[str], tuple[str, int]]
"""Returns the stem of the first word of a text, and that word's length."""


class PageText(NamedTuple):
    """The text of a page, and the ranges that are menus, footers and advertising."""

    text: str
    beside: Sequence[tuple[int, int]] = ()


class Piece(NamedTuple):
    """A part of a passage."""

    text: str
    hit: bool


Hit = tuple[int, int, str]
"""Where a word with a wanted stem begins and ends, and the stem."""


class Spot(NamedTuple):
    """A hit, or a phrase of hits, and its weight."""

    start: int
    end: int
    stem: str
    weight: float


def snippet(
    page: PageText,
    wanted: Collection[str],
    first: First,
    phrases: Sequence[tuple[str, ...]] = (),
) -> list[Piece]:
    """The passage with most of the wanted phrases and stems, or the first sentence."""
    page = PageText(page.text[:LONGEST], page.beside)
    hits = sorted(
        find_hits(page.text, wanted, first, MOST_FOR_PHRASES if phrases else MOST)
    )
    begin, end = bounds(page, *(place_of(page, hits, phrases) or first_sentence(page)))
    pieces: list[Piece] = []
    done = begin
    for start, stop, _ in hits:
        if begin <= start and stop <= end:
            pieces.append(Piece(page.text[done:start], False))
            pieces.append(Piece(page.text[max(done, start) : stop], True))
            done = stop
    pieces.append(Piece(page.text[done:end], False))
    before = page.text[max(0, begin - 9) : begin]
    return framed(pieces, before, page.text[end : end + 1])


def place_of(
    page: PageText, hits: Sequence[Hit], phrases: Sequence[tuple[str, ...]]
) -> tuple[int, int] | None:
    """From where to where the hits go that are worth most; None if there are none."""
    together = weighed(page, whole(page.text, hits, phrases), WHOLE)
    if any(spot.weight for spot in together):
        near = {spot.start // CLOSE + step for spot in together for step in (-1, 0, 1)}
        some = [hit for hit in hits if hit[0] // CLOSE in near]
    else:
        some = list(first_ones(hits))
    spots = sorted(together + weighed(page, some))
    return best([spot for spot in spots if spot.weight] or spots)


def first_ones(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The first MOST hits of each stem."""
    seen: Counter[str] = Counter()
    for hit in hits:
        seen[hit[2]] += 1
        if seen[hit[2]] <= MOST:
            yield hit


def find_hits(
    text: str, wanted: Collection[str], first: First, most: int
) -> Iterator[Hit]:
    """The words with a wanted stem; the first ones of each beginning."""
    lowered = text.lower()
    if len(lowered) != len(text):  # as it does by a Turkish İ
        lowered = "".join(char.lower()[0] for char in text)
    for beginning in {beginning_of(stem) for stem in wanted if stem}:
        words = islice(words_with(lowered, beginning), MOST_WORDS)
        yield from islice(hits_among(words, lowered, wanted, first), most)


def hits_among(
    words: Iterable[int], text: str, wanted: Collection[str], first: First
) -> Iterator[Hit]:
    """The places of the words with a wanted stem, and the stem."""
    known: dict[str, tuple[str, int]] = {}
    for start in words:
        run = text[start : start + LONGEST_WORD].split(None, 1)[0]
        if run not in known:
            known[run] = first(run)
        stem, length = known[run]
        if stem in wanted:
            yield start, start + length, stem


def beginning_of(stem: str) -> str:
    """The common beginning of words with this stem; stemming only changes the end."""
    return stem[:SAME] if len(stem) > SAME else stem[: SAME - 1]


def words_with(text: str, beginning: str) -> Iterator[int]:
    """Where words with this beginning are. Some scripts put no space between words."""
    spaceless = not beginning.isascii() and beginning[0] > "\u0dff"
    place = text.find(beginning)
    while place >= 0:
        if spaceless or not place or not text[place - 1].isalnum():
            yield place
        place = text.find(beginning, place + 1)


def weighed(page: PageText, hits: Iterable[Hit], times: float = 1.0) -> list[Spot]:
    """The hits with their weights, multiplied by `times`."""
    return [Spot(*hit, times * weight(page, hit[0], hit[1])) for hit in hits]


def weight(page: PageText, start: int, end: int) -> float:
    """The weight of a hit at this place."""
    for first, last in page.beside:
        if first <= start < last:
            return BESIDE
    before = page.text[max(0, start - SENTENCE) : start].rpartition("\n")[2]
    after = page.text[start : end + SENTENCE].partition("\n")[0]
    length = len(before) + len(after)
    return IN_A_SENTENCE if length >= SENTENCE else IN_A_SHORT_LINE


def whole(
    text: str, hits: Sequence[Hit], phrases: Iterable[tuple[str, ...]]
) -> Iterator[Hit]:
    """The places where the words of a phrase are together."""
    stems = [stem for _, _, stem in hits]
    for phrase in phrases:
        for number in places_of(stems, phrase):
            row = hits[number : number + len(phrase)]
            between = (text[one[1] : two[0]] for one, two in pairwise(row))
            if not any(map(str.isalnum, chain.from_iterable(between))):
                yield row[0][0], row[-1][1], " ".join(phrase)


def places_of(stems: list[str], phrase: tuple[str, ...]) -> Iterator[int]:
    """Where these stems follow each other."""
    for number in range(len(stems) - len(phrase) + 1):
        if stems[number] == phrase[0] and phrase == tuple(
            stems[number : number + len(phrase)]
        ):
            yield number


def best(spots: Sequence[Spot]) -> tuple[int, int] | None:
    """From where to where the hits go that are worth most; None if there are none."""
    chosen: tuple[int, int] | None = None
    most = (-1.0, 0, 0)
    last = 0
    for number, first in enumerate(spots):
        before = last
        while last < len(spots) and spots[last].end <= first.start + CLOSE:
            last += 1
        if last == before:
            continue  # a subset of the previous ones
        inside = spots[number:last]
        if (worth := worth_of(inside)) > most:
            most, chosen = worth, (first.start, inside[-1].end)
    return chosen


def worth_of(spots: Sequence[Spot]) -> tuple[float, int, int]:
    """The sum of weights, how often two hits are adjacent, and the number of hits."""
    weights: dict[str, float] = {}
    for spot in spots:
        weights[spot.stem] = max(weights.get(spot.stem, 0.0), spot.weight)
    together = sum(
        two.start - one.end <= 1 and one.stem != two.stem
        for one, two in pairwise(spots)
    )
    return sum(weights.values()), together, len(spots)


def first_sentence(page: PageText) -> tuple[int, int]:
    """Where the first sentence of a page's text is, after menus and headings."""
    place, longest, chosen = 0, 0, 0
    for line in page.text.split("\n"):
        length = min(len(line), SENTENCE)
        if length > longest and weight(page, place, place) != BESIDE:
            longest, chosen = length, place
        if longest == SENTENCE:
            break
        place += len(line) + 1
    return chosen, chosen


def bounds(page: PageText, start: int, end: int) -> tuple[int, int]:
    """The range of a passage with these hits: it starts at the beginning of their
    sentence, if that is near, and never extends into menus or footers."""
    text, room = page.text, WIDTH - (end - start)
    low = max([0, start - room, *(last for _, last in page.beside if last <= start)])
    high = min([len(text), *(first for first, _ in page.beside if first >= end)])
    sentences = [found.end() for found in _ends(text, low, start)]
    if sentences:
        low = sentences[-1]
    elif low == start - room:
        low = start - room // 2
        low = max(low, text.find(" ", low, start) + 1)
    if high > low + WIDTH:
        high = low + WIDTH
        blanks = (text.rfind(blank, end, high + 1) for blank in " \n")
        high = max((blank for blank in blanks if blank >= 0), default=high)
    return low, high


def framed(pieces: Sequence[Piece], before: str, after: str) -> list[Piece]:
    """The pieces on one line, with dots where a sentence was cut."""
    texts = [text for text, _ in pieces]
    last = texts[-1]
    texts[0] = texts[0].lstrip()
    texts[-1] = texts[-1].rstrip()
    texts = list(map(one_line, texts))
    if before and not is_ended(before):
        texts[0] = f"… {texts[0]}"
    if after not in ("", "\n") and not is_ended(last):
        texts[-1] += " …"
    shown = zip(texts, pieces, strict=True)
    return [Piece(text, hit) for text, (_, hit) in shown if text]


def is_ended(text: str) -> bool:
    """Whether a sentence or a line ends here."""
    return text.endswith("\n") or bool(_is_end(text.rstrip()))


def one_line(text: str) -> str:
    """A text without line breaks and control characters; a middle dot marks the end of
    a line that is not a sentence."""
    line, *others = _lines(text)
    for other in others:
        line += " " if _is_end(line) else " · "
        line += other
    if not line.isprintable():
        line = "".join(map(printable, line))
    return _blanks(" ", line)


def printable(character: str) -> str:
    """A character or its replacement; characters without width are removed."""
    if character.isprintable():
        return character
    return "" if category(character) == "Cf" else " "
