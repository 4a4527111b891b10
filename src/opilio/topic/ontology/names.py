"""Finds the concepts that a name may mean, by the labels of an ontology.

There are three ways; the surest that finds anything counts: the exact label (1), its
stems (0.9, so plurals and cases do not matter), a label that shares most of its words
(below 0.8).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest
from math import log
from typing import NamedTuple

from opilio.equations.thesaurus import spot_longest
from opilio.text.words import stem, tokens

STEMMED = 0.9
PARTIAL = 0.8
LEAST_SHARED = 0.4  # of the weight of the words of both

_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")

Labels = Mapping[str, Sequence[str]]


class Spotted(NamedTuple):
    """A label in a text: its first word, the word after it, and what it names."""

    start: int
    end: int
    places: tuple[int, ...]


class Names:
    """Every label of every concept, by its words and by its stems."""

    def __init__(self, labels: Iterable[Labels], language: str) -> None:
        self._labels = list(labels)
        self._language = language
        self.languages = sorted(
            {code or language for entry in self._labels for code in entry}
        )

    def key(self, text: str, language: str = "") -> str:
        """The stems of a label or word, joined by spaces."""
        return " ".join(stem(tokens(text), language or self._language))

    def keys(self, text: str) -> list[str]:
        """Its stems in each language of the ontology, once each."""
        words = tokens(text)
        stems = (
            " ".join(self.stem_words(words, language)) for language in self.languages
        )
        return list(dict.fromkeys(filter(None, stems)))

    def stem_words(self, words: Sequence[str], language: str) -> list[str]:
        """Their stems; that of the plural of an abbreviation (CPUs) is the singular."""
        return [
            made[:-1]
            if made == word and word[-1] == "s" and word[:-1] in self._words
            else made
            for word, made in zip(words, stem(words, language), strict=True)
        ]

    def find(self, name: str) -> list[tuple[int, float]]:
        """The places of the concepts that a name means, each with its certainty."""
        words = _plain(name)
        sure = 1.0 if words in self._exact else STEMMED
        if found := self.named(name):
            return [(place, sure) for place in found]
        return self._partial(name)

    def named(self, name: str) -> list[int]:
        """The places of the concepts with this label, as it is or in another form."""
        words = _plain(name)
        return self._preferred.get(words) or self._exact.get(words) or self.same(name)

    def same(self, name: str) -> list[int]:
        """The places of the concepts with a label of the same stems."""
        hits = (self._stemmed.get(key, ()) for key in self.keys(name))
        return list(dict.fromkeys(place for found in hits for place in found))

    def spot(self, words: Sequence[str], language: str = "") -> Iterator[Spotted]:
        """The labels among words, from left to right, the longest first."""
        stems = self.stem_words(words, language or self._language)
        for start, end in spot_longest(stems, self._stemmed):
            yield Spotted(start, end, tuple(self._stemmed[" ".join(stems[start:end])]))

    @property
    def stems(self) -> set[str]:
        """Every stem that is part of a label."""
        return set(self._words)

    def like(self, name: str, most: int = 5) -> list[str]:
        """The labels with the most similar spelling."""
        letters = _plain(name)
        pairs = {letters[n : n + 2] for n in range(len(letters) - 1)}

        def shared(label: str) -> float:
            other = {label[n : n + 2] for n in range(len(label) - 1)}
            return len(pairs & other) / (len(pairs | other) or 1)

        candidates = nlargest(50, self._exact, key=shared)
        ratio = {
            label: SequenceMatcher(None, letters, label).ratio() for label in candidates
        }
        best = nlargest(most, ratio, key=ratio.__getitem__)
        return [self._written(label) for label in best if ratio[label] > 0.5]

    def _partial(self, name: str) -> list[tuple[int, float]]:
        """The concepts whose label shares the most words, weighed by rarity."""
        total = len(self._words) + 1

        def weight(words: Iterable[str]) -> float:
            return sum(log(1 + total / len(self._words.get(w, "1"))) for w in words)

        best: dict[int, float] = {}
        for wanted in {frozenset(key.split()) for key in self.keys(name)}:
            near = {key for word in wanted for key in self._words.get(word, ())}
            for key in near:
                other = frozenset(key.split())
                shared = weight(sorted(wanted & other)) / weight(sorted(wanted | other))
                for place in self._stemmed[key]:
                    best[place] = max(best.get(place, 0.0), shared)
        top = max(best.values(), default=0.0)
        if top < LEAST_SHARED:
            return []
        return [(n, PARTIAL * top) for n in sorted(best) if best[n] > top - 1e-9]

    def _written(self, words: str) -> str:
        """A label as its concept writes it."""
        for forms in self._labels[self._exact[words][0]].values():
            for form in forms:
                if words in (_plain(form), _plain(unqualified(form))):
                    return form
        return words

    @cached_property
    def _exact(self) -> dict[str, list[int]]:
        """The words of a label -> places."""
        return _index(self._labels, _plain)

    @cached_property
    def _preferred(self) -> dict[str, list[int]]:
        """The words of a preferred label -> places."""
        first: list[Labels] = [
            {code: forms[:1] for code, forms in entry.items()} for entry in self._labels
        ]
        return _index(first, _plain)

    @cached_property
    def _stemmed(self) -> dict[str, list[int]]:
        """The stems of a label -> places."""
        return _index(self._labels, self.key)

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        """A stem -> the stemmed labels it is in."""
        words: dict[str, list[str]] = {}
        for key in self._stemmed:
            for word in Counter(key.split()):
                words.setdefault(word, []).append(key)
        return words


def unqualified(label: str) -> str:
    """A label without its qualifier: "Mercury (planet)" is "Mercury"."""
    return _QUALIFIER.sub("", label) or label


def _plain(text: str, _language: str = "") -> str:
    """The words of a label, joined by spaces."""
    return " ".join(tokens(text))


def _index(
    labels: Iterable[Labels], key: Callable[[str, str], str]
) -> dict[str, list[int]]:
    """The `key` of each label and its language -> places of the concepts."""
    index: dict[str, list[int]] = {}
    for place, entry in enumerate(labels):
        made = [
            key(text, code)
            for code, forms in entry.items()
            for form in forms
            for text in dict.fromkeys((form, unqualified(form)))
        ]
        for name in dict.fromkeys(filter(None, made)):
            index.setdefault(name, []).append(place)
    return index
