"""Apprentice: Chakrabarti, Punera & Subramanyam, WWW2002, 148-159.

The judge is a critic that sees a page only after it was fetched. Its apprentice learns
to predict its verdict before, from the context of the link on page u:

    promise(u, v) = Pr(v is relevant | words of the link by part, tag path, score(u))
                  = 1 / (1 + exp(-w·x(u, v)))

    w = argmin Σ loss(y(v), u, v) + λ/2·|w|²    over the links that were visited

Symbols: x(u, v), a column for each word in each part of the link, all of them together
of length 1, for its tag path and the end of it, and 3·score(u); y(v) = 1 if the critic
found v relevant, else 0; λ penalty.

Until it has learnt, promise = score(u). It learns again after 5 visits, 11, 19, … each
time 1.3·n + 5, and then every waiting link gets a new promise.

We differ: a logistic regression in place of naive Bayes, whose probabilities lie near
0 and 1 (Pant & Srinivasan, TOIS 2005); the place of a word is one of six parts of a
link instead of its distance in the DOM tree; of u, only the score is a feature, since
our critic has no taxonomy; a visit without a page teaches that its link was bad.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import msgspec
import numpy as np

from opilio.records import (
    Fingerprint,
    Knowledge,
    Lease,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    State,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.linear_model import Floats, LinearModel
from opilio.strategies.shared.link_examples import Experience, SeenLink
from opilio.strategies.shared.link_features import COLUMNS, columns_of, to_rows


class ApprenticeOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the apprentice learns."""

    penalty: Annotated[float, msgspec.Meta(gt=0)] = 0.5  # λ


class Apprentice:
    """Learns from the crawl's own pages which links lead to relevant ones."""

    Options = ApprenticeOptions
    reads = Reads(context=True, blocks=True, words=True)

    def __init__(self, options: ApprenticeOptions, knowledge: Knowledge) -> None:
        self.model = LinearModel(COLUMNS, options.penalty)
        self.experience = Experience(knowledge.seed)
        self._new = False  # the model, since the last dump
        self._revised: list[tuple[Fingerprint, float, float]] = []  # with score(u)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link with the estimated probability that it is relevant."""
        self.experience.settle(lease.fingerprint, verdict.relevant, verdict.score)
        self.experience.make_room(self.score)
        if self.experience.due(self.model.age):
            self.learn()
        links, u = page.links, verdict.score
        found = [SeenLink(columns, u) for columns in columns_of(links, paths=True)]
        promises = self.score(found)
        self.experience.expect(links, found, promises, self.score)
        level = lease.level_after(verdict)
        for link, promise in zip(links, promises.tolist(), strict=True):
            yield Ranked(link, promise, parts_of(u, promise), level)

    def score(self, seen: Sequence[SeenLink]) -> Floats:
        """The promise of each link."""
        values = np.array([one.value for one in seen], np.float64)
        if not self.model.age or not seen:
            return values
        return self.model.predict(to_rows([one.features for one in seen], values))

    def learn(self) -> None:
        """Fit the model to all visits, and every link that waits to the model."""
        if not all(self.experience.counts()):
            return  # of one class alone nothing can be learnt
        examples = self.experience.examples()
        scores = np.array([one.value for one in examples])
        labels = np.array([one.relevant for one in examples], np.float64)
        rows = to_rows([one.features for one in examples], scores)
        self.model.fit(rows, labels, self.experience.visits)
        fingerprints, seen = self.experience.all_waiting()
        promises = self.score(seen).tolist()
        values = [one.value for one in seen]
        self._revised = list(zip(fingerprints, promises, values, strict=True))
        self._new = True

    def revise(self) -> Iterator[Revision]:
        """The promises of all links, each time something was learnt."""
        revised, self._revised = self._revised, []
        return ((link, promise, parts_of(u, promise)) for link, promise, u in revised)

    def missed(self, lease: Lease, state: State) -> None:
        """Count a visit without a page as irrelevant."""
        self.experience.settle(lease.fingerprint, False, 0.0)

    def dump(self) -> bytes | None:
        """The model, if it is new."""
        new, self._new = self._new, False
        return self.model.dump() if new else None

    def load(self, learnt: bytes) -> None:
        """Restore the model."""
        self.model.load(learnt)

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on links that changed."""
        return self.experience.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on links."""
        self.experience.recall(notes)


def parts_of(score: float, promise: float) -> Parts:
    """The probability, and the score of the linking page, on which it depends."""
    return {"score(u)": score, "Pr": promise}
