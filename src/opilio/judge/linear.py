"""A judge that learns from example pages: a linear classifier, calibrated.

Logistic regression (scikit-learn) over all words of a page; positive are the examples.
Negative are examples of what is irrelevant, pages of the background, and, with less
weight, the pages seen that looked best: most of them are relevant, but what they share
with the examples stays positive, and what tells them apart is what keywords cannot say.

    u = [m + c·u_f] / (1 + c),   c = min(1, (5/n)²)
    score = a·σ(u) + (1 − a)·k/(k + k₀),   a = b/(b + 5)

Symbols: m the classifier's value on a scale where the background is 0 and the examples
are 1; n the number of examples; u_f the height of `feedback.py`, which serves better
while there are few; b is the evidence; the rest as in `bootstrapped.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from opilio.errors import BadInput
from opilio.judge.calibration import (
    Scale,
    scale,
    score_of_height,
    score_of_keywords,
    trust,
)
from opilio.judge.feedback import Feedback, Keywords, Lesson, learn, prepare
from opilio.judge.sample import Sample
from opilio.judge.vectors import (
    PLACES,
    Row,
    Stack,
    Weights,
    row_of,
    stack,
    weigh,
)
from opilio.types import Page, Subject, Verdict

THRESHOLD = 0.5
CUT = 0.4  # below a half: pages that it was not fitted to come less far than examples
PROMISING = 0.3  # weight of the best pages seen, all together, beside the background
STRENGTH = 30.0  # scikit-learn's C, for a weight of one an example
ENOUGH = 5  # examples; with fewer, words that go with the keywords count as much


class Linear:
    """Judges a page by a linear model of its words, learnt from examples."""

    reads_blocks = False
    reads_vector = True

    def __init__(self, subject: Subject) -> None:
        self.relevant = list(filter(None, map(row_of, subject.relevant)))
        self.irrelevant = list(filter(None, map(row_of, subject.irrelevant)))
        if not self.relevant:
            raise BadInput(
                "the judge 'linear' needs example pages and the topic has none; add "
                "[examples] relevant = ['good/*.html'] to the topic file, or choose "
                "--judge bootstrapped"
            )
        require_sklearn()
        self.keywords = Keywords(subject)
        self.threshold = THRESHOLD if subject.threshold is None else subject.threshold
        self.sample = Sample()
        for row in chain(self.relevant, self.irrelevant):
            self.sample.rarity.add(row)
        self.share = min(1.0, (ENOUGH / len(self.relevant)) ** 2)  # c
        self.feedback: Feedback | None = None
        self.direction: Weights | None = None
        self.scale = Scale(0.0, 1.0)
        self.trust = 0.0
        self.is_new = False

    def judge(self, page: Page) -> Verdict:
        """The score of a page, as far as it is known by now; then learn from it."""
        keywords = self.keywords.score(page)
        row = row_of(page)
        verdict = self.score(row, keywords)
        if row is not None and self.sample.add(row, keywords, verdict.score):
            self.learn()
            self.is_new = True
        return verdict

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        return self.score(row_of(page), self.keywords.score(page))

    def score(self, row: Row | None, keywords: float) -> Verdict:
        """The score, its part by keywords and its part by the model."""
        parts = {"keywords": score_of_keywords(keywords)}
        if self.direction is not None and self.feedback and row is not None:
            along = weigh(row, self.feedback.idf) @ self.direction[row.places]
            near = self.feedback.height(row, keywords)
            height = self.scale.of(float(along)) + self.share * near
            parts["keywords"] *= 1 - self.trust
            height /= 1 + self.share
            parts["model"] = self.trust * score_of_height(height, CUT)
        score = sum(parts.values())
        return Verdict(score, score >= self.threshold, parts)

    def learn(self) -> None:
        """Learn from the examples and the pages of the sample."""
        lesson = prepare(self.sample)
        if lesson is None:
            return
        self.feedback = learn(lesson, self.relevant)
        if self.feedback is None:
            return
        self.direction = self.fit(lesson)
        self.scale = scale(
            lesson.background.dot(self.direction),
            stack(self.relevant, lesson.idf).dot(self.direction),
        )
        self.trust = trust(lesson.evidence(len(self.relevant)))

    def fit(self, lesson: Lesson) -> Weights:
        """The weight of each word; both sides weigh the same, an example one."""
        from sklearn.linear_model import LogisticRegression

        against = [
            (stack(self.irrelevant, lesson.idf), 1.0),
            (lesson.background, 1.0),
            (lesson.surest, PROMISING),
        ]
        against = [(rows, share) for rows, share in against if len(rows.starts)]
        unit = len(self.relevant) / sum(share for _, share in against)
        weights = [np.ones(len(self.relevant))]
        for rows, share in against:
            count = len(rows.starts)
            weights.append(np.full(count, unit * share / count))
        stacks = [stack(self.relevant, lesson.idf), *(rows for rows, _ in against)]
        labels = np.repeat([1, 0], [len(self.relevant), sum(map(len, weights[1:]))])
        model = LogisticRegression(
            C=STRENGTH, solver="liblinear", dual=True, random_state=0, max_iter=1000
        )
        model.fit(matrix(stacks), labels, np.concatenate(weights))
        found: Weights = model.coef_[0].astype(np.float32)
        return found

    def dump(self) -> bytes | None:
        """The sample as it is, if it was learnt from since the last dump."""
        if not self.is_new:
            return None
        self.is_new = False
        return self.sample.dump()

    def load(self, learnt: bytes) -> None:
        """Take up a sample and learn from it."""
        self.sample.load(learnt)
        self.learn()


def matrix(stacks: Sequence[Stack]) -> Any:
    """All rows as scikit-learn takes them."""
    from scipy.sparse import csr_matrix

    sizes = chain.from_iterable(
        np.diff(np.append(rows.starts, len(rows.places))) for rows in stacks
    )
    edges = np.cumsum([0, *sizes])
    return csr_matrix(
        (
            np.concatenate([rows.weights for rows in stacks]).astype(np.float64),
            np.concatenate([rows.places for rows in stacks]).astype(np.int32),
            edges,
        ),
        shape=(len(edges) - 1, PLACES),
    )


def require_sklearn() -> None:
    """Raise BadInput if scikit-learn is missing."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise BadInput(
            "the judge 'linear' needs scikit-learn, which is not installed; "
            'type: pip install "opilio[learn]"'
        ) from error
