"""The agents of InfoSpiders: small neural nets that estimate links and learn."""

from __future__ import annotations

from collections.abc import Iterable
from math import tanh
from typing import NamedTuple

from opilio.records import Link
from opilio.strategies.shared.hashed_random import chance

Inputs = tuple[tuple[int, float], ...]  # number of a keyword, and in_k; 0 is the bias

MOST_WEIGHT = 5.0


class Spider(NamedTuple):
    """An agent: a net of one layer, its energy, and the number of its moves."""

    energy: float  # E
    moves: int
    weights: tuple[float, ...]  # w_0, the bias, then w_k

    def estimate(self, inputs: Inputs) -> float:
        """λ = tanh(Σ_k w_k·in_k)"""
        return tanh(sum(self.weights[k] * value for k, value in inputs))

    def learn(self, inputs: Inputs, rate: float, target: float) -> Spider:
        """w_k += η·(target - λ)·(1 - λ²)·in_k"""
        estimate = self.estimate(inputs)
        step = rate * (target - estimate) * (1 - estimate * estimate)
        weights = list(self.weights)
        for k, value in inputs:
            weights[k] = within(weights[k] + step * value)
        return self._replace(weights=tuple(weights))

    def earn(self, energy: float) -> Spider:
        """The agent after a move."""
        return self._replace(energy=self.energy + energy, moves=self.moves + 1)

    def halve(self) -> Spider:
        """The agent with half its energy; its offspring gets the other half."""
        return self._replace(energy=self.energy / 2)

    def mutate(self, strength: float, *draw: int) -> Spider:
        """The same with each weight changed by up to `strength`."""
        return self._replace(
            weights=tuple(
                within(weight + strength * (2 * chance(*draw, k) - 1))
                for k, weight in enumerate(self.weights)
            )
        )


def within(weight: float) -> float:
    """A weight, limited so that it can be unlearnt."""
    return max(-MOST_WEIGHT, min(MOST_WEIGHT, weight))


def inputs_of(link: Link, keywords: dict[str, int]) -> Inputs:
    """in_k: a keyword in the anchor or the address counts 1, around the link 1/2."""
    found = {0: 1.0}
    if link.terms:
        near = link.terms.anchor.terms, link.terms.url.terms
        add(found, (pair for terms in near for pair in terms.items()), keywords, 1.0)
        add(found, link.terms.around.terms.items(), keywords, 0.5)
    return tuple(sorted(found.items()))


def add(
    found: dict[int, float],
    counts: Iterable[tuple[str, int]],
    keywords: dict[str, int],
    weight: float,
) -> None:
    """Count the keywords among terms."""
    for term, count in counts:
        if k := keywords.get(term, 0):
            found[k] = found.get(k, 0.0) + weight * count
