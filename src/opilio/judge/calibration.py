"""Raw values of a model in; scores that mean the same for every topic out.

A scale is set by two things that every crawl has: pages that are surely not about the
topic, whose median is 0 on it, and the surest ones, whose mean is 1. From `CUT` on a
page is rather relevant than not; that height becomes the score ½.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SUREST = 20  # pages whose mean is 1
CUT = 0.5
STEEPNESS = 8.0
KEYWORD_CUT = 0.06  # the threshold of the cosine judge
TRUST = 5  # pages that make a model count as much as the keywords

Values = npt.NDArray[np.float32]


class Scale(NamedTuple):
    """What 0 and 1 are."""

    low: float
    high: float

    def of(self, value: float) -> float:
        """Where a value is on the scale."""
        return (value - self.low) / max(self.high - self.low, 1e-9)


def top(values: Sequence[float] | Values) -> float:
    """The mean of the largest values; 0 if there are none."""
    largest = np.sort(np.asarray(values, np.float64))[-SUREST:]
    return float(largest.mean()) if len(largest) else 0.0


def scale(background: Values, surest: Values) -> Scale:
    """The scale of a model, by the values that it gives to pages."""
    return Scale(float(np.median(background)), top(surest))


def score_of_height(height: float, cut: float = CUT) -> float:
    """σ(height) = 1 / (1 + e^(−STEEPNESS·(height − cut)))."""
    return 1 / (1 + exp(-STEEPNESS * min(max(height - cut, -4.0), 4.0)))


def score_of_keywords(keywords: float) -> float:
    """k/(k + k₀): ½ at the threshold of the cosine judge."""
    return keywords / (keywords + KEYWORD_CUT)


def trust(evidence: float) -> float:
    """How much a model counts that was learnt from so many pages."""
    return evidence / (evidence + TRUST)
