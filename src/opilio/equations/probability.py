"""Turns a sum of evidence into a probability, and explains it by shares that add up."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
F = TypeVar("F", np.float32, np.float64)

FLAT = 30.0  # logits beyond this are as good as certain
SMALL = 1e-6  # what is less than that has no direction


def logistic(logits: npt.NDArray[F]) -> npt.NDArray[F]:
    """1 / (1 + exp(-x)) of each number."""
    found = np.exp(-np.clip(logits, -FLAT, FLAT))
    found += 1
    return np.reciprocal(found)


def shares(bias: float, added: npt.ArrayLike) -> tuple[float, Floats]:
    """What each piece of evidence adds to a probability.

    `added` has a row for each probability σ(bias + Σ row). The answer is σ(bias), what
    there would be without evidence, and the way from there to the probability, divided
    in proportion to the numbers of the row:

    >>> usual, [each] = shares(0.0, [[1.0, 0.5]])
    >>> round(usual, 3), each.round(3).tolist(), round(usual + each.sum(), 3)
    (0.5, [0.212, 0.106], 0.818)
    """
    rows = np.asarray(added, np.float64)
    totals = rows.sum(axis=1)
    usual = float(logistic(np.array(bias)))
    small = np.abs(totals) < SMALL  # there the curve is as steep as in the middle
    slopes = (logistic(bias + totals) - usual) / np.where(small, 1.0, totals)
    slopes[small] = usual * (1 - usual)
    found: Floats = rows * slopes[:, None]
    return usual, found


def share(bias: float, added: Sequence[float]) -> tuple[float, list[float]]:
    """The same for one probability, in a tenth of the time."""
    total = sum(added)
    usual = 1 / (1 + exp(-bias))
    if abs(total) < SMALL:
        slope = usual * (1 - usual)
    else:
        logit = max(-FLAT, min(FLAT, bias + total))
        slope = (1 / (1 + exp(-logit)) - usual) / total
    return usual, [slope * each for each in added]
