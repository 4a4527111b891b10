"""A judge that learns from example pages: a linear classifier, calibrated.

Logistic regression (scikit-learn) over all words of a page. The example pages are
positive. Irrelevant examples, pages of the background and, with less weight, the best
pages seen are negative: most of the latter are relevant, but what they share with the
examples stays positive, and how they differ is what keywords cannot express.

    s = m·n/(n + 100) + k·20/(e + 5)

Symbols: m the classifier's value on a scale where the median of the background is 0 and
the mean of the examples is 1; n the pages seen by then, since early on it takes what it
has not met yet for the topic; e the number of examples: the fewer there are, the more
keywords count; k and s as in `learning_judge.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from opilio.errors import BadInput
from opilio.judge.hashed_words import PLACES, Stack, Weights, row_of, stack
from opilio.judge.learning_judge import Learning
from opilio.judge.lesson import Lesson, prepare_lesson
from opilio.judge.word_model import WordModel
from opilio.records import Subject

PROMISING = 0.3  # weight of the best pages seen, all together, beside the background
STRENGTH = 30.0  # scikit-learn's C, for a weight of one an example
EXPERIENCE = 100  # pages after which the model counts half
KEYWORDS, FEW = 20.0, 5  # the numbers of k's weight
CUT, FIT = 0.45, 4  # with few examples, other pages score far lower than they do


class Linear(Learning):
    """Judges a page by a linear model of its words, learnt from examples."""

    name = "linear"
    learnt_part = "model"
    against = 1.0  # what all other pages weigh together, beside all examples

    def __init__(self, subject: Subject) -> None:
        self.relevant = list(filter(None, map(row_of, subject.relevant)))
        self.irrelevant = list(filter(None, map(row_of, subject.irrelevant)))
        if not self.relevant:
            raise BadInput(
                f"the judge {self.name!r} needs example pages and the topic has none; "
                "add [examples] relevant = ['good/*.html'] to the topic file, or "
                "choose --judge bootstrapped"
            )
        require_sklearn(self.name)
        super().__init__(subject)
        count = len(self.relevant)
        self.cut = CUT * count / (count + FIT)
        for row in chain(self.relevant, self.irrelevant):
            self.sample.rarity.add(row)

    def worth(self, keywords: float, score: float) -> float:
        """The score, because a topic with examples may have no keywords."""
        return score

    def learn(self) -> WordModel | None:
        """Learn how examples differ from other pages; None: there are no others yet."""
        lesson = prepare_lesson(self.sample)
        if lesson is None:
            return None
        direction = self.fit(lesson)
        low = float(np.median(lesson.background.dot(direction)))
        high = float(stack(self.relevant, lesson.idf).dot(direction).mean())
        return WordModel(
            lesson.idf,
            direction,
            low,
            KEYWORDS / (len(self.relevant) + FEW),
            lesson.pages / (lesson.pages + EXPERIENCE) / max(high - low, 1e-9),
        )

    def fit(self, lesson: Lesson) -> Weights:
        """The weight of each word; both sides weigh the same, each example 1."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            C=STRENGTH, solver="liblinear", dual=True, random_state=0, max_iter=1000
        )
        model.fit(*self.training(lesson))
        found: Weights = model.coef_[0].astype(np.float32)
        return found

    def training(self, lesson: Lesson) -> tuple[Any, Any, Any]:
        """What there is to learn from: rows, labels, and how much each row weighs."""
        against = [
            (stack(self.irrelevant, lesson.idf), 1.0),
            (lesson.background, 1.0),
            (lesson.surest, PROMISING),
        ]
        against = [(rows, share) for rows, share in against if len(rows.starts)]
        unit = self.against * len(self.relevant) / sum(share for _, share in against)
        weights = [np.ones(len(self.relevant))]
        for rows, share in against:
            count = len(rows.starts)
            weights.append(np.full(count, unit * share / count))
        stacks = [stack(self.relevant, lesson.idf), *(rows for rows, _ in against)]
        labels = np.repeat([1, 0], [len(self.relevant), sum(map(len, weights[1:]))])
        return matrix(stacks), labels, np.concatenate(weights)


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


def require_sklearn(judge: str) -> None:
    """Raise BadInput if scikit-learn is missing."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise BadInput(
            f"the judge {judge!r} needs scikit-learn, which is not installed; "
            'run: pip install "opilio[learn]"'
        ) from error
