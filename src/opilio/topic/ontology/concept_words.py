"""An ontology in; what each of its concepts is called, and what is near it, out.

What a search for a concept also finds: pages that name its kinds and parts, and less so
what is related to it. Closeness is as in walk.py, with steps up left out: who asks for
birds does not ask for animals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from opilio.topic.ontology.model import Ontology, words_for
from opilio.topic.ontology.walk import Weights, closeness
from opilio.types import ConceptWords

MEANT = Weights(kind=0.5, part=0.5, related=0.2, broader=0.0, whole=0.0, astray=0.2)
LEAST = 0.1
LEVELS = 2


def concept_words(
    ontology: Ontology,
    key: Callable[[str], str],
    *,
    languages: Sequence[str] = (),
    known: Collection[str] | None = None,
) -> dict[str, ConceptWords]:
    """The concepts by label, each with the keys of its terms; only terms whose keys are
    `known`, if these are given, and concepts that have some."""
    features: dict[int, tuple[str, ...]] = {}
    for place, concept in enumerate(ontology.concepts):
        terms = [*concept.surfaces(languages), *words_for(concept.instances)]
        keys = dict.fromkeys(filter(None, map(key, terms)))
        found = tuple(one for one in keys if known is None or one in known)
        if found:
            features[place] = found
    label = {place: ontology.concepts[place].label for place in features}
    return {
        label[place]: ConceptWords(
            found,
            {label[other]: level for other, level in levels(ontology, place, features)},
            {
                label[other]: close
                for other, close in closeness(ontology, [place], MEANT, LEAST).items()
                if other in features and other != place
            },
        )
        for place, found in features.items()
    }


def levels(
    ontology: Ontology, place: int, known: Collection[int]
) -> list[tuple[int, int]]:
    """The known concepts around one, with how many relations away."""
    seen, edge, found = {place}, [place], []
    for level in range(1, LEVELS + 1):
        around = {other for near in edge for _, other in ontology.steps[near]} - seen
        seen |= around
        edge = sorted(around)
        found += [(other, level) for other in edge if other in known]
    return found
