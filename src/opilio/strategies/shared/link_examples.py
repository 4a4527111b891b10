"""Collects visited links as examples, for strategies that learn.

The note on a URL has the packed features of the link when it was found and, once it was
visited, the outcome. A model is fitted to the notes at fixed numbers of visits and
dumped only then, so a kill loses nothing and no commit writes it needlessly.

Memory is bounded: only the features of the MOST_WAITING best links are kept; the others
keep their promise. If there are too many examples of a class, each new one replaces a
random one, so that recent ones are more likely to be kept (Aggarwal, VLDB 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from opilio.records import Fingerprint, Link
from opilio.strategies.shared.hashed_random import chance
from opilio.strategies.shared.linear_model import Floats
from opilio.strategies.shared.notes import Notes

MOST_WAITING = 30_000  # so that going through them all costs a tenth of a second
MOST_EXAMPLES = 5_000  # of each class
GROWTH, MORE = 1.3, 5  # between two fits; what all of them cost grows with the visits
WAITS, DONE = -2, -1  # instead of the number of an example


class SeenLink(NamedTuple):
    """The features of a link and, if it was visited, the outcome."""

    features: bytes = b""
    value: float = 0.0  # of the page that it was found on
    number: int = WAITS  # of the example in its class
    relevant: bool = False
    target: float = 0.0  # its own value

    @property
    def is_waiting(self) -> bool:
        """Whether it was not visited yet."""
        return self.number == WAITS


class Experience:
    """Notes of links, and the examples among them."""

    def __init__(
        self, seed: int, most: int = MOST_EXAMPLES, most_waiting: int = MOST_WAITING
    ) -> None:
        self.notes: Notes[SeenLink] = Notes(SeenLink)
        self.seed = seed
        self.most = most
        self.most_waiting = most_waiting
        self.visits = 0
        self.waiting = 0
        self._examples: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """Of irrelevant and of relevant ones: number -> fingerprint."""

    def expect(
        self,
        links: Sequence[Link],
        found: Sequence[SeenLink],
        promises: Floats,
        score: Callable[[Sequence[SeenLink]], Floats],
    ) -> None:
        """Store links of a page; a known one only if it is better now."""
        notes = self.notes
        known = [notes.get(link.fingerprint) for link in links]
        old = [(place, one) for place, one in enumerate(known) if one]
        waits = [(place, one) for place, one in old if one.is_waiting]
        before = score([one for _, one in waits]).tolist()
        skipped = {place for place, one in old if not one.is_waiting}
        for (place, _), promise in zip(waits, before, strict=True):
            if promise >= promises[place]:
                skipped.add(place)
        for place, link in enumerate(links):
            if place not in skipped:
                notes[link.fingerprint] = found[place]
        self.waiting += len(links) - len(old)

    def settle(
        self,
        fingerprint: Fingerprint,
        relevant: bool,
        target: float,
        teaches: bool = True,
    ) -> None:
        """Record the outcome of a visit, as an example if it teaches something."""
        known = self.notes.get(fingerprint)
        if known and not known.is_waiting:
            return
        self.visits += 1
        self.waiting -= known is not None
        if known is None or not teaches:
            self.notes[fingerprint] = SeenLink(number=DONE)
            return
        number = self._admit(fingerprint, relevant)
        self.notes[fingerprint] = SeenLink(
            known.features, known.value, number, relevant, target
        )

    def _admit(self, fingerprint: Fingerprint, relevant: bool) -> int:
        """The number of a new example, which may be that of an old one."""
        examples = self._examples[relevant]
        number = len(examples)
        if number >= self.most:
            number = int(chance(self.seed, self.visits) * self.most)
            self.notes[examples[number]] = SeenLink(number=DONE)
        examples[number] = fingerprint
        return number

    def due(self, age: int) -> bool:
        """Whether to fit again, given the number of visits at the last fit."""
        return self.visits >= GROWTH * age + MORE

    def counts(self) -> tuple[int, int]:
        """How many examples are irrelevant, and how many relevant."""
        return len(self._examples[0]), len(self._examples[1])

    def examples(self) -> list[SeenLink]:
        """All examples, always in the same order."""
        return [
            self.notes[examples[number]]
            for examples in self._examples
            for number in sorted(examples)
        ]

    def all_waiting(self) -> tuple[list[Fingerprint], list[SeenLink]]:
        """The waiting links that are stored."""
        found = [item for item in self.notes.items() if item[1].is_waiting]
        return [fingerprint for fingerprint, _ in found], [seen for _, seen in found]

    def make_room(self, score: Callable[[Sequence[SeenLink]], Floats]) -> None:
        """Drop the worse half of the waiting links, if there are too many."""
        if self.waiting < self.most_waiting:
            return
        fingerprints, seen = self.all_waiting()
        order = np.lexsort((np.array(fingerprints), score(seen)))
        for place in order[: len(order) // 2].tolist():
            del self.notes[fingerprints[place]]
            self.waiting -= 1

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes that changed."""
        return self.notes.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes of earlier runs."""
        self.notes.recall(notes)
        for fingerprint, seen in self.notes.items():
            if seen.is_waiting:
                self.waiting += 1
                continue
            self.visits += 1
            if seen.number != DONE:
                self._examples[seen.relevant][seen.number] = fingerprint
