"""Tells which concepts of an ontology a query names, and which terms to add to it.

These are Yang's ontology services for queries (section 2: "transforming query terms
into canonical ontology terms"), his OntoClassifier for queries (section 4.4) and his
direct query expansion (section 4.2). `opilio ontology`, the search and the expander of
site models all use this class.

A concept has as representative features the terms that name it alone; related to it are
terms it shares (level 1) and the terms of concepts one or two relations away.

    meant(c)    = 1/k   c one of the k concepts named by a feature for which E_2 is most
    near(f, c)  = max_d near(d, c)                    f a term for d; near(c, c) = 1
    expanded(t) = meant(c) · (0.9 t a synonym of c; 0.6 of a kind of c; 0.3 of what c is
                  a kind of)

We differ (`fixed`): the paper takes one class; a query may mean several. What else it
names decides between concepts of one name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from opilio.equations.ontology_classes import OntoClasses
from opilio.records import ClassFeatures, ConceptWords, Mode

LONGEST = 8  # words of a feature that is looked for in a query
TYPED, SYNONYM, KIND, BROADER = 1.0, 0.9, 0.6, 0.3

Key = tuple[str, ...]
"""The stems of a term."""


class Thesaurus:
    """Concepts by name, with the keys of their terms; none is fine."""

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
        """What speaks for a concept alone, and what for others, too."""
        concept = self.words[name]
        related = {key: 1 for key in concept.features if len(self.holders[key]) > 1}
        for other, level in concept.levels.items():
            for key in self.words[other].features:
                related.setdefault(key, level)
        alone = [key for key in concept.features if len(self.holders[key]) == 1]
        return ClassFeatures(alone, related)

    def spot(self, stems: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The features among the stems of a query, leftmost and longest, each with
        where it stands."""
        found: dict[str, tuple[int, int]] = {}
        for start, end in spot_longest(stems, self.holders):
            found.setdefault(" ".join(stems[start:end]), (start, end))
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
        """The features that speak for a concept, and how much."""
        weights: dict[str, float] = {}
        for other, close in {name: 1.0, **self.words[name].near}.items():
            for key in self.words[other].features:
                weights[key] = max(weights.get(key, 0.0), close)
        return weights

    def expand(
        self, stems: Sequence[str], silent: Collection[int] = ()
    ) -> dict[Key, float]:
        """The terms of a query at 1, and those of what it means, each with how near it
        is. Words at the places `silent` count only if the query has no others."""
        spotted = self.spot(stems)
        covered = {n for start, end in spotted.values() for n in range(start, end)}
        others = [n for n in range(len(stems)) if n not in covered]
        telling = [n for n in others if n not in silent]
        terms = dict.fromkeys(
            [
                *(tuple(key.split()) for key in spotted),
                *((stems[n],) for n in (telling if telling or spotted else others)),
            ],
            TYPED,
        )
        for key, near in self.inherited(list(spotted)):
            terms[key] = max(near, terms.get(key, 0.0))
        return terms

    def inherited(self, features: Sequence[str]) -> Iterator[tuple[Key, float]]:
        """Synonyms, kinds and what is broader, of the concepts that features mean."""
        for name, sure in self.meant(features).items():
            concept = self.words[name]
            around = dict.fromkeys(concept.broader, BROADER)
            around |= dict.fromkeys(concept.kinds, KIND)
            for other, near in {name: SYNONYM, **around}.items():
                for key in self.words[other].features:
                    yield tuple(key.split()), near * sure


def spot_longest(
    stems: Sequence[str], known: Collection[str]
) -> Iterator[tuple[int, int]]:
    """Where known terms begin and end among stems, leftmost and longest first."""
    start = 0
    while start < len(stems):
        for end in range(min(start + LONGEST, len(stems)), start, -1):
            if " ".join(stems[start:end]) in known:
                yield start, end
                start = end
                break
        else:
            start += 1
