"""Finds the ontology concepts that a query means, and the terms that indicate them.

Yang, section 4.4: the ontology index knows the features in a query, so OntoClassifier
can find "what domain concepts the user are really interested in". The representative
features of a concept are the terms that name it alone; related features are terms that
it shares (level 1) and the terms of concepts one or two relations away.

    meant(c)   = 1/k    c one of the k concepts named by a feature for which E_2 is most
    near(f, c) = max_d near(d, c)                     f a term for d; near(c, c) = 1

We differ (`fixed`): the paper takes one class; a query may mean several. Other words of
the query decide between concepts of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from opilio.equations.ontology_classes import OntoClasses
from opilio.records import ClassFeatures, ConceptWords, Mode
from opilio.search.index import KeptEntries
from opilio.search.segment import Without
from opilio.text.word_sequence import Words, word
from opilio.text.words import hash_of

LONGEST = 8  # words of a feature in a query


class Concepts:
    """The concepts that a search knows; there may be none."""

    def __init__(
        self, words: Mapping[str, ConceptWords] | None = None, mode: Mode = "fixed"
    ) -> None:
        self.words = words or {}
        self.mode: Mode = mode
        self.holders: dict[str, list[str]] = {}  # feature -> the concepts it names
        for name, concept in self.words.items():
            for key in concept.features:
                self.holders.setdefault(key, []).append(name)

    @cached_property
    def classes(self) -> OntoClasses:
        """Each concept as a class with its features."""
        return OntoClasses(
            {name: self.features_of(name) for name in self.words}, self.mode
        )

    def features_of(self, name: str) -> ClassFeatures:
        """The terms that indicate only this concept, and those it shares."""
        concept = self.words[name]
        related = {key: 1 for key in concept.features if len(self.holders[key]) > 1}
        for other, level in concept.levels.items():
            for key in self.words[other].features:
                related.setdefault(key, level)
        alone = [key for key in concept.features if len(self.holders[key]) == 1]
        return ClassFeatures(alone, related)

    def spot(self, stems: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The features among the stems of a query, leftmost and longest, with
        places."""
        found: dict[str, tuple[int, int]] = {}
        start = 0
        while start < len(stems):
            for end in range(min(start + LONGEST, len(stems)), start, -1):
                key = " ".join(stems[start:end])
                if key in self.holders:
                    found.setdefault(key, (start, end))
                    start = end
                    break
            else:
                start += 1
        return found

    def meant(self, features: Sequence[str]) -> dict[str, float]:
        """The concepts that a query with these features means, and how surely."""
        if not features:
            return {}
        counted = dict.fromkeys(features, 1)
        found, _ = self.classes.classify(counted)
        if found and self.mode == "paper":
            return {found: 1.0}
        related = self.classes.gather(counted, self.classes.related)
        meant: dict[str, float] = {}
        for key in features:
            values = [related.get(name, 0.0) for name in self.holders[key]]
            best = [
                name
                for name, value in zip(self.holders[key], values, strict=True)
                if value == max(values)
            ]
            for name in best:
                meant[name] = max(1 / len(best), meant.get(name, 0.0))
        return meant

    def near(self, name: str) -> dict[str, float]:
        """The features that indicate a concept, and how strongly."""
        weights: dict[str, float] = {}
        for other, close in {name: 1.0, **self.words[name].near}.items():
            for key in self.words[other].features:
                weights[key] = max(weights.get(key, 0.0), close)
        return weights

    @cached_property
    def kept(self) -> KeptEntries:
        """In `paper` mode, the filter that keeps features out of the word postings."""
        if self.mode == "fixed" or not self.holders:
            return KeptEntries()
        number = hash_of("\n".join(sorted(self.holders))) >> 1
        return KeptEntries(_without([key.split() for key in self.holders]), number)


def _without(features: Sequence[Sequence[str]]) -> Without:
    """A function that removes the features from a text, the longest first."""
    known = {tuple(map(word, feature)) for feature in features}
    firsts = np.array(sorted({feature[0] for feature in known}), np.uint32)
    lengths = sorted({len(feature) for feature in known}, reverse=True)

    def without(words: Words) -> Words:
        kept = np.ones(len(words), np.bool_)
        done = 0
        for place in np.flatnonzero(np.isin(words, firsts)).tolist():
            for length in lengths if place >= done else ():
                if tuple(words[place : place + length].tolist()) in known:
                    done = place + length
                    kept[place:done] = False
                    break
        return words[kept]

    return without
