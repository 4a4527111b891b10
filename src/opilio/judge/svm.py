"""A judge that learns from example pages: a linear support vector machine, calibrated.

Aastha (M.E. thesis, 4.7.1) judges a crawl by SVMs of the words of a page, with twice as
many negative as positive pages. Here the positive pages are the examples; all others
(see `linear.py`) weigh twice as much together. Platt's sigmoid (1999) makes a
probability of the distance f from the dividing plane; its a and b are fitted to
distances that were found by cross-validation, for pages that the plane was not fitted
to:

    p     = 1 / (1 + e^(a·f + b))
    score = v·k/(k + cut) + (1 − v)·p,    v = 50/(50 + n)

Symbols: k the keyword score of a page (`keyword_score.py`), n the pages seen by now:
keywords count less, the more pages the plane was fitted to.
"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from opilio.judge.hashed_words import Weights, WordRow
from opilio.judge.keyword_score import CUT
from opilio.judge.lesson import prepare_lesson
from opilio.judge.linear import Linear
from opilio.judge.word_model import WordModel
from opilio.records import Verdict

STRENGTH = 1.0  # scikit-learn's C
FOLDS = 5
FEWEST = 3  # examples for a cross-validation
SLOPE = 4.0  # of the sigmoid without one, from the mean of others to that of examples
EXPERIENCE = 50  # pages; with as many, keywords count half
STEEPEST = 30.0  # logits beyond it say no more


class Svm(Linear):
    """Judges a page by a calibrated SVM of its words, learnt from examples."""

    name = "svm"
    against = 2.0

    def learn(self) -> WordModel | None:
        """The plane between examples and other pages; None: there are no others yet."""
        lesson = prepare_lesson(self.sample)
        if lesson is None:
            return None
        rows, labels, weights = self.training(lesson)
        direction, a, b = fit_svm(rows, labels, weights)
        # by_words() of the model is then the logit, -(a·f + b).
        logits = (-a * direction).astype(np.float32)
        keywords = EXPERIENCE / (EXPERIENCE + lesson.pages)
        return WordModel(lesson.idf, logits, b, keywords, 1.0)

    def score(self, row: WordRow | None, keywords: float) -> Verdict:
        """The probability, its part by keywords and its part by all words."""
        by_keywords = keywords / (keywords + CUT)
        if self.model is None or row is None:
            return Verdict(
                by_keywords, by_keywords >= self.threshold, {"keywords": by_keywords}
            )
        logit = self.model.by_words(row)
        share = self.model.keywords
        parts = {
            "keywords": share * by_keywords,
            self.learnt_part: (1 - share) * probability(logit),
        }
        score = sum(parts.values())
        return Verdict(score, score >= self.threshold, parts)


def fit_svm(rows: Any, labels: Any, weights: Any) -> tuple[Weights, float, float]:
    """The normal of the plane, and Platt's a and b; the offset of the plane is in b."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import LinearSVC

    svm = LinearSVC(C=STRENGTH, random_state=0, max_iter=10_000)
    examples = int(labels.sum())
    if examples < FEWEST:
        svm.fit(rows, labels, weights)
        distances = svm.decision_function(rows)
        high, low = distances[labels == 1].mean(), distances[labels == 0].mean()
        a = -SLOPE / max(high - low, 1e-9)
        return svm.coef_[0], a, -a * (high + low) / 2 + a * float(svm.intercept_[0])
    folds = StratifiedKFold(min(FOLDS, examples), shuffle=True, random_state=0)
    made = CalibratedClassifierCV(svm, method="sigmoid", cv=folds, ensemble=False)
    made.fit(rows, labels, sample_weight=weights)
    [calibrated] = made.calibrated_classifiers_
    [sigmoid] = calibrated.calibrators
    plane = calibrated.estimator
    a = float(sigmoid.a_)
    return plane.coef_[0], a, float(sigmoid.b_) + a * float(plane.intercept_[0])


def probability(logit: float) -> float:
    """1 / (1 + e^−x)."""
    return 1 / (1 + exp(-max(-STEEPEST, min(STEEPEST, logit))))
