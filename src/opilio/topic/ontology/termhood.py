"""Estimates how likely a word or phrase of crawled pages is a term of an ontology.

The ontology itself shows what its terms are like: of the candidates on the pages, those
that it has already are the examples, all others are not. A logistic regression learns
from them what tells a term,

    chance(t) = σ(b + Σ_i w_i·x_i(t))

and the candidates that it does not have are ranked by their chance. A feature x_i never
sees whether t is a label: where labels are counted, t's own is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import log, log1p

import numpy as np
import numpy.typing as npt

from opilio.topic.common_words import ordinary
from opilio.topic.ontology.term_counts import TermCounts

FEWEST = 20  # labels on the pages, to learn from
ENDING = 3  # letters of a word that tell its kind, as -ism and -ous do
SMOOTH = 5.0  # candidates with an ending, before its share of terms counts half
RIDGE = 1.0
STEPS = 25

Matrix = npt.NDArray[np.float64]


class Termhood:
    """What tells terms from other words, learnt from the labels of an ontology."""

    def __init__(
        self, counts: TermCounts, labels: Collection[str], language: str
    ) -> None:
        self.counts = counts
        self.labels = labels
        self.common = ordinary(language)
        self.words = Counter(word for key in labels for word in set(key.split()))
        self.heads = Counter(key.split()[-1] for key in labels if key)
        self.keys = sorted(counts.pages)
        ends = {key: counts.written(key)[-ENDING:] for key in self.keys}
        self.ends = ends
        self.with_end = Counter(ends.values())
        self.terms_with_end = Counter(ends[k] for k in self.keys if k in labels)
        self.share = sum(self.terms_with_end.values()) / max(len(self.keys), 1)

    def chances(self) -> dict[str, float]:
        """The chance of each candidate that is no label yet; none if too few are."""
        known = np.array([key in self.labels for key in self.keys])
        if known.sum() < FEWEST or known.all():
            return {}
        rows = np.array([self.features(key) for key in self.keys])
        rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-9)
        rows = np.column_stack([rows, np.ones(len(rows))])
        weights = fit(rows, known.astype(np.float64))
        values = sigmoid(rows @ weights)
        return {
            key: float(value)
            for key, value, is_label in zip(self.keys, values, known, strict=True)
            if not is_label
        }

    def features(self, key: str) -> list[float]:
        """What is known about a candidate, without whether it is a label."""
        counts, words = self.counts, key.split()
        own = key in self.labels
        pages, times = counts.pages[key], counts.times[key]
        shared = [self.words[word] - own for word in words]
        end = self.ends[key]
        terms = self.terms_with_end[end] - own + SMOOTH * self.share
        ending = terms / (self.with_end[end] - 1 + SMOOTH)
        several = len(words) > 1
        return [
            log(pages),
            log(times / pages),
            counts.near[key] / pages,
            log1p(counts.anchors[key]),
            log1p(counts.headings[key]),
            log1p(counts.titles[key]),
            counts.anchors[key] / pages,
            counts.capital[key] / times,
            counts.first[key] / times,
            counts.last[key] / times,
            float(len(words) == 2),
            float(len(words) > 2),
            sum(number > 0 for number in shared) / len(words),
            log1p(min(shared)),
            log1p(self.heads[words[-1]] - own),
            float(several and words[-1] in self.labels),
            float(several and words[0] in self.labels),
            float(any(word in self.common for word in words)),
            log(max(ending, 1e-6)),
            len(key) / 10,
        ]


def fit(rows: Matrix, labels: Matrix) -> Matrix:
    """The weights of a logistic regression, by Newton's method."""
    weights = np.zeros(rows.shape[1])
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[-1, -1] = 1e-9  # the constant is free
    for _ in range(STEPS):
        chance = sigmoid(rows @ weights)
        slope = rows.T @ (labels - chance) - ridge @ weights
        spread = chance * (1 - chance)
        step = np.linalg.solve((rows.T * spread) @ rows + ridge, slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def sigmoid(values: Matrix) -> Matrix:
    """1 / (1 + e^−x), for any x."""
    made: Matrix = 0.5 * (1 + np.tanh(values / 2))
    return made
