"""Logistic regressions whose weights are not negative.

    w = argmin Σᵢ vᵢ·loss(yᵢ, σ(b + w·xᵢ)) / Σ vᵢ + λ/2·|w − w₀|²     with w ≥ 0

Symbols: vᵢ the weight of an example, w₀ weights known before (the ridge pulls towards
them), λ how strongly. Weights with the expected sign carry over to other webs better
than free ones. By projected Newton steps (Bertsekas 1982): weights at 0 whose gradient
would lower them further stay there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.pretrained import LogisticWeights

Floats = npt.NDArray[np.float64]

STEPS = 60
CLOSE = 1e-7
FLAT = 30.0


class TrainingExamples(NamedTuple):
    """Rows of features with labels, and how much each example counts."""

    rows: Floats
    labels: Floats
    shares: Floats


def fit_weights(
    examples: TrainingExamples,
    names: Sequence[str],
    before: LogisticWeights,
    penalty: float,
    free: Sequence[str] = (),
) -> LogisticWeights:
    """The best weights near those known before; only `free` ones may be negative."""
    ones = np.ones((len(examples.rows), 1))
    rows = np.hstack((examples.rows, ones))
    start = np.array([*(before.of(name) for name in names), before.bias])
    bounded = np.array([*(name not in free for name in names), False])
    pull = np.array([penalty] * len(names) + [0.0])
    shares = examples.shares / examples.shares.sum()

    def loss(at: Floats) -> float:
        z = rows @ at
        lost = np.logaddexp(0.0, z) - examples.labels * z
        return float(shares @ lost + 0.5 * pull @ (at - start) ** 2)

    found = start.copy()
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(rows @ found, -FLAT, FLAT)))
        gradient = rows.T @ (shares * (p - examples.labels)) + pull * (found - start)
        moving = ~(bounded & (found <= 0) & (gradient > 0))
        curve = (rows * (shares * p * (1 - p))[:, None]).T @ rows
        curve += np.diag(pull + 1e-9)
        step = np.zeros_like(found)
        step[moving] = np.linalg.solve(curve[np.ix_(moving, moving)], gradient[moving])
        length, now = 1.0, loss(found)
        while True:
            then = np.where(
                bounded, np.maximum(found - length * step, 0), found - length * step
            )
            if loss(then) <= now or length < 1e-6:
                break
            length /= 2
        if float(np.abs(then - found).max()) < CLOSE:
            break
        found = then
    weights: Mapping[str, float] = {
        name: round(float(value), 4) for name, value in zip(names, found, strict=False)
    }
    return LogisticWeights(weights, round(float(found[-1]), 4))


def average_precision(scores: Floats, labels: Floats) -> float:
    """Mean precision at each relevant one, the best score first; nan without any."""
    order = np.argsort(-scores, kind="stable")
    hits = labels[order] > 0.5
    if not hits.any():
        return float("nan")
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())
