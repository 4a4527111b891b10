"""Makes the association table: term -> the concept it names, and its weight.

Koundal's association metric (§4; papers.md B.5-10) adds up the weights of the concepts
that a page or a URL names. A concept's weight falls with every relation between it and
what is sought, whichever way the relation goes:

    weight(target) = 1;  × 0.5 a step of is-a, × 0.4 of part-of or has, × 0.3 of related

The paper names the relations "is a", "part of" and "has" and gives no numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from opilio.topic.ontology.repository import Sought
from opilio.topic.ontology.walk import WalkWeights, closeness

ASSOCIATION = WalkWeights(kind=0.5, broader=0.5, part=0.4, whole=0.4, related=0.3)
LEAST = 0.1
MOST_TERMS = 2_000


def association(
    sought: Sought,
    *,
    languages: Sequence[str] = (),
    least: float = LEAST,
    most: int = MOST_TERMS,
) -> dict[str, tuple[str, float]]:
    """Each word for a concept near the targets -> its preferred label, its weight.

    The name of an instance counts for its class. A word for two concepts counts for the
    nearer one.
    """
    ontology = sought.ontology
    table: dict[str, tuple[str, float]] = {}
    near = closeness(ontology, sought.places, ASSOCIATION, least)
    for place, weight in near.items():  # the nearest first
        concept = ontology.concepts[place]
        words = sought.surfaces(place, languages)
        for term in [*words, *concept.instance_surfaces(languages)]:
            table.setdefault(term, (concept.label, weight))
    return dict(list(table.items())[:most])
