"""Fits the weights of a strategy's terms to the visits of the crawl so far.

    P(relevant) = 1/(1 + e^-(b·x + c))

Logistic regression by Newton's method over at most the last 20,000 visits, held near
the initial weights by a ridge of `RIDGE`. It is fitted again when the visits have grown
by three in ten, so that its cost per visit does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from opilio.strategies.shared.growing_array import Column

FIRST = 30  # visits
GROWTH = 1.3
MOST = 20_000
RIDGE = 1.0
STEPS = 20
FARTHEST = 5.0  # a step goes; from where all is flat it would leap too far
ENOUGH = 1e-8  # a smaller step ends it

Values = NDArray[np.float64]


class FittedWeights:
    """The visits of a crawl, and the weights that explain them."""

    def __init__(self, start: Sequence[float]) -> None:
        self.start = np.array(start, np.float64)
        self.weights = self.start
        self._rows = [Column(np.float64) for _ in start]
        self._relevant = Column(np.float64)
        self._next = FIRST

    def add(self, row: Values, relevant: bool) -> None:
        """Add the terms of a link, and whether its page was relevant."""
        for column, value in zip(self._rows, row, strict=True):
            column.append(np.array([value]))
        self._relevant.append(np.array([float(relevant)]))

    @property
    def is_due(self) -> bool:
        """Whether the visits have grown enough to fit again."""
        return len(self._relevant.values) >= self._next

    def fit(self) -> None:
        """Fit the weights again."""
        rows = np.stack([column.values[-MOST:] for column in self._rows], axis=1)
        self.weights = fit(rows, self._relevant.values[-MOST:], self.start)[:-1]
        self._next = int(len(self._relevant.values) * GROWTH) + 1


def fit(rows: Values, relevant: Values, start: Values) -> Values:
    """The weights b that explain best which rows are relevant, not far from `start`;
    the last one is c."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    mean = np.append(start, 0.0)
    ridge = np.diag(np.append(np.full(len(start), RIDGE), 1e-3))
    b = mean.copy()
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ b, -30, 30)))
        slope = rows.T @ (relevant - chance) - ridge @ (b - mean)
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + ridge
        step = np.linalg.solve(bend, slope)
        step /= max(1.0, np.abs(step).max() / FARTHEST)
        b += step
        if np.abs(step).max() < ENOUGH:
            break
    # Rounded, so that all machines find the same weights.
    weights: Values = np.round(b, 6)
    return weights
