"""Looks up words in an ontology: definitions, relations, related terms, expansion.

The ontology services of Yang (§2): canonical terms, definitions, relations between
terms, compatible and conflicting terms; and his query expansion (§4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from opilio.errors import BadInput
from opilio.text.words import tokens
from opilio.topic.ontology.model import Ontology, Relation

EXPANSION: Mapping[str, float] = MappingProxyType(
    {"synonym": 0.9, "kind": 0.6, "broader": 0.3}
)

TELLING = (  # relations, the most specific first
    Relation.PART_OF,
    Relation.HAS,
    Relation.IS_A,
    Relation.HAS_KIND,
    Relation.RELATED,
)

Step = tuple[str, Relation, str]


def canonical(ontology: Ontology, word: str) -> str | None:
    """The preferred label of what a word means, in any form and language."""
    place = _place(ontology, word)
    return None if place is None else ontology.holding(place).concepts[place].label


def canonical_terms(ontology: Ontology, query: str) -> list[str]:
    """The preferred labels of the concepts that a query names, in its order."""
    known = ontology.populated
    spotted = known.names.spot(tokens(query))
    return [known.concepts[found.places[0]].label for found in spotted]


def definition(ontology: Ontology, word: str, language: str = "") -> str:
    """The definition of a term, in this language if there is one; "" if none."""
    place = _known(ontology, word)
    definitions = ontology.holding(place).concepts[place].definitions
    wanted = (language, ontology.language, "", *definitions)
    return next((definitions[code] for code in wanted if code in definitions), "")


def relations(ontology: Ontology, one: str, other: str) -> list[Step]:
    """The shortest path from one term to another, step by step; [] if there is none.

    A step is a concept, its relation and the concept it leads to. Of paths of the same
    length, one over parts is preferred to one over is-a, and that to a related term.
    """
    start, end = _known(ontology, one), _known(ontology, other)
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
    place = _known(ontology, word)
    ontology = ontology.holding(place)
    return _labels(ontology, _compatible(ontology, place))


def conflicting(ontology: Ontology, word: str) -> list[str]:
    """The terms that mean something else in the same place.

    These are concepts declared disjoint with it or with its broader terms, and its
    siblings: other kinds of the same concept, unless something is a kind of both. Terms
    that belong together do not conflict: a part is never the whole, and both may be on
    one page.
    """
    place = _known(ontology, word)
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
    ontology: Ontology,
    query: str,
    *,
    languages: Sequence[str] = (),
    weights: Mapping[str, float] = EXPANSION,
) -> dict[str, float]:
    """The words and terms of a query with weight 1, and additional terms by weight.

    The latter are the synonyms of each concept that it names, then by inheritance its
    kinds and its broader concepts.
    """
    words = tokens(query)
    spotted = list(ontology.populated.names.spot(words))
    covered = {place for found in spotted for place in range(found.start, found.end)}
    terms = {" ".join(words[found.start : found.end]): 1.0 for found in spotted}
    terms |= {word: 1.0 for n, word in enumerate(words) if n not in covered}
    asked = {ontology.names.key(term) for term in terms}
    for found in spotted:
        for place in found.places:
            known = ontology.holding(place)
            near = [
                ("synonym", [place]),
                ("kind", known.towards(place, Relation.HAS_KIND)),
                ("broader", known.towards(place, Relation.IS_A)),
            ]
            for kind, others in near:
                for other in others:
                    for term in known.concepts[other].surfaces(languages):
                        if ontology.names.key(term) not in asked:
                            terms[term] = max(terms.get(term, 0.0), weights[kind])
    return dict(sorted(terms.items(), key=lambda item: -item[1]))


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
        if found := known.names.named(word):
            return found[0]
    return None


def _known(ontology: Ontology, word: str) -> int:
    place = _place(ontology, word)
    if place is None:
        like = ", ".join(ontology.populated.names.like(word)) or "nothing"
        raise BadInput(f"{word!r} is not a term of {ontology.name}; similar: {like}")
    return place
