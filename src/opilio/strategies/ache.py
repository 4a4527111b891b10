"""ACHE: Barbosa & Freire, WWW2007; the code of VIDA-NYU/ache at 81b29c0.

A naive Bayes classifier learns from the links that were visited, by the words in their
addresses, anchors and surroundings, which lead to relevant pages (POS or NEG):

    faithful:  promise = 100·weight[c] + 100·P(c),   c = argmax P,   weight = 2, 1
    fixed:     promise = P(POS)

Symbols: P, what the classifier says; weight, 2 of POS and 1 of NEG. As the code has it,
100·P = 100 counts as 99. So among links classified as NEG, the most certain come first;
`fixed` corrects that.

Until it has learnt, promise = -(depth + 1), breadth-first, as ACHE by default. It
learns every `relearn` pages from at most 5,000 links a class; a bad one is an example
only while there are fewer bad than good ones.

We differ: words are stems and all of them count, hashed, each by the part it is in,
instead of the most frequent ones of each part; URLs of pictures are ignored; every
waiting link gets a new promise when something was learnt; once there are 5,000 good
ones, each new one replaces a random one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from opilio.records import (
    Fingerprint,
    Knowledge,
    Lease,
    LinkPart,
    Page,
    Ranked,
    Reads,
    Revision,
    State,
    Verdict,
)
from opilio.settings import Section, Some
from opilio.strategies.shared.linear_model import Floats, LinearModel
from opilio.strategies.shared.link_examples import Experience, SeenLink
from opilio.strategies.shared.link_features import BIAS, COLUMNS, columns_of, to_sets
from opilio.strategies.shared.naive_bayes import bayes_weights, bias

PARTS = frozenset({LinkPart.URL, LinkPart.ANCHOR, LinkPart.BEFORE, LinkPart.AFTER})


class AcheOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How ACHE ranks and when it learns."""

    mode: Literal["fixed", "faithful"] = "fixed"
    relearn: Some = 500  # pages


class Ache:
    """Relearns every 500 pages, by naive Bayes, which links lead to relevant ones."""

    Options = AcheOptions
    reads = Reads(context=True, words=True)

    def __init__(self, options: AcheOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.model = LinearModel(COLUMNS)
        self.experience = Experience(knowledge.seed)
        self._new = False  # the model, since the last dump
        self._revised: list[tuple[Fingerprint, float]] = []

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link with its promise by the classifier."""
        self.settle(lease, verdict.relevant)
        self.experience.make_room(self.score)
        if self.experience.visits >= self.model.age + self.options.relearn:
            self.learn()
        depth = -float(lease.depth + 1)
        columns = columns_of(page.links, PARTS, paths=False)
        found = [SeenLink(packed, depth) for packed in columns]
        promises = self.score(found)
        self.experience.expect(page.links, found, promises, self.score)
        level = lease.level_after(verdict)
        for link, promise in zip(page.links, promises.tolist(), strict=True):
            yield Ranked(link, promise, self.parts(promise), level)

    def parts(self, promise: float) -> dict[str, float]:
        """The parts of a promise."""
        if not self.model.age:
            return {"-(depth+1)": promise}
        if self.options.mode == "fixed":
            return {"P(POS)": promise}
        weight = 200.0 if promise >= 200 else 100.0
        return {"100·weight": weight, "100·P": promise - weight}

    def score(self, seen: Sequence[SeenLink]) -> Floats:
        """The promise of each link."""
        if not self.model.age or not seen:
            return np.array([one.value for one in seen], np.float64)
        good = self.model.predict(to_sets([one.features for one in seen]))
        if self.options.mode == "fixed":
            return good
        sure = 100 * np.maximum(good, 1 - good)
        sure = np.where(sure == 100, 99, sure)
        banded: Floats = np.where(good >= 0.5, 200, 100) + sure
        return banded

    def settle(self, lease: Lease, relevant: bool) -> None:
        """Add a visit to the examples, if that keeps the classes balanced."""
        bad, good = self.experience.counts()
        teaches = relevant or bad < good
        self.experience.settle(lease.fingerprint, relevant, 0.0, teaches)

    def learn(self) -> None:
        """Count the words of all examples, and rank every waiting link again."""
        bad, good = self.experience.counts()
        if not bad or not good:
            return
        examples = self.experience.examples()
        rows = to_sets([one.features for one in examples])
        lengths = np.diff(rows.starts, append=len(rows.columns))
        positive = np.repeat([float(one.relevant) for one in examples], lengths)
        words = rows.columns != BIAS
        weights = bayes_weights(
            rows.columns[words], rows.values[words], positive[words], COLUMNS
        )
        weights[BIAS] = bias(good, bad)
        self.model.set(weights, self.experience.visits)
        fingerprints, seen = self.experience.all_waiting()
        self._revised = list(zip(fingerprints, self.score(seen).tolist(), strict=True))
        self._new = True

    def revise(self) -> Iterator[Revision]:
        """The promises of all links, each time something was learnt."""
        revised, self._revised = self._revised, []
        return ((link, promise, self.parts(promise)) for link, promise in revised)

    def missed(self, lease: Lease, state: State) -> None:
        """Count a visit without a page as NEG."""
        self.settle(lease, relevant=False)

    def dump(self) -> bytes | None:
        """The classifier, if it is new."""
        new, self._new = self._new, False
        return self.model.dump() if new else None

    def load(self, learnt: bytes) -> None:
        """Restore the classifier."""
        self.model.load(learnt)

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on links that changed."""
        return self.experience.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on links."""
        self.experience.recall(notes)
