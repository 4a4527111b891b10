"""Text with words of other languages in; its words in the topic's language out.

Such a word may mean several things, and each may be several words. All that have words
of the topic count, in one place; if none has, the first meaning alone does, so that the
text stays about as long as it is. Noise words are left out. Phrases are found along any
choice of meanings.
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
LONGEST = 2**13  # bytes of a run that is transcribed
MOST = 2**15  # words of a text that are; the others stay as they are
NOISE = 4  # words without meaning that a phrase may have in a row

Tokens = Sequence[tuple[str, int, bool]]
"""The words of a run: each with the characters of the run before it, and whether it is
read by the transcriptor."""


class Transcribe(Protocol):
    """Says what words of other languages mean in the topic's."""

    def reads(self, word: str, language: str) -> bool:
        """Whether there is a dictionary for this word of a text in this language.

        That depends on the script of the word and on the language alone.
        """
        ...

    def run(self, words: Sequence[str], language: str) -> list[tuple[str, ...]]:
        """The meanings of each of some consecutive words that it reads.

        Unknown words mean themselves. None: a noise word, or part of a phrase whose
        meaning stands at its first word.
        """
        ...


class LatticeSpot(NamedTuple):
    """A word of the text where it stands."""

    word: str
    foreign: bool  # the transcriptor reads it
    line: int
    run: int  # number of the run it is in
    offset: int  # characters of the run before it

    def joins(self, other: LatticeSpot) -> bool:
        """Whether the next one can be transcribed together with it."""
        both = (self.foreign, self.line) == (other.foreign, other.line)
        return both and other.run - self.run < 2


class LatticePlace(NamedTuple):
    """What stands in the place of one word of the text."""

    meanings: Sequence[tuple[int, ...]]  # of each, the hashes of its stems
    foreign: bool
    line: int
    run: int = 0  # number of the run it stands in
    offset: int = 0  # characters of the run before it
    stems: Sequence[int] = ()  # of all meanings, each once
    written: Sequence[str] = ()  # the meanings
    first: int = 0  # the words of the row that are in its place,
    end: int = 0  # up to this one; a noise word has none


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
        """The runs with words that the transcriptor reads, by their numbers."""
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
        """The words of a run, if the transcriptor reads any of them."""
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
        """The words of a text, the words that no other phrase goes on to, the phrases
        that have a word of another language in them, and what each run with such words
        means."""
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
        """What stands in the place of each word of a stretch."""
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
        """The phrases that have a word of another language in them."""
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
    """The words of these runs, in stretches of what can be transcribed as one."""
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
    """What stands in the places of each run."""
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
