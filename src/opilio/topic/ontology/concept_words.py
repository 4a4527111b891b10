"""Lists the terms of each concept and the concepts near it, for searches.

A search for a concept also finds pages about its kinds and parts and, with less weight,
about related concepts. Closeness is as in walk.py, without steps to broader concepts: a
query for birds does not ask for animals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import compress
from operator import or_

from opilio.records import ConceptWords
from opilio.topic.ontology.model import Ontology, Relation
from opilio.topic.ontology.walk import WalkWeights, closeness

MEANT = WalkWeights(kind=0.5, part=0.5, related=0.2, broader=0.0, whole=0.0, astray=0.2)
LEAST = 0.1


def concept_words(
    ontology: Ontology,
    key: Callable[[str], str],
    *,
    languages: Sequence[str] = (),
    known: Collection[str] | None = None,
) -> dict[str, ConceptWords]:
    """The concepts by label, each with the keys of its terms; only terms whose keys are
    `known`, if given, and concepts with such terms."""
    features: dict[int, tuple[str, ...]] = {}
    for place, concept in enumerate(ontology.concepts):
        names = concept.surfaces(languages)
        terms = [*names, *concept.instance_surfaces(languages)]
        keys = dict.fromkeys(filter(None, map(key, terms)))
        found = tuple(one for one in keys if known is None or one in known)
        if found:
            features[place] = found
    label = {place: ontology.concepts[place].label for place in features}
    return {
        label[place]: ConceptWords(
            features[place],
            levels,
            {
                label[other]: close
                for other, close in closeness(ontology, [place], MEANT, LEAST).items()
                if other in features and other != place
            },
            kinds=_labels(ontology.towards(place, Relation.HAS_KIND), label),
            broader=_labels(ontology.towards(place, Relation.IS_A), label),
        )
        for place, levels in _levels(ontology, label)
    }


def _labels(places: Iterable[int], label: Mapping[int, str]) -> tuple[str, ...]:
    """The labels of those places that have one."""
    return tuple(label[place] for place in places if place in label)


def _levels(
    ontology: Ontology, label: Mapping[int, str]
) -> Iterator[tuple[int, dict[str, int]]]:
    """Each labelled concept, and those one or two relations away from it, by label.

    Sets of concepts are bits of integers, because the thousands of kinds of one concept
    are all two relations away from each other.
    """
    near = [0] * len(ontology.concepts)  # those one relation away
    for number, place in enumerate(label):
        for other in ontology.around(place):
            near[other] |= 1 << number
    for number, place in enumerate(label):
        others = ~(1 << number)
        first = near[place] & others
        further = reduce(or_, (near[other] for other in ontology.around(place)), 0)
        further &= others & ~first
        levels = dict.fromkeys(_chosen(label.values(), first), 1)
        yield place, levels | dict.fromkeys(_chosen(label.values(), further), 2)


def _chosen(labels: Iterable[str], bits: int) -> Iterator[str]:
    """The labels whose bits are set, the first being the lowest."""
    return compress(labels, map("1".__eq__, reversed(f"{bits:b}")))
