"""Finds the terms that distinguish some classes of an ontology from each other.

The re-organised ontology of Yang (§3, figure 3): each class has *representative*
features, words that name it alone, and between two classes there are *related*
features. A class's own words are its labels, the names and values of its attributes,
its instances, and the same of its kinds (unless they are classes themselves):

    representative(C) = own(C) − ∪ own(C'), C' ≠ C
    related(C)        = own(C) ∩ ∪ own(C')                          at level 1
                      ∪ the labels of concepts d relations away     at level d = 1, 2

without features that are representative of any class. The judge weighs a related one by
1/level (papers.md C.5-6); the paper says "level-related" and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from opilio.errors import BadInput
from opilio.records import ClassFeatures
from opilio.topic.ontology.model import Concept, Ontology, Relation, is_word, words_in
from opilio.topic.ontology.repository import Sought

LEVELS = 2
MOST_CLASSES = 50
MOST_TERMS = 2_000  # of one class


def classes_around(sought: Sought, most: int = MOST_CLASSES) -> list[str]:
    """The ids of the targets and of the classes to distinguish them from.

    The latter are their siblings, the other kinds of the same broader concept; for a
    target at the top, the other top concepts. Broader and narrower concepts of a target
    are not included: a page about a kind of it is about it.
    """
    ontology, targets = sought.ontology, sought.places
    family = set(ontology.reach(targets, Relation.HAS_KIND))
    family.update(ontology.reach(targets, Relation.IS_A))
    others: set[int] = set()
    for target in targets:
        parents = ontology.towards(target, Relation.IS_A)
        for parent in parents:
            others.update(ontology.towards(parent, Relation.HAS_KIND))
        if not parents:
            others.update(_tops(ontology))
    siblings = sorted(others - family, key=lambda n: ontology.concepts[n].label)
    return [ontology.concepts[n].id for n in [*targets, *siblings][:most]]


def features(
    ontology: Ontology,
    classes: Sequence[str],
    *,
    languages: Sequence[str] = (),
) -> dict[str, ClassFeatures]:
    """The features of each class, by its preferred label; classes by id or label."""
    places = dict.fromkeys(find_class(ontology, name) for name in classes)
    own = {
        place: _keyed(ontology, _belonging(ontology, place, set(places), languages))
        for place in places
    }
    holders = Counter(key for keys in own.values() for key in keys)
    made: dict[str, ClassFeatures] = {}
    for place, keys in own.items():
        related = {term: 1 for key, term in keys.items() if holders[key] > 1}
        taken = set(keys)
        for level, concept in _relatives(ontology, place, set(places)):
            if len(related) >= MOST_TERMS:
                break
            for key, term in _keyed(ontology, concept.surfaces(languages)).items():
                if holders[key] != 1 and key not in taken:
                    taken.add(key)
                    related[term] = level
        alone = [term for key, term in keys.items() if holders[key] == 1]
        made[ontology.concepts[place].label] = ClassFeatures(
            representative=tuple(alone[:MOST_TERMS]),
            related=dict(list(related.items())[:MOST_TERMS]),
        )
    return made


def find_class(ontology: Ontology, name: str) -> int:
    """The place of a concept, named by its id or a label."""
    if name in ontology.places:
        return ontology.places[name]
    if found := ontology.names.find(name):
        return found[0][0]
    like = ", ".join(ontology.names.like(name)) or "nothing"
    raise BadInput(f"{name!r} is not a concept of {ontology.name}; similar: {like}")


def _belonging(
    ontology: Ontology, place: int, classes: set[int], languages: Sequence[str]
) -> Iterator[str]:
    """The words of a class and of its kinds, down to where another class begins."""
    waiting, seen = [place], {place}
    for kind in waiting:
        yield from _words(ontology.concepts[kind], languages)
        for below in ontology.towards(kind, Relation.HAS_KIND):
            if below not in seen and below not in classes:
                seen.add(below)
                waiting.append(below)


def _words(concept: Concept, languages: Sequence[str]) -> Iterator[str]:
    yield from concept.surfaces(languages)
    yield from concept.instance_surfaces(languages)
    for name, values in concept.attributes.items():
        yield name
        yield from filter(is_word, words_in(values, languages))


def _relatives(
    ontology: Ontology, place: int, classes: set[int]
) -> Iterator[tuple[int, Concept]]:
    """The concepts around a class and their distance, without those of other
    classes."""
    seen, edge = {place}, [place]
    for level in range(1, LEVELS + 1):
        around = {other for near in edge for other in ontology.around(near)}
        edge = sorted(around - seen - classes)
        seen.update(edge)
        for near in edge:
            yield level, ontology.concepts[near]


def _keyed(ontology: Ontology, terms: Iterable[str]) -> dict[str, str]:
    """The stems of each term -> the term as it was first written."""
    keyed: dict[str, str] = {}
    for term in terms:
        if key := ontology.names.key(term):
            keyed.setdefault(key, term)
    return keyed


def _tops(ontology: Ontology) -> list[int]:
    """The concepts that have kinds but are not a kind of another."""
    kinds = Relation.IS_A, Relation.HAS_KIND
    return [
        place
        for place in range(len(ontology.concepts))
        if ontology.steps[place].keys() & kinds == {kinds[1]}
    ]
