"""Translates words of other languages in a text into the topic's language.

Such a word may have several meanings, each of several words. All meanings with topic
terms count, in one place; if there are none, only the first meaning counts, so that the
text keeps about the same length. Noise words are left out. Phrases are found along any
combination of meanings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from opilio.read.plain_tree import NONE, FoundPhrases, Marks
from opilio.read.stems import Compound, Runs, StemRow, StemTable
from opilio.text import words

MEMO_SIZE = 2**14
PLAIN = b"a"  # stands for any word in ASCII
LONGEST = 2**13  # bytes of a run that is translated
MOST = 2**15  # words of a text that are translated; the others stay as they are
NOISE = 4  # words without meaning that a phrase may have in a row

Tokens = Sequence[tuple[str, int, bool]]
"""The words of a run: each with its offset in the run in characters, and whether the
transcriptor can translate it."""


class Transcribe(Protocol):
    """Translates words of other languages into the topic's language."""

    def reads(self, word: str, language: str) -> bool:
        """Whether there is a dictionary for this word of a text in this language.

        That depends only on the script of the word and on the language.
        """
        ...

    def run(self, words: Sequence[str], language: str) -> list[tuple[str, ...]]:
        """The meanings of each of some consecutive words that it can translate.

        Unknown words mean themselves. No meaning: a noise word, or part of a phrase
        whose meaning is given at its first word.
        """
        ...


class LatticeSpot(NamedTuple):
    """A word of the text and its place."""

    word: str
    foreign: bool  # the transcriptor can translate it
    line: int
    run: int  # number of the run it is in
    offset: int  # characters of the run before it

    def joins(self, other: LatticeSpot) -> bool:
        """Whether the next word can be translated together with it."""
        both = (self.foreign, self.line) == (other.foreign, other.line)
        return both and other.run - self.run < 2


class LatticePlace(NamedTuple):
    """The meanings of one word of the text."""

    meanings: Sequence[tuple[int, ...]]  # the hashes of the stems of each
    foreign: bool
    line: int
    run: int = 0  # number of the run it stands in
    offset: int = 0  # characters of the run before it
    stems: Sequence[int] = ()  # of all meanings, each once
    written: Sequence[str] = ()  # the meanings
    first: int = 0  # its first word in the row,
    end: int = 0  # and the one after its last; a noise word has none


class Lattice:
    """Reads texts with the help of a transcriptor."""

    def __init__(self, transcriptor: Transcribe, table: StemTable) -> None:
        self.transcriptor = transcriptor
        self.table = table
        self.terms = table.terms
        self.topic = frozenset(self.terms.stems.tolist())
        self.known: dict[tuple[bytes, str], Tokens] = {}
        self.meant: dict[str, tuple[int, ...]] = {}

    def foreign(self, runs: Runs, language: str) -> dict[int, Tokens]:
        """The runs with words that the transcriptor can translate, by number."""
        if self.split(PLAIN, language):
            numbers = np.arange(len(runs.begins))
        elif runs.data.isascii():
            return {}
        else:
            beyond = np.flatnonzero(np.frombuffer(runs.data, np.int8) < 0)
            numbers = np.unique(np.searchsorted(runs.begins, beyond) - 1)
        found = {}
        size = 0
        chosen = numbers.tolist()
        for number, run in zip(chosen, runs.texts(chosen), strict=True):
            if len(run) <= LONGEST and (tokens := self.split(run, language)):
                size += len(tokens)
                if size > MOST:
                    break
                found[number] = tokens
        return found

    def split(self, run: bytes, language: str) -> Tokens:
        """The words of a run, if the transcriptor can translate any of them."""
        known = self.known.get((run, language))
        if known is not None:
            return known
        text = run.decode("utf-8", "replace")
        spans = [(text, 0)] if text.isascii() else words.spans(text)
        reads = [self.transcriptor.reads(word, language) for word, _ in spans]
        each = zip(spans, reads, strict=True)
        tokens = tuple((*span, read) for span, read in each) if any(reads) else ()
        if len(self.known) >= MEMO_SIZE:
            self.known.clear()
        if len(run) <= words.LONGEST:
            self.known[run, language] = tokens
        return tokens

    def read(
        self, runs: Runs, foreign: dict[int, Tokens], language: str
    ) -> tuple[StemRow, Marks, FoundPhrases, dict[int, list[str]]]:
        """Translate a text. Returns its words, the words at which other phrases must
        end, the phrases with a translated word, and the meaning of each run with such
        words."""
        of_runs = runs.lines[list(foreign)].tolist()
        places: list[LatticePlace] = []
        for stretch in stretches(foreign, of_runs):
            places += self.transcribe(stretch, language)
        row = self.table.row(runs, compounds(places))
        starts = [runs.starts[place.run] + place.offset for place in places]
        places = seated(places, np.searchsorted(row.starts, starts).tolist())
        apart = np.zeros(len(row.stems) + 1, np.uint8)
        for place in places:
            if place.foreign:
                apart[place.first : place.end + 1] = 1
        told: dict[int, list[str]] = {place.run: [] for place in places}
        for place in places:
            told[place.run] += place.written
        return row, apart, self.phrases(row, places), told

    def transcribe(
        self, stretch: list[LatticeSpot], language: str
    ) -> Iterator[LatticePlace]:
        """The meanings of each word of a stretch."""
        tokens = [spot.word for spot in stretch]
        if stretch[0].foreign:
            found: Iterable[Sequence[str]] = self.transcriptor.run(tokens, language)
        else:
            found = [(word,) for word in tokens]
        for spot, meanings in zip(stretch, found, strict=True):
            stems: dict[tuple[int, ...], str] = {}
            for meaning in meanings:
                stems.setdefault(self.stems_of(meaning), meaning)
            stems.pop((), None)
            kept = [each for each in stems if not self.topic.isdisjoint(each)]
            kept = kept or list(stems)[:1]
            once = tuple(dict.fromkeys(chain.from_iterable(kept)))
            place = LatticePlace(
                kept, spot.foreign, spot.line, spot.run, spot.offset, once
            )
            yield place._replace(written=[stems[each] for each in kept])

    def stems_of(self, meaning: str) -> tuple[int, ...]:
        """The hashes of the stems of a word or phrase."""
        known = self.meant.get(meaning)
        if known is None:
            tokens = words.tokens(meaning)
            known = tuple(map(words.hash_of, words.stem(tokens, self.table.language)))
            if len(self.meant) >= MEMO_SIZE:
                self.meant.clear()
            self.meant[meaning] = known
        return known

    def phrases(self, row: StemRow, places: list[LatticePlace]) -> FoundPhrases:
        """The phrases with a translated word."""
        found: dict[tuple[int, int, int], None] = {}
        if self.terms.longest > 1:
            natives = [
                LatticePlace([(stem,)], False, line, first=number, end=number + 1)
                for number, (stem, line) in enumerate(
                    zip(row.stems.tolist(), row.lines.tolist(), strict=True)
                )
            ]
            reach = self.terms.longest - 1
            for part in neighbourhoods(places, natives, reach):
                for number, place in enumerate(part):
                    for last, node in self.phrases_from(part, number):
                        found[place.first, last, node] = None
        columns = np.array(list(found), np.int64).reshape(-1, 3).T
        return FoundPhrases(*columns)

    def phrases_from(
        self, places: list[LatticePlace], begin: int
    ) -> Iterator[tuple[int, int]]:
        """The last word and the node of each phrase that begins in a place."""
        terms = self.terms
        ways = [
            (begin, NONE, meaning[skipped:], False)
            for meaning in places[begin].meanings
            for skipped in range(len(meaning))
        ]
        while ways:
            at, node, stems, foreign = ways.pop()
            foreign |= places[at].foreign
            for stem in stems:
                node = terms.child(node, stem)
                if foreign and " " in terms.names[node]:
                    yield places[at].end - 1, node
                if not terms.goes_on[node]:
                    break
            else:
                following = next_place(places, at)
                if following:
                    foreign |= following > at + 1
                    ways += (
                        (following, node, meaning, foreign)
                        for meaning in places[following].meanings
                    )


def next_place(places: list[LatticePlace], at: int) -> int:
    """The next place with a meaning in the same line, past some noise; 0: none."""
    for following in range(at + 1, min(at + 2 + NOISE, len(places))):
        if places[following].line != places[at].line:
            break
        if places[following].meanings:
            return following
    return 0


def stretches(
    foreign: dict[int, Tokens], lines: Sequence[int]
) -> Iterator[list[LatticeSpot]]:
    """The words of these runs, in stretches that can be translated together."""
    stretch: list[LatticeSpot] = []
    for (run, tokens), line in zip(foreign.items(), lines, strict=True):
        for word, offset, read in tokens:
            spot = LatticeSpot(word, read, line, run, offset)
            if stretch and not stretch[-1].joins(spot):
                yield stretch
                stretch = []
            stretch.append(spot)
    if stretch:
        yield stretch


def compounds(places: list[LatticePlace]) -> dict[int, Compound]:
    """The words that replace each run."""
    stems: dict[int, list[int]] = {place.run: [] for place in places}
    offsets: dict[int, list[int]] = {place.run: [] for place in places}
    for place in places:
        stems[place.run] += place.stems
        offsets[place.run] += [place.offset] * len(place.stems)
    return {run: Compound(stems[run], offsets[run]) for run in stems}


def seated(places: list[LatticePlace], seats: list[int]) -> list[LatticePlace]:
    """The places, with the words of the row that are in them, from each seat on."""
    found: list[LatticePlace] = []
    end = 0
    for place, seat in zip(places, seats, strict=True):
        first = max(seat, end)
        end = first + len(place.stems)
        found.append(place._replace(first=first, end=end))
    return found


def neighbourhoods(
    places: list[LatticePlace], natives: list[LatticePlace], reach: int
) -> Iterator[list[LatticePlace]]:
    """The places, each with so many of its neighbours, in parts that touch nowhere."""
    part: list[LatticePlace] = []
    done = 0
    for place in places:
        if part and place.first - done > 2 * reach:
            yield part + natives[done : done + reach]
            part = []
        if not part:
            done = max(done, place.first - reach)
        part += natives[done : place.first]
        part.append(place)
        done = place.end
    yield part + natives[done : done + reach]
