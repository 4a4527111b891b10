"""The linear model finds the least loss, and survives as it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from opilio.strategies.shared.linear_model import LinearModel, Rows


def rows(*dense: list[float]) -> Rows:
    """All numbers of a matrix, zeros too."""
    values = np.array(dense, np.float64)
    columns = np.tile(np.arange(values.shape[1]), len(values))
    starts = np.arange(len(values)) * values.shape[1]
    return Rows(columns, values.ravel(), starts)


def test_one_column_has_the_weight_where_the_gradient_is_zero():
    # Two rows x = 1 with labels 1, λ = 1: -2(1 - σ(w)) + w = 0.
    model = LinearModel(4, penalty=1.0)
    model.fit(rows([1.0], [1.0]), np.array([1.0, 1.0]), 2)
    w = float(model.weights[0])
    assert w == pytest.approx(2 * (1 - 1 / (1 + math.exp(-w))), abs=1e-3)
    assert w == pytest.approx(0.6748, abs=1e-3)


def test_the_gradient_is_zero_at_what_a_fit_finds():
    draw = np.random.default_rng(5)
    x = draw.normal(size=(200, 8))
    y = (x @ draw.normal(size=8) + draw.normal(size=200) > 0).astype(float)
    model = LinearModel(8, penalty=0.5)
    model.fit(rows(*x.tolist()), y, 200)
    w = model.weights.astype(float)
    gradient = x.T @ (1 / (1 + np.exp(-x @ w)) - y) + 0.5 * w
    assert np.linalg.norm(gradient) < 2e-3 * np.linalg.norm(x.T @ (0.5 - y))


def test_columns_that_no_row_has_any_more_are_forgotten():
    model = LinearModel(4)
    model.fit(rows([1.0, 1.0, 1.0]), np.array([1.0]), 1)
    model.fit(rows([1.0, 1.0]), np.array([1.0]), 2)
    assert model.weights[2] == 0 and model.weights[0] > 0


def test_a_dump_predicts_exactly_the_same():
    model = LinearModel(16)
    model.fit(rows([1.0, 0.3], [0.1, 1.0]), np.array([1.0, 0.0]), 2)
    again = LinearModel(16)
    again.load(model.dump())
    ask = rows([0.2, 0.4], [0.5, 0.1])
    assert again.age == 2
    assert again.predict(ask).tolist() == model.predict(ask).tolist()


def test_a_dump_of_all_columns_stays_below_two_megabytes():
    model = LinearModel(2**18)
    model.weights[:] = np.random.default_rng(1).normal(size=2**18)
    assert len(model.dump()) < 2e6


def test_what_can_be_told_apart_entirely_still_has_finite_weights():
    model = LinearModel(2, penalty=1e-3)
    model.fit(rows([1.0, 9.0], [1.0, -9.0]), np.array([1.0, 0.0]), 2)
    assert np.isfinite(model.weights).all()
    assert model.predict(rows([1.0, 9.0]))[0] > 0.9
