"""Logistic regression on sparse rows, for strategies that learn from links.

    p(x) = 1 / (1 + exp(-w·x)),    w = argmin Σᵢ loss(yᵢ, p(xᵢ)) + λ/2·|w|²

It is fitted by Newton's method, each step by conjugate gradients (Lin, Weng & Keerthi,
JMLR 9, 2008), starting from the last fit. It is deterministic: the same rows in the
same order give the same weights.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STEPS = 15  # of Newton's method
INNER = 25  # of conjugate gradients, a step
CLOSE = 1e-3  # the gradient against what it was without a model, when to stop
FLAT = 30.0  # beyond it the logistic function is 0 or 1


class Rows(NamedTuple):
    """A sparse matrix, row after row; none is empty."""

    columns: Integers
    values: Floats
    starts: Integers  # of each row in both

    def dot(self, weights: Floats) -> Floats:
        """X·w"""
        products: Floats = np.add.reduceat(
            self.values * weights[self.columns], self.starts
        )
        return products

    def back(self, numbers: Floats, size: int) -> Floats:
        """Xᵀ·r, for a matrix of so many columns."""
        lengths = np.diff(self.starts, append=len(self.columns))
        spread = self.values * np.repeat(numbers, lengths)
        return np.bincount(self.columns, spread, size).astype(np.float64, copy=False)


class LinearModel:
    """A logistic regression with `size` columns."""

    def __init__(self, size: int, penalty: float = 1.0) -> None:
        self.weights = np.zeros(size, np.float32)  # exactly what is dumped
        self.penalty = penalty  # λ
        self.age = 0  # visits that the last fit knew of; 0: there was none

    def predict(self, rows: Rows) -> Floats:
        """p(x) of each row."""
        if not len(rows.starts):
            return np.zeros(0)
        # Only these weights, so that a few rows do not cost the whole table.
        near = self.weights[rows.columns].astype(np.float64)
        return logistic(np.add.reduceat(rows.values * near, rows.starts))

    def fit(self, rows: Rows, labels: Floats, age: int) -> None:
        """Learn from rows with labels in [0, 1]; unused columns get weight 0."""
        used, local = np.unique(rows.columns, return_inverse=True)
        inner = rows._replace(columns=local)
        found = minimise(inner, labels, self.weights[used].astype(float), self.penalty)
        weights = np.zeros(len(self.weights))
        weights[used] = found
        self.set(weights, age)

    def set(self, weights: Floats, age: int) -> None:
        """Set the weights."""
        self.weights = weights.astype(np.float32)
        self.age = age

    def dump(self) -> bytes:
        """The weights, compressed."""
        file = io.BytesIO()
        np.savez_compressed(file, weights=self.weights, age=self.age)
        return file.getvalue()

    def load(self, learnt: bytes) -> None:
        """Restore the weights of a dump."""
        with np.load(io.BytesIO(learnt), allow_pickle=False) as found:
            self.weights = found["weights"]
            self.age = int(found["age"])


def minimise(rows: Rows, labels: Floats, start: Floats, penalty: float) -> Floats:
    """The weights with the least loss, looked for from `start`."""
    size = len(start)
    weights = start

    def loss(weights: Floats) -> float:
        z = rows.dot(weights)
        lost = np.logaddexp(0.0, z) - labels * z
        return float(lost.sum() + penalty / 2 * weights @ weights)

    enough = CLOSE * float(np.linalg.norm(rows.back(0.5 - labels, size)))
    now = loss(weights)
    for _ in range(STEPS):
        p = logistic(rows.dot(weights))
        gradient = rows.back(p - labels, size) + penalty * weights
        if float(np.linalg.norm(gradient)) <= enough:
            break
        curve = p * (1 - p)

        def bend(along: Floats, curve: Floats = curve) -> Floats:
            return rows.back(curve * rows.dot(along), size) + penalty * along

        step = solve(bend, -gradient)
        while (then := loss(weights + step)) > now:
            step /= 2
            if float(np.abs(step).max()) < 1e-6:
                return weights
        weights, now = weights + step, then
    return weights


def solve(bend: Callable[[Floats], Floats], target: Floats) -> Floats:
    """An approximate x with A·x = target, by conjugate gradients."""
    x = np.zeros_like(target)
    rest = target.copy()
    along = rest.copy()
    square = float(rest @ rest)
    enough = 0.01 * square
    for _ in range(INNER):
        if square <= enough or square == 0:
            break
        bent = bend(along)
        far = square / float(along @ bent)
        x += far * along
        rest -= far * bent
        square, before = float(rest @ rest), square
        along = rest + square / before * along
    return x


def logistic(z: Floats) -> Floats:
    """1 / (1 + exp(-z))"""
    found: Floats = 1 / (1 + np.exp(-np.clip(z, -FLAT, FLAT)))
    return found
