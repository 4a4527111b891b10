"""Measures how close the concepts of an ontology are to the sought ones.

A walk from a target multiplies the weights of its steps, and a concept is as close as
the best walk to it:

    closeness(c) = max over walks t → … → c of Π weight(step),   closeness(target) = 1

Kinds and parts of the target are inside the subject. Once a walk has left it, up or
aside, its steps to kinds and parts have the lower weight `astray`: the other kinds of a
broader concept are another subject.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from opilio.topic.ontology.model import Ontology, Relation


@dataclass(frozen=True, kw_only=True)
class WalkWeights:
    """The weight of one step, by its relation."""

    kind: float  # down is-a
    broader: float  # up is-a
    part: float  # has, or down part-of
    whole: float  # part-of
    related: float
    astray: float | None = None  # for kind and part, outside; None: as inside

    def step(self, relation: Relation, inside: bool) -> tuple[float, bool]:
        """The weight of a step, and whether it stays inside."""
        inward = relation in (Relation.HAS_KIND, Relation.HAS)
        if inward and not inside and self.astray is not None:
            return self.astray, False
        weights = {
            Relation.HAS_KIND: self.kind,
            Relation.IS_A: self.broader,
            Relation.HAS: self.part,
            Relation.PART_OF: self.whole,
            Relation.RELATED: self.related,
        }
        return weights[relation], inside and inward


def closeness(
    ontology: Ontology, targets: Iterable[int], weights: WalkWeights, least: float
) -> dict[int, float]:
    """Each place with at least this closeness to the nearest target, closest first."""
    best: dict[int, float] = {}
    done: set[tuple[int, bool]] = set()
    waiting = [(-1.0, False, target) for target in sorted(set(targets))]
    while waiting:
        distance, outside, place = heappop(waiting)
        # At the same closeness, inside is at least as good as outside.
        if (place, outside) in done or (place, False) in done:
            continue
        done.add((place, outside))
        best.setdefault(place, -distance)
        for relation, others in ontology.steps[place].items():
            weight, inside = weights.step(relation, not outside)
            if -distance * weight < least:
                continue
            for other in others:
                if (other, not inside) not in done:
                    heappush(waiting, (distance * weight, not inside, other))
    return best
