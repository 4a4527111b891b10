"""What visited links teach, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.strategies.shared.chooser.groups import Groups
from opilio.strategies.shared.chooser.lessons import (
    LEAST,
    PARTS,
    Correction,
    LinkWords,
    Taught,
    WordValues,
    direction_of_few,
)
from opilio.strategies.shared.chooser.loops import raw
from opilio.strategies.shared.chooser.plain_rows import LINK_WORDS, WORD_BITS
from opilio.strategies.shared.chooser.waiting import Waiting


def worth(values: WordValues, anchors: np.ndarray, base: float) -> np.ndarray:
    """The feature `words` of links with these anchors."""
    count = len(anchors)
    all_words = np.zeros((count, LINK_WORDS), np.uint16)
    all_words[:, : anchors.shape[1]] = anchors
    waiting = Waiting(0)
    waiting.words[:count] = all_words
    groups = Groups()
    groups.add_page("a.test", 0.5)
    found = np.zeros((count, 9), np.float32)
    nothing = np.zeros((0, 256), np.float32)
    table = LinkWords(values.rare).table
    slots = np.arange(count)
    given = (waiting.columns, groups.columns, base, 0.3, nothing, values.sums, table)
    raw(slots, *given, found)
    return found[:, 3]


def test_the_direction_is_a_ridge_regression():
    taught = Taught(2)
    rows = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    scores = [1.0, 0.0, 0.8, 0.4]
    for row, score in zip(rows, scores, strict=True):
        taught.add(row, score)
    taught.fit()
    centred = rows - rows.mean(axis=0)
    target = centred.T @ (np.array(scores) - np.mean(scores))
    expected = np.linalg.solve(centred.T @ centred + np.eye(2), target)
    assert taught.direction == pytest.approx(expected, abs=1e-6)
    assert taught.direction[0] > 0 > taught.direction[1]


def test_the_direction_of_many_links_is_that_of_few():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(9, 8)).astype(np.float32)
    scores = rng.random(9)
    taught = Taught(8)
    for before, until in ((0, 7), (7, 8), (8, 9)):  # then they are as many as numbers
        for row, score in zip(rows[before:until], scores[before:until], strict=True):
            taught.add(row, score)
        taught.fit()
        found = direction_of_few(rows[:until].astype(np.float64), scores[:until])
        assert taught.direction == pytest.approx(found, abs=1e-6)
        assert taught.count == (until if until >= 8 else 0)


def test_two_links_teach_no_direction():
    taught = Taught(2)
    taught.add(np.array([1, 0], np.float32), 1.0)
    taught.add(np.array([0, 1], np.float32), 0.0)
    taught.fit()
    assert not taught.direction.any()


def test_a_word_is_worth_what_its_pages_are_above_the_mean():
    values = WordValues(np.ones(1 << WORD_BITS, np.float32))
    good, bad = np.array([5, 6], np.uint16), np.array([6, 7], np.uint16)
    even = np.array([255, 255], np.uint8)
    values.add(good, even, 1.0)
    values.add(bad, even, 0.0)
    # Each word has 1/√2 of its page; base ½; the rarest words count 1.05.
    each = 1.05 * 0.5 / 2**0.5
    anchors = np.array(
        [[5, 0, 0], [6, 0, 0], [7, 0, 0], [5, 7, 0], [5, 6, 0], [0, 0, 0]]
    )
    found = worth(values, anchors, 0.5)
    expected = [each, 0, -each, 0, each / 2**0.5, 0]
    assert found == pytest.approx(expected, abs=1e-6)


def test_common_words_are_worth_little():
    rarity = np.ones(1 << WORD_BITS, np.float32)
    rarity[5] = 0.1
    values = WordValues(rarity)
    both = np.array([5, 6], np.uint16)
    values.add(both, np.array([255, 255], np.uint8), 1.0)
    common, rare = worth(values, np.array([[5, 0, 0], [6, 0, 0]]), 0.0)
    assert common / rare == pytest.approx(0.06 / 1.05)


def test_the_correction_is_where_its_gradient_vanishes():
    correction = Correction(2, 20.0)
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 2)).astype(np.float32)
    scores = 1 / (1 + np.exp(-3 * rows[:, 0]))
    for row, score in zip(rows, scores, strict=True):
        correction.add(row, 0.0, float(score))
    correction.fit()
    p = 1 / (1 + np.exp(-rows @ correction.weights))
    gradient = rows.T @ (p - scores) + 20.0 * correction.weights
    assert gradient == pytest.approx([0, 0], abs=1e-6)
    assert 0.2 < correction.weights[0] < 3  # towards 3, as far as the ridge lets it


def test_few_visits_correct_nothing():
    correction = Correction(1, 20.0)
    for _ in range(LEAST - 1):
        correction.add(np.ones(1, np.float32), 0.0, 1.0)
    correction.fit()
    assert correction.weights.tolist() == [0.0]


def test_means_of_hosts_sections_and_pages_are_shrunk():
    groups = Groups()
    page = groups.add_page("a.test", 0.9)
    groups.add_page("b.test", 0.1)
    groups.add_link(7, page, 0.8)
    waiting = Waiting(0)
    waiting.host[:2] = groups.host_numbers(["a.test", "c.test"])
    waiting.section[:2] = [7, 8]
    waiting.page[:2] = page
    waiting.scores[:2] = [0.9, 1.0]
    waiting.parents[:2] = [1, 2]
    found = np.zeros((2, 9), np.float32)
    nothing = np.zeros((0, 256), np.float32)
    sums = np.zeros((1, 2), np.float32)
    given = (waiting.columns, groups.columns, 0.5, groups.square, nothing, sums, sums)
    raw(np.arange(2), *given, found)
    known, new = found[:, 4:8].tolist()
    host = (0.9 + 0.5) / 2  # base ½
    parents = [(0.9 + 0.5) / 2, (1.0 + 0.5) / 3]
    square = (0.9**2 + 0.1**2) / 2
    host_square = (0.9**2 + square) / 2
    section, siblings = (0.8**2 + 0.5 * host_square) / 1.5, (0.8 + 2 * host) / 3
    assert known == pytest.approx([host, parents[0], section, siblings])
    assert new == pytest.approx([0.5, parents[1], square, (0.8 + 2 * 0.5) / 3])


def test_words_of_links_are_a_ridge_regression():
    rng = np.random.default_rng(5)
    rare = np.full(1 << WORD_BITS, 0.25, np.float32)
    lessons = LinkWords(rare)
    words = rng.integers(0, 30, (40, LINK_WORDS)).astype(np.uint16)
    scores = rng.random(40) * (words == 7).any(axis=1)
    for row, score in zip(words, scores, strict=True):
        lessons.add(row, float(score))
    lessons.fit()
    x = np.zeros((40, 30))
    for row, places in zip(x, words, strict=True):
        np.add.at(row, places, 0.5 * PARTS)
    x[:, 0] = 0  # no word
    each = np.where(words > 0, 0.5 * PARTS, 0)
    x /= np.sqrt((each**2).sum(axis=1, keepdims=True))
    w = x.T @ np.linalg.solve(x @ x.T + np.eye(40), scores - scores.mean())
    assert lessons.table[:30, 1] == pytest.approx(0.5 * w, abs=0.01 * np.abs(w).max())
    assert w.argmax() == 7


def test_two_links_teach_no_words():
    lessons = LinkWords(np.ones(1 << WORD_BITS, np.float32))
    for score in (1.0, 0.0):
        lessons.add(np.full(LINK_WORDS, 5, np.uint16), score)
    lessons.fit()
    assert not lessons.table[:, 1].any()
