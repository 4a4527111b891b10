"""Translates words of other languages into the topic's language by dictionaries.

Kumar & Vig, *Multilingual Context Ontology Rule Enhanced Focused Web Crawler*, III.E:
find words of another language, remove noise words, replace the rest by the meanings in
a bilingual dictionary. All meanings are kept, side by side, and words that the
dictionary lacks stay as they are.

The language of a word is recognised by its script; if that is also the script of the
topic's language, by the known language of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from opilio.text.words import tokens
from opilio.topic.word_lookup import Lookup, Meanings

LATIN = "LATIN"
BEYOND_LATIN = "\u0370"  # where the next script begins
SAMPLE = 2000  # words looked at to find the script of a dictionary
LEAST = 0.05  # share of these that a script must have
# Anything between spaces, ASCII and general punctuation, and dandas. Joiners are part
# of words.
_WORD = re.compile("[^\\s!-/:-@\\[-`{-~\u00a1-\u00bf\u0964\u0965\u2010-\u206f]+")


class Transcriptor:
    """Translates words of every language that there is a dictionary for.

    >>> words = {"संगणक": ("computer",), "विज्ञान": ("science",)}
    >>> Transcriptor({"hi": words}).transcribe("Dept. of संगणक विज्ञान, Pune")
    'Dept. of computer science, Pune'
    """

    def __init__(
        self,
        dictionaries: Mapping[str, Mapping[str, Iterable[str]]],
        target: str = "en",
    ) -> None:
        self.lookups = {
            language: Lookup(words, language)
            for language, words in dictionaries.items()
            if language != target and words
        }
        own = scripts(
            meaning
            for language in self.lookups
            for given in islice(dictionaries[language].values(), SAMPLE)
            for meaning in given
        )
        self.by_script: dict[str, tuple[str, ...]] = {}  # for any text
        self.by_language: dict[str, frozenset[str]] = {}  # only for texts in it
        for language in self.lookups:
            found = scripts(islice(dictionaries[language], SAMPLE))
            self.by_language[language] = found & own
            for script in found - own:
                known = self.by_script.get(script, ())
                self.by_script[script] = (*known, language)
        self.latin_by_script = LATIN in self.by_script
        self.latin = frozenset(
            language for language, own in self.by_language.items() if LATIN in own
        )

    def reads(self, word: str, language: str) -> bool:
        """Whether a token is in a language that there is a dictionary for.

        `language` is that of the text, if it is known.
        """
        if word < BEYOND_LATIN:
            return language in self.latin or self.latin_by_script
        script = script_of(word[0])
        own = self.by_language.get(language)
        return script in self.by_script or (own is not None and script in own)

    def run(self, words: Sequence[str], language: str) -> list[Meanings]:
        """The meanings of each of some tokens, all of which can be translated.

        A phrase has its meanings at its first word and none at the others; noise words
        have none; unknown words mean themselves.
        """
        found: list[Meanings] = []
        while len(found) < len(words):
            start = len(found)
            lookups = self._lookups(words[start], language)
            for lookup in lookups:
                length, meanings = lookup.phrase(words, start)
                if length:
                    found += (meanings, *[()] * (length - 1))
                    break
            else:
                found.append(meanings_of(words[start], lookups))
        return found

    def transcribe(self, text: str, language: str = "") -> str:
        """A text with its foreign words replaced by all their meanings."""
        pieces: list[str] = []
        done = 0
        run: list[str] = []
        run_start = run_end = 0

        def end_run() -> None:
            nonlocal done, run
            meanings = [one for given in self.run(run, language) for one in given]
            pieces.extend((text[done:run_start], " ".join(meanings)))
            done, run = run_end, []

        for match in _WORD.finditer(text):
            words = tokens(match[0])
            if not words or not all(self.reads(word, language) for word in words):
                continue
            if run and not text[run_end : match.start()].isspace():
                end_run()
            if not run:
                run_start = match.start()
            run += words
            run_end = match.end()
        if run:
            end_run()
        return "".join((*pieces, text[done:]))

    def _lookups(self, word: str, language: str) -> list[Lookup]:
        """The dictionaries a word may be in, that of the text's language first."""
        script = LATIN if word < BEYOND_LATIN else script_of(word[0])
        languages = self.by_script.get(script, ())
        if language in languages or script in self.by_language.get(language, ()):
            others = [each for each in languages if each != language]
            return [self.lookups[each] for each in (language, *others)]
        return [self.lookups[each] for each in languages]


def meanings_of(word: str, lookups: Iterable[Lookup]) -> Meanings:
    """The meanings of a word in the first dictionary that has it."""
    for lookup in lookups:
        if word in lookup.noise:
            return ()
        if found := lookup.word(word):
            return found
    return (word,)


def scripts(words: Iterable[str]) -> frozenset[str]:
    """The scripts that words are written in, without those of a stray few."""
    counts = Counter(script_of(word.lstrip()[0]) for word in words if word.strip())
    least = LEAST * counts.total()
    return frozenset(script for script, count in counts.items() if count >= least)


@lru_cache(maxsize=2**12)
def script_of(char: str) -> str:
    """The script of a letter, as Unicode's names of characters begin."""
    return unicodedata.name(char, "").partition(" ")[0]
