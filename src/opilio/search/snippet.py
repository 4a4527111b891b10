"""The text of a page and the stems of a query in; a passage with the hits marked out.

A passage with a whole phrase of the query goes before all that have its words apart.
A hit in a sentence says most, one in a heading or a short line less, and one in a menu,
a footer or advertising is shown only if there is no other. A passage is pieces, each
with whether it is a hit; joined they are the passage. Nothing here makes markup, so
what shows it decides how, and what a page says stays text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple
from unicodedata import category

WIDTH = 230  # characters of a passage
CLOSE = 160  # characters of the part with the hits that it is chosen for
LONGEST = 100_000  # characters of a text that are looked at
MOST_WORDS = 5000  # with a beginning that are looked at
MOST = 100  # hits among these that are weighed
MOST_FOR_PHRASES = 500  # that a phrase is looked for in
SAME = 3  # letters that a word and its stem begin with, nearly always
LONGEST_WORD = 64
SENTENCE = 60  # characters of a line that is more than a heading or a link
IN_A_SENTENCE, IN_A_SHORT_LINE, BESIDE = 1.0, 0.5, 0.0  # what a hit weighs
WHOLE = 200.0  # times as much weighs a phrase: more than all words of a query can

_ends = re.compile(r"[.!?…]['\"”’)]*\s|[。！？]|\n").finditer  # of sentences
_is_end = re.compile(r"[.!?…。！？:;,·]['\"”’)]*\Z").search
_lines = re.compile(r"\s*\n\s*").split
_blanks = re.compile(" +").sub

First = Callable[[str], tuple[str, int]]
"""A text -> the stem of its first word, and how many characters that has."""


class PageText(NamedTuple):
    """What a page says, and from where to where that is no text of its own: menus,
    footers and advertising."""

    text: str
    beside: Sequence[tuple[int, int]] = ()


class Piece(NamedTuple):
    """A part of a passage."""

    text: str
    hit: bool


Hit = tuple[int, int, str]
"""Where a wanted stem begins and ends, and which it is."""


class Spot(NamedTuple):
    """A hit, or a phrase of hits, and what it is worth."""

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
    """The passage that has most of the wanted phrases and stems; the first sentence if
    none has."""
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
    """Of each stem so many."""
    seen: Counter[str] = Counter()
    for hit in hits:
        seen[hit[2]] += 1
        if seen[hit[2]] <= MOST:
            yield hit


def find_hits(
    text: str, wanted: Collection[str], first: First, most: int
) -> Iterator[Hit]:
    """Where words begin that have a wanted stem; the first ones of each beginning."""
    lowered = text.lower()
    if len(lowered) != len(text):  # as it does by a Turkish İ
        lowered = "".join(char.lower()[0] for char in text)
    for beginning in {beginning_of(stem) for stem in wanted if stem}:
        words = islice(words_with(lowered, beginning), MOST_WORDS)
        yield from islice(hits_among(words, lowered, wanted, first), most)


def hits_among(
    words: Iterable[int], text: str, wanted: Collection[str], first: First
) -> Iterator[Hit]:
    """Where those words begin and end that have a wanted stem, and which."""
    known: dict[str, tuple[str, int]] = {}
    for start in words:
        run = text[start : start + LONGEST_WORD].split(None, 1)[0]
        if run not in known:
            known[run] = first(run)
        stem, length = known[run]
        if stem in wanted:
            yield start, start + length, stem


def beginning_of(stem: str) -> str:
    """What words of this stem begin with; only the end of a stem is made up."""
    return stem[:SAME] if len(stem) > SAME else stem[: SAME - 1]


def words_with(text: str, beginning: str) -> Iterator[int]:
    """Where words begin so. Some scripts put no space between words."""
    spaceless = not beginning.isascii() and beginning[0] > "\u0dff"
    place = text.find(beginning)
    while place >= 0:
        if spaceless or not place or not text[place - 1].isalnum():
            yield place
        place = text.find(beginning, place + 1)


def weighed(page: PageText, hits: Iterable[Hit], times: float = 1.0) -> list[Spot]:
    """The hits with what they weigh, so many times."""
    return [Spot(*hit, times * weight(page, hit[0], hit[1])) for hit in hits]


def weight(page: PageText, start: int, end: int) -> float:
    """What a hit there weighs."""
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
    """Where the words of a phrase stand together."""
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
            continue  # these are among the ones before
        inside = spots[number:last]
        if (worth := worth_of(inside)) > most:
            most, chosen = worth, (first.start, inside[-1].end)
    return chosen


def worth_of(spots: Sequence[Spot]) -> tuple[float, int, int]:
    """How much of what is wanted these are; how often two stand together; how many."""
    weights: dict[str, float] = {}
    for spot in spots:
        weights[spot.stem] = max(weights.get(spot.stem, 0.0), spot.weight)
    together = sum(
        two.start - one.end <= 1 and one.stem != two.stem
        for one, two in pairwise(spots)
    )
    return sum(weights.values()), together, len(spots)


def first_sentence(page: PageText) -> tuple[int, int]:
    """Where the text of a page begins, past what is above it."""
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
    """From where to where a passage with these hits goes: from the beginning of their
    sentence, if that is near, and never into what is beside the text."""
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
    """The pieces on one line; with dots where a sentence has been cut."""
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
    """Does a sentence or a line end here?"""
    return text.endswith("\n") or bool(_is_end(text.rstrip()))


def one_line(text: str) -> str:
    """A text without line breaks and control characters; a point in the middle is where
    a line has ended that is no sentence."""
    line, *others = _lines(text)
    for other in others:
        line += " " if _is_end(line) else " · "
        line += other
    if not line.isprintable():
        line = "".join(map(printable, line))
    return _blanks(" ", line)


def printable(character: str) -> str:
    """A character, or what takes its place; what has no width leaves no gap."""
    if character.isprintable():
        return character
    return "" if category(character) == "Cf" else " "
