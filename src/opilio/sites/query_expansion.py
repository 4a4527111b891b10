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

from opilio.profiles.anchor_terms import terms_in
from opilio.read.lexicon import Lexicon
from opilio.records import Mode, Subject
from opilio.search.concepts import Concepts
from opilio.search.query import Query
from opilio.text.words import Vocabulary, stem, stop_words, tokens

TYPED, SYNONYM, KIND, BROADER = 1.0, 0.9, 0.6, 0.3
MANY = 1_000  # texts for which making a lexicon pays off
IS_KIND = 0.5  # how near a kind or a part is, in ConceptWords.near

Key = tuple[str, ...]
"""The stems of a term."""


def expand_query(
    query: Query, subject: Subject, mode: Mode = "fixed"
) -> dict[Key, float]:
    """The terms of the expanded query, each with its nearness."""
    concepts = Concepts(subject.named_concepts, mode)
    stems = stem(query.words, subject.language)
    spotted = concepts.spot(stems)
    covered = {place for start, end in spotted.values() for place in range(start, end)}
    silent = stop_words(subject.language)
    others = [n for n in range(len(stems)) if n not in covered]
    telling = [n for n in others if query.words[n] not in silent]
    terms = dict.fromkeys(
        [
            *(tuple(key.split()) for key in spotted),
            *((stems[n],) for n in (telling if telling or spotted else others)),
        ],
        TYPED,
    )
    for key, near in (*inherited(concepts, list(spotted)), *longer(terms, subject)):
        terms[key] = max(near, terms.get(key, 0.0))
    for key in list(translations(terms, subject)):
        terms.setdefault(key, SYNONYM)
    return terms


def inherited(
    concepts: Concepts, features: Sequence[str]
) -> Iterator[tuple[Key, float]]:
    """Synonyms, narrower and broader terms of the concepts that features mean."""
    for name, sure in concepts.meant(features).items():
        concept = concepts.words[name]
        around = {name: SYNONYM}
        for other, level in concept.levels.items():
            near = concept.near.get(other, 0.0)
            if level == 1 and (near >= IS_KIND or not near):  # up the tree nothing is
                around[other] = KIND if near else BROADER
        for other, near in around.items():
            for key in concepts.words[other].features:
                yield tuple(key.split()), near * sure


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
