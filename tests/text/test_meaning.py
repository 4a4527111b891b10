"""How similar vectors are to keywords, how rare words are, and shares that add up."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from opilio.equations.probability import share, shares
from opilio.records import Subject
from opilio.text.meaning import (
    KeywordVectors,
    Rarity,
    keyword_vectors,
    unpack_vectors,
)


def test_similarity_is_half_to_the_two_nearest_keywords_and_half_to_all():
    rows = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    keywords = KeywordVectors(rows)
    [found] = keywords.similar(np.array([[0.8, 0.6, 0]], np.float32))
    assert found == pytest.approx(0.5 * 0.7 + 0.5 * 1.4 / 3**0.5)


def test_keywords_without_vectors_or_weight_are_left_out():
    unit = np.array([1, 0], "<f4").tobytes()
    subject = Subject(
        weights={"known": 1.0, "unknown": 1.0, "unwanted": -1.0, "absent": 1.0},
        vectors={"known": unit, "unwanted": unit, "unknown": bytes(8)},
    )
    assert len(keyword_vectors(subject)) == 1


def test_no_keyword_is_similar_to_nothing():
    keywords = keyword_vectors(Subject(vectors={"unknown": bytes(8)}))
    assert keywords.similar(np.ones((3, 2), np.float32)).tolist() == [0, 0, 0]


def test_vectors_are_unpacked():
    assert unpack_vectors(bytes([127, 0, 0, 127]), 2).tolist() == [[1, 0], [0, 1]]


def test_words_say_more_the_rarer_they_are():
    common = np.array([(0, 0.2)], [("place", "<u4"), ("rarity", "<f4")]).tobytes()
    stems = np.array([5, 2**63], np.uint64)
    counts = np.array([1, 3], "<u2").tobytes()
    rarity = Rarity(common)
    for asked in (stems.tobytes(), stems[::-1].tobytes(), stems.tobytes()):
        found = rarity.weights(asked, counts)
        again = rarity.weights(asked, counts)
        assert again is found
        expected = [0.09, (1 + log(3)) * 1.05]
        if asked != stems.tobytes():
            expected = [1.05, (1 + log(3)) * 0.09]
        assert found == pytest.approx(expected)


def test_shares_add_up_to_the_chance():
    rows = [[1.0, -0.5, 0.2], [1.0, -1.0, 0.0], [50.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    usual, found = shares(-1.0, rows)
    chances = [1 / (1 + exp(1 - min(31.0, sum(row)))) for row in rows]
    assert (usual + found.sum(axis=1)).tolist() == pytest.approx(chances)
    assert found[1].tolist() == pytest.approx(
        [usual * (1 - usual), -usual * (1 - usual), 0]
    )
    assert not found[3].any()
    for row, each in zip(rows, found, strict=True):
        one, alone = share(-1.0, row)
        assert one == pytest.approx(usual)
        assert alone == pytest.approx(each.tolist())
