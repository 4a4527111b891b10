"""Learns how far the words of links and the rules of classes are right.

    promise = 1/(1 + e^-(a·(1 − exp(−o/2)) + b·log(l/(1 − l)) + c))

Symbols: o, OBRS of a link; l, LARS; a, b and c, fitted by logistic regression and held
near a = 2 and b = 1. Where the words around links mislead, a falls to 0 or below; where
rules tell nothing, b does.

It learns first from the links that the rules were learnt from, then also from the
visits of the crawl. The visits alone would teach the wrong thing: they are the links
that promised most, so they hardly show what the others are worth. Without the first
links the two scores are signs of which one is right: 1 − exp(−o/2)·(1 − l).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp
from struct import Struct

import msgspec
import numpy as np

from opilio.records import Fingerprint, Link
from opilio.strategies.shared.linear_model import Floats
from opilio.strategies.shared.link_examples import GROWTH, MORE, Experience, SeenLink
from opilio.strategies.shared.ordering_fit import fit

FULL = 2.0  # OBRS of a link whose words alone make it likely (63 %)
START = np.array([2.0, 1.0])  # a and b
LEAST = 1e-3  # of LARS, and of 1 − LARS
SCORES = Struct("<dd")  # of a link: OBRS and LARS

Row = tuple[float, float, bool]
"""OBRS and LARS of a link, and whether it led to what is sought."""


def noisy_or(obrs: float, lars: float) -> float:
    """The probability that one of two signs is right."""
    return 1 - exp(-obrs / FULL) * (1 - lars)


class LearntState(msgspec.Struct, frozen=True):
    """What is stored of a LearntBlend besides its notes on links."""

    rows: list[Row]
    weights: list[float]
    age: int


class LearntBlend:
    """OBRS and LARS together, weighed by what links have shown."""

    def __init__(self, seed: int, rows: Sequence[Row] = ()) -> None:
        self.experience = Experience(seed)
        self.rows = list(rows)  # the first links
        self.weights: Floats | None = None  # a, b and c
        self.age = 0  # visits at the last fit
        self._revised: list[tuple[Fingerprint, float, dict[str, float]]] = []
        self._fit()
        self._new = bool(self.rows)  # since the last dump

    def promises(self, scores: Floats) -> Floats:
        """The promise of each link, given its OBRS and LARS."""
        if self.weights is None:
            promises: Floats = 1 - np.exp(-scores[:, 0] / FULL) * (1 - scores[:, 1])
            return promises
        odds = terms(scores) @ self.weights[:2] + self.weights[2]
        chances: Floats = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        return chances

    def parts(self, scores: Floats) -> list[dict[str, float]]:
        """How each promise came about: what the rules alone promise, and what the words
        change about that; the other way round before anything was learnt."""
        only, name, other = ((0.0, 1.0), "LARS", "OBRS")
        if self.weights is None:
            only, name, other = ((1.0, 0.0), "OBRS", "LARS")
        first = self.promises(scores * only)
        both = zip(
            first.tolist(), (self.promises(scores) - first).tolist(), strict=True
        )
        return [{name: one, other: two} for one, two in both]

    def expect(self, links: Sequence[Link], scores: Floats) -> None:
        """Note links that wait; a known one only if it promises more now."""
        found = [SeenLink(SCORES.pack(*row)) for row in scores.tolist()]
        self.experience.make_room(self._score)
        self.experience.expect(links, found, self.promises(scores), self._score)

    def replace(self, links: Sequence[Link], scores: Floats) -> None:
        """Note what is known about waiting links now that something else is sought."""
        notes = self.experience.notes
        for link, row in zip(links, scores.tolist(), strict=True):
            if (known := notes.get(link.fingerprint)) and known.is_waiting:
                notes[link.fingerprint] = SeenLink(SCORES.pack(*row))

    def settle(
        self, fingerprint: Fingerprint, relevant: bool, teaches: bool = True
    ) -> None:
        """Learn the outcome of a visit; one without a page teaches nothing."""
        self.experience.settle(fingerprint, relevant, 0.0, teaches)
        first, visits = len(self.rows), self.experience.visits
        if first and first + visits >= GROWTH * (first + self.age) + MORE:
            self.age, self._new = self.experience.visits, True
            self._fit()
            self._revise()

    def _fit(self) -> None:
        """Fit the weights to the first links and all visits, if some of them led to
        what is sought and others did not."""
        visited = self.experience.examples()
        scores = [row[:2] for row in self.rows] + unpacked(visited).tolist()
        led = [row[2] for row in self.rows] + [one.relevant for one in visited]
        if len(set(led)) == 2:
            self.weights = fit(terms(np.array(scores)), np.array(led, float), START)

    def _revise(self) -> None:
        fingerprints, seen = self.experience.all_waiting()
        scores = unpacked(seen)
        promises, parts = self.promises(scores).tolist(), self.parts(scores)
        self._revised = list(zip(fingerprints, promises, parts, strict=True))

    def _score(self, seen: Sequence[SeenLink]) -> Floats:
        return self.promises(unpacked(seen))

    def revise(self) -> list[tuple[Fingerprint, float, dict[str, float]]]:
        """The promises of the waiting links, each time something was learnt."""
        revised, self._revised = self._revised, []
        return revised

    def dump(self) -> bytes | None:
        """What was learnt, if it is new."""
        new, self._new = self._new, False
        weights = [] if self.weights is None else self.weights.tolist()
        state = LearntState(self.rows, weights, self.age)
        return msgspec.json.encode(state) if new else None

    def load(self, learnt: bytes) -> None:
        """Restore what was learnt."""
        state = msgspec.json.decode(learnt, type=LearntState)
        self.rows, self.age, self._new = state.rows, state.age, False
        self.weights = np.array(state.weights) if state.weights else None

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on links that changed."""
        return self.experience.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on links."""
        self.experience.recall(notes)


def terms(scores: Floats) -> Floats:
    """1 − exp(−OBRS/2) and the log-odds of LARS of each link."""
    lars = np.clip(scores[:, 1], LEAST, 1 - LEAST)
    return np.stack([1 - np.exp(-scores[:, 0] / FULL), np.log(lars / (1 - lars))], 1)


def unpacked(seen: Sequence[SeenLink]) -> Floats:
    """OBRS and LARS of each link."""
    packed = b"".join(one.features for one in seen)
    return np.frombuffer(packed, "<f8").reshape(-1, 2)
