"""How similar pages are to the seeds: the equation, and where it says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.judge.seed_likeness import LIMIT, SeedLikeness, weight_of

RNG = np.random.default_rng(3)


def units(count: int) -> np.ndarray:
    rows = RNG.normal(size=(count, 6)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def test_it_is_the_equation_of_the_docstring() -> None:
    rows = units(40)
    lifts = np.zeros(40, np.float32)
    lifts[0], lifts[7] = 2.0, 0.5
    likeness = SeedLikeness.of_pages(rows, lifts)
    usual = np.delete(rows, [0, 7], axis=0)
    every = np.maximum(usual @ rows[0], 0.25 * (usual @ rows[7]))
    [page] = units(1)
    like = max(page @ rows[0], 0.25 * (page @ rows[7]))
    expected = (like - every.mean()) / every.std()
    assert likeness.of(page) == pytest.approx(
        np.clip(expected, -LIMIT, LIMIT), rel=1e-4
    )


def test_without_seeds_or_other_pages_it_says_nothing() -> None:
    rows = units(5)
    assert SeedLikeness.of_pages(rows, np.zeros(5, np.float32)).of(rows[0]) == 0
    assert SeedLikeness.of_pages(rows, np.ones(5, np.float32)).of(rows[0]) == 0
    lifts = np.array([1, 0, 0, 0, 0], np.float32)
    assert SeedLikeness.of_pages(rows, lifts).of(np.zeros(0, np.float32)) == 0


def test_ordinary_keywords_let_it_count_less() -> None:
    assert [weight_of(x) for x in (0.0, 0.6, 1.6, 3.0)] == pytest.approx([1, 1, 0, 0])
    assert 0 < weight_of(1.2) < 1
