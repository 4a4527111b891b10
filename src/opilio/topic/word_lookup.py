"""Looks words of a text up in a dictionary, also inflected ones.

A word is tried as it is, then in the usual spelling, then by its base forms, then both
again in a loose spelling, then by its stem; the first attempt that finds something
counts, with all that it finds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from opilio.text.words import LONGEST, stem, stop_words, tokens
from opilio.topic import hindi

Meanings = tuple[str, ...]

MEMO_SIZE = 2**15
MOST = 24  # meanings of a stem, from all its words
SHORTEST_STEM = 3  # characters; shorter ones are common to words of all kinds


class Language(NamedTuple):
    """The spelling and inflection of a language."""

    fold: Callable[[str], str]
    loosen: Callable[[str], str]
    base_forms: Callable[[str], Iterable[Sequence[str]]]  # several per attempt
    company: frozenset[str] = frozenset()  # words that add nothing to the one before


def unaccented(word: str) -> str:
    """A word without accents, points and vowel signs; é as e, ё as е.

    In the scripts of India and Thailand marks are vowels of the word: they stay.
    """
    if word.isascii():
        return word
    return "".join(
        char
        for char in unicodedata.normalize("NFKD", word)
        if char < "\u0300" or char > "\u0670" or not unicodedata.combining(char)
    )


def same(word: str) -> str:
    """The word as it is."""
    return word


HINDI = Language(hindi.fold, hindi.loosen, hindi.base_forms, hindi.COMPANY)
ANY = Language(same, unaccented, lambda word: ())
LANGUAGES = {"hi": HINDI}


class Lookup:
    """The words and phrases of one language with their meanings.

    >>> lookup = Lookup({"ग्रह": ("planet",), "रेल इंजन": ("locomotive",)}, "hi")
    >>> lookup.word("ग्रहों")
    ('planet',)
    >>> lookup.phrase(["रेल", "इंजनों", "की"], 0)
    (2, ('locomotive',))
    """

    def __init__(self, dictionary: Mapping[str, Iterable[str]], language: str) -> None:
        self.language = language
        self.how = LANGUAGES.get(language, ANY)
        self.noise = stop_words(language)
        self.exact: dict[str, Meanings] = {}
        self.folded: dict[str, Meanings] = {}
        self.loose: dict[str, Meanings] = {}
        self.stemmed: dict[str, Meanings] = {}
        self.phrases: dict[str, Meanings] = {}  # by the stems of its words
        self.longest: dict[str, int] = {}  # first stem -> words of the longest phrase
        self.memo: dict[str, Meanings | None] = {}
        self.stems: dict[str, str] = {}
        phrases: list[tuple[list[str], Meanings]] = []
        for entry, given in dictionary.items():
            parts, meanings = tokens(entry), tuple(given)
            if len(parts) == 1:
                self._add_word(parts[0], meanings)
            elif parts:
                self._add_phrase(parts, meanings)
                phrases.append((parts, meanings))
        self._add_words_of_phrases(phrases)
        self.memo.clear()

    def word(self, word: str) -> Meanings | None:
        """The meanings of a word; None if it is not in the dictionary in any form."""
        if word in self.memo:
            return self.memo[word]
        found = next(filter(None, self._tries(word)), None)
        if len(self.memo) >= MEMO_SIZE:
            self.memo.clear()
        if len(word) <= LONGEST:
            self.memo[word] = found
        return found

    def phrase(self, words: Sequence[str], start: int) -> tuple[int, Meanings]:
        """How many words from `start` on are the longest phrase, and its meanings.

        Two words that the dictionary has as one are a phrase, too.
        """
        first = self.stem(words[start])
        length = min(self.longest.get(first, 0), len(words) - start)
        while length > 1:
            key = " ".join(map(self.stem, words[start : start + length]))
            if found := self.phrases.get(key):
                return length, found
            length -= 1
        joined = "".join(words[start : start + 2])
        if joined != words[start] and (found := self.folded.get(self.how.fold(joined))):
            return 2, found
        return 0, ()

    def stem(self, word: str) -> str:
        """The common stem of the forms and spellings of a word."""
        known = self.stems.get(word)
        if known is None:
            known = self._stem(self.how.loosen(self.how.fold(word)))
            if len(self.stems) >= MEMO_SIZE:
                self.stems.clear()
            self.stems[word] = known
        return known

    def _stem(self, loose: str) -> str:
        return stem((loose,), self.language)[0]

    def _tries(self, word: str) -> Iterator[Meanings | None]:
        fold, loosen = self.how.fold, self.how.loosen
        yield self.exact.get(word)
        folded = fold(word)
        yield self.folded.get(folded)
        bases = list(self.how.base_forms(folded))
        for several in bases:
            yield together(self.folded, several)
        yield self.loose.get(loosen(folded))
        for several in bases:
            yield together(self.loose, map(loosen, several))
        # A word without an ending is not an inflected form.
        key = self.stem(word)
        if len(key) >= SHORTEST_STEM and key != loosen(folded):
            yield self.stemmed.get(key)

    def _add_word(self, word: str, meanings: Meanings) -> None:
        folded = self.how.fold(word)
        loose = self.how.loosen(folded)
        add(self.exact, word, meanings)
        add(self.folded, folded, meanings)
        add(self.loose, loose, meanings)
        add(self.stemmed, self._stem(loose), meanings)

    def _add_phrase(self, parts: Sequence[str], meanings: Meanings) -> None:
        stems = list(map(self.stem, parts))
        add(self.phrases, " ".join(stems), meanings)
        self.longest[stems[0]] = max(self.longest.get(stems[0], 0), len(stems))

    def _add_words_of_phrases(
        self, phrases: Iterable[tuple[Sequence[str], Meanings]]
    ) -> None:
        """Add words that the dictionary only has in phrases: with others of little
        meaning, or written as two words."""
        for parts, meanings in phrases:
            folded = map(self.how.fold, parts[1:])
            if self.how.company.issuperset(folded) and self.word(parts[0]) is None:
                self._add_word(parts[0], meanings)
            joined = "".join(parts)
            if len(parts) == 2 and joined not in self.exact:
                self._add_word(joined, meanings)


def together(index: Mapping[str, Meanings], keys: Iterable[str]) -> Meanings:
    """The meanings under any of the keys."""
    found = (meaning for key in keys for meaning in index.get(key, ()))
    return tuple(dict.fromkeys(found))


def add(index: dict[str, Meanings], key: str, meanings: Meanings) -> None:
    """Add meanings to a key that may have some already."""
    known = index.get(key)
    if known is None:
        index[key] = meanings
    elif len(known) < MOST:
        index[key] = tuple(dict.fromkeys(known + meanings))[:MOST]
