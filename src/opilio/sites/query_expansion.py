"""Expands a query by synonyms and related concepts, and scores anchors by its terms.

Yang, section 4.2, direct query expansion: synonyms of the terms of a query are added to
it, then concepts by inheritance. They come from the compiled subject, so the files of
the ontology are not needed any more. Without an ontology, longer terms of the weight
table that contain a word of the query are used instead. Words of a dictionary that mean
a term of the query count as its synonyms.

    AnE_Score(U,Q) = terms in the anchor of U that are terms of Q           (figure 5)
    fixed            Σ_t w(t)·|t| / √|anchor|, each t once, || in words

A term is the longest one at its place; w is how near it is to what was typed. Divided
by √|anchor|, long anchors do not win (papers.md C.5-10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import sqrt

from opilio.equations.thesaurus import KIND, SYNONYM, TYPED, Key, Thesaurus
from opilio.profiles.anchor_terms import terms_in
from opilio.read.lexicon import Lexicon
from opilio.records import Mode, Subject
from opilio.search.query import Query
from opilio.text.words import Vocabulary, stem, stop_words, tokens

MANY = 1_000  # texts for which making a lexicon pays off


def expand_query(
    query: Query, subject: Subject, mode: Mode = "fixed"
) -> dict[Key, float]:
    """The terms of the expanded query, each with its nearness."""
    stems = stem(query.words, subject.language)
    common = stop_words(subject.language)
    silent = {place for place, word in enumerate(query.words) if word in common}
    terms = Thesaurus(subject.named_concepts, mode).expand(stems, silent)
    for key, near in longer(terms, subject):
        terms[key] = max(near, terms.get(key, 0.0))
    for key in list(translations(terms, subject)):
        terms.setdefault(key, SYNONYM)
    return terms


def longer(terms: Mapping[Key, float], subject: Subject) -> Iterator[tuple[Key, float]]:
    """Longer terms of the weight table that contain a word of the query."""
    if subject.named_concepts:
        return
    for weighted in subject.weights:
        key = tuple(weighted.split())
        if len(key) > 1 and any((word,) in terms for word in key):
            yield key, KIND


def translations(terms: Mapping[Key, float], subject: Subject) -> Iterator[Key]:
    """The words of dictionaries that mean a term of the query."""
    typed = {" ".join(key) for key, near in terms.items() if near == TYPED}
    vocabulary = Vocabulary((), subject.language)
    for dictionary in subject.dictionaries.values():
        for word, meanings in dictionary.items():
            if any(vocabulary.key(meaning) in typed for meaning in meanings):
                yield tuple(stem(tokens(word), subject.language))


class AnchorScore:
    """Counts the terms of a query in anchors."""

    def __init__(
        self,
        terms: Mapping[Key, float],
        language: str,
        mode: Mode = "fixed",
        without: Sequence[Sequence[str]] = (),
    ) -> None:
        self.terms = terms
        self.language = language
        self.literal = mode == "paper"
        self.without = [tuple(stem(words, language)) for words in without]
        self.lengths: dict[str, list[int]] = {}  # first stem -> of its terms
        for key in sorted(terms, key=len, reverse=True):
            lengths = self.lengths.setdefault(key[0], [])
            if len(key) not in lengths:
                lengths.append(len(key))

    def __call__(self, anchor: str) -> float:
        """AnE_Score(U,Q), by the mode; 0 for an anchor with an excluded word."""
        stems = tuple(stem(tokens(anchor), self.language))
        found = self.spot(stems)
        if not found or any(contains(stems, words) for words in self.without):
            return 0.0
        if self.literal:
            return float(len(found))
        value = sum(self.terms[key] * len(key) for key in set(found))
        return value / sqrt(len(stems))

    def which(self, texts: Sequence[str]) -> Iterable[int]:
        """The numbers of the texts that contain a term; all, if there are few texts."""
        if len(texts) < MANY:
            return range(len(texts))
        return terms_in(texts, self.lexicon, self.language)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The terms, ready to be found in many texts at once."""
        vocabulary = Vocabulary((), self.language)
        keys = map(" ".join, self.terms)
        vocabulary.keys = {key: key for key in keys}  # which are stems already
        return Lexicon(vocabulary)

    def spot(self, stems: Key) -> list[Key]:
        """The terms in a text, leftmost and longest."""
        found, place = [], 0
        while place < len(stems):
            for length in self.lengths.get(stems[place], ()):
                key = stems[place : place + length]
                if key in self.terms:
                    found.append(key)
                    place += length
                    break
            else:
                place += 1
        return found


def contains(stems: Key, words: Key) -> bool:
    """Whether these words occur in succession."""
    size = len(words)
    return any(stems[n : n + size] == words for n in range(len(stems) - size + 1))
