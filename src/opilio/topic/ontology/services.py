"""Answers questions about the terms of an ontology.

The ontology services of Yang (§2): canonical terms, definitions, relations between
terms, compatible and conflicting terms; and his query expansion (§4.2). What a query
names and how it is expanded is decided by `equations/thesaurus.py`, which the search
and the expander use as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from opilio.equations.thesaurus import Thesaurus
from opilio.errors import BadInput
from opilio.text.words import stop_words, tokens
from opilio.topic.ontology.concept_words import concept_words
from opilio.topic.ontology.draft import split_camel
from opilio.topic.ontology.model import Ontology, Relation, combine

MOST_NEAR = 1_000  # concepts around those that a query names

TELLING = (  # relations, the most specific first
    Relation.PART_OF,
    Relation.HAS,
    Relation.IS_A,
    Relation.HAS_KIND,
    Relation.RELATED,
)

Step = tuple[str, Relation, str]


def canonical_term(ontology: Ontology, word: str) -> str | None:
    """The preferred label of what a word means, in any form and language."""
    place = _place(ontology, word)
    return None if place is None else ontology.holding(place).concepts[place].label


def canonical_terms(ontology: Ontology, query: str) -> list[str]:
    """The preferred labels of the concepts that a query names, in its order."""
    asked = QueryTerms(ontology, query)
    features = list(asked.thesaurus.spot(asked.stems))
    meant = asked.thesaurus.meant(features)
    holders = asked.thesaurus.holders
    named = (name for key in features for name in holders[key] if name in meant)
    return list(dict.fromkeys(named))


def definition(ontology: Ontology, word: str, language: str = "") -> str:
    """The definition of a term, in this language if there is one; "" if none."""
    place = place_of(ontology, word)
    definitions = ontology.holding(place).concepts[place].definitions
    wanted = (language, ontology.language, "", *definitions)
    return next((definitions[code] for code in wanted if code in definitions), "")


def relations(ontology: Ontology, one: str, other: str) -> list[Step]:
    """The shortest path from one term to another, step by step; [] if there is none.

    A step is a concept, its relation and the concept it leads to. Of paths of the same
    length, one over parts is preferred to one over is-a, and that to a related term.
    """
    start, end = place_of(ontology, one), place_of(ontology, other)
    ontology = ontology.holding(start, end)
    came: dict[int, tuple[int, Relation]] = {}
    waiting = [start]
    for place in waiting:
        if place == end:
            break
        for relation in TELLING:
            for near in ontology.towards(place, relation):
                if near not in came and near != start:
                    came[near] = place, relation
                    waiting.append(near)
    path: list[Step] = []
    while end in came:
        before, relation = came[end]
        labels = ontology.concepts[before].label, ontology.concepts[end].label
        path.append((labels[0], relation, labels[1]))
        end = before
    return path[::-1]


def compatible(ontology: Ontology, word: str) -> list[str]:
    """The terms that may well occur together with a term.

    These are related terms, its parts and their parts, its wholes, and its branch: all
    broader and narrower terms.
    """
    place = place_of(ontology, word)
    ontology = ontology.holding(place)
    return _labels(ontology, _compatible(ontology, place))


def conflicting(ontology: Ontology, word: str) -> list[str]:
    """The terms that mean something else in the same place.

    These are concepts declared disjoint with it or with its broader terms, and its
    siblings: other kinds of the same concept, unless something is a kind of both. Terms
    that belong together do not conflict: a part is never the whole, and both may be on
    one page.
    """
    place = place_of(ontology, word)
    ontology = ontology.holding(place)
    above = set(ontology.reach([place], Relation.IS_A))
    declared: set[int] = set()
    for group in ontology.disjoint:
        if not above.isdisjoint(group):
            declared.update(group)
    for one in above if declared else ():
        declared -= _belonging(ontology, one)
    siblings: set[int] = set()
    for parent in ontology.towards(place, Relation.IS_A):
        siblings.update(ontology.towards(parent, Relation.HAS_KIND))
    mine = ontology.reach([place], Relation.HAS_KIND)
    siblings.difference_update(ontology.reach(mine, Relation.IS_A))
    agreed = _compatible(ontology, place) | {place}
    found = set(_labels(ontology, (declared | siblings) - agreed))
    return sorted(found.difference(_labels(ontology, agreed)))  # homonyms


def expand(
    ontology: Ontology, query: str, *, languages: Sequence[str] = ()
) -> dict[str, float]:
    """The words and terms of a query with weight 1, and additional terms by weight.

    The latter are the synonyms of each concept that it names, then by inheritance its
    kinds and its broader concepts.
    """
    asked = QueryTerms(ontology, query, languages)
    terms = asked.thesaurus.expand(asked.stems, asked.silent)
    found = {asked.written(key): weight for key, weight in terms.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


class QueryTerms:
    """The words of a query, and the concepts around those that it names."""

    def __init__(
        self, ontology: Ontology, query: str, languages: Sequence[str] = ()
    ) -> None:
        known = ontology.populated
        self.words = tokens(query)
        self.stems = known.names.stem_words(self.words, ontology.language)
        common = stop_words(ontology.language)
        self.silent = {n for n, word in enumerate(self.words) if word in common}
        named = [place for found in known.names.spot(self.words) for place in found[2]]
        walked = ontology.holding(0, *named)  # without instances, unless one is named
        near = islice(walked.reach(named, *TELLING), MOST_NEAR)
        part = combine(ontology.name, [(known, near)])
        self._key = known.names.key
        self.thesaurus = Thesaurus(concept_words(part, self._key, languages=languages))
        surfaces = (word for c in part.concepts for word in c.surfaces(languages))
        self._surfaces = {self._key(word): word for word in reversed(list(surfaces))}

    def written(self, key: Sequence[str]) -> str:
        """A term as the query writes it, or else as the ontology does."""
        size = len(key)
        for start in range(len(self.stems) - size + 1):
            if tuple(self.stems[start : start + size]) == tuple(key):
                return " ".join(self.words[start : start + size])
        return self._surfaces[" ".join(key)]


def _compatible(ontology: Ontology, place: int) -> set[int]:
    branch = set(ontology.reach([place], Relation.IS_A))
    branch.update(ontology.reach([place], Relation.HAS_KIND))
    return branch.union(_belonging(ontology, place)) - {place}


def _belonging(ontology: Ontology, place: int) -> set[int]:
    """What a concept is related to, its parts and their parts, and its wholes."""
    near = set(ontology.towards(place, Relation.RELATED))
    for relation in (Relation.HAS, Relation.PART_OF):
        near.update(ontology.reach([place], relation))
    return near - {place}


def _labels(ontology: Ontology, places: Iterable[int]) -> list[str]:
    return sorted({ontology.concepts[place].label for place in places})


def _place(ontology: Ontology, word: str) -> int | None:
    """The concept, or else the instance, that a word names as a whole."""
    for known in (ontology, ontology.populated):
        if word in known.places:
            return known.places[word]
        for name in (word, split_camel(word)):  # as OWL files call their classes
            if found := known.names.named(name):
                return found[0]
    return None


def place_of(ontology: Ontology, word: str) -> int:
    """The place of what a word names, in `populated`; BadInput that lists near ones."""
    place = _place(ontology, word)
    if place is None:
        like = ", ".join(ontology.populated.names.like(word)) or "nothing"
        raise BadInput(f"{word!r} is not a term of {ontology.name}; similar: {like}")
    return place
