"""Naive Bayes with two classes, as the weights of a linear model.

    weight(t) = ln (n(t, +) + 1)/(N(+) + V) - ln (n(t, -) + 1)/(N(-) + V)
    bias      = ln (D(+) + 1)/(D(-) + 1)
    P(+|d)    = 1 / (1 + exp(-bias - Σ_{t in d} weight(t)))

Symbols: n(t, c) how often t occurs in class c, N(c) words of it, V different words,
D(c) texts. Multinomial naive Bayes (McCallum & Nigam, AAAI-98) with two classes is a
linear model; here are its weights.
"""

from __future__ import annotations

import numpy as np

from opilio.strategies.shared.linear_model import Floats, Integers


def bayes_weights(
    columns: Integers, counts: Floats, positive: Floats, size: int
) -> Floats:
    """The weight of each column, 0 of one that does not occur.

    `counts` has the times that each of `columns` occurs, `positive` 1 where that is in
    the class, else 0; in between, the text belongs to both.
    """
    yes = np.bincount(columns, counts * positive, size)
    no = np.bincount(columns, counts * (1 - positive), size)
    different = np.count_nonzero(yes + no)
    ratio = np.log(yes + 1) - np.log(no + 1)
    ratio += np.log(no.sum() + different) - np.log(yes.sum() + different)
    found: Floats = np.where(yes + no > 0, ratio, 0.0)
    return found


def bias(positive: float, negative: float) -> float:
    """The prior log-odds of the class."""
    return float(np.log(positive + 1) - np.log(negative + 1))
