"""The loops over words of a page do the same compiled and in numpy."""

import numpy as np
import pytest

from opilio.text import page_words, plain_page_words
from opilio.text.meaning import LOGS

compiled = pytest.importorskip("opilio.text._page_words", reason="nothing is compiled")
BOTH = (plain_page_words, compiled)


@pytest.fixture
def words():
    """Stems of a page, and their weights."""
    rng = np.random.default_rng(4)
    stems = np.sort(rng.integers(0, 2**64, 300, np.uint64))
    return stems, rng.random(300).astype(np.float32)


def test_what_is_compiled_is_used():
    assert compiled.EDITION == page_words.EDITION
    assert page_words.word_weights is compiled.word_weights


def test_words_are_weighed_by_count_and_rarity(words):
    stems, _ = words
    counts = np.random.default_rng(5).integers(1, 60_000, 300).astype(np.uint16)
    rarity = np.random.default_rng(6).random(256).astype(np.float32)
    plain, fast = [each.word_weights(stems, counts, rarity, LOGS, 8) for each in BOTH]
    assert plain == pytest.approx(fast, rel=1e-6)
    place = int(stems[7]) >> 56
    expected = (1 + np.log(counts[7])) * (0.05 + rarity[place] ** 2)
    assert fast[7] == pytest.approx(expected, rel=1e-5)


def test_words_are_hashed_with_signs(words):
    plain, fast = [each.signed_places(*words, 4096, 2048) for each in BOTH]
    assert np.array_equal(plain[0], fast[0])
    assert np.abs(plain[1] - fast[1]).max() <= 1
    assert np.linalg.norm(fast[1].astype(float)) == pytest.approx(2048, rel=0.01)
    assert 100 < np.count_nonzero(fast[1] > 0) < 200
    zeros = np.zeros(300, np.float32)
    assert not any(each.signed_places(words[0], zeros, 8, 9)[1].any() for each in BOTH)


def test_weights_are_shares_of_the_greatest(words):
    plain, fast = [each.shares_of_words(*words, 16) for each in BOTH]
    assert np.array_equal(plain[0], fast[0])
    assert np.abs(plain[1].astype(int) - fast[1]).max() <= 1
    assert fast[1][words[1].argmax()] == 255
    assert fast[0].tolist() == [int(stem) >> 48 for stem in words[0]]


def test_a_page_without_words_has_no_weights():
    none, nothing = np.zeros(0, np.uint64), np.zeros(0, np.float32)
    for each in BOTH:
        counts, rarity = np.zeros(0, np.uint16), np.zeros(2, np.float32)
        assert not len(each.word_weights(none, counts, rarity, LOGS, 1))
        assert [len(one) for one in each.signed_places(none, nothing, 8, 9)] == [0, 0]
        assert [len(one) for one in each.shares_of_words(none, nothing, 16)] == [0, 0]


def test_what_does_not_fit_is_refused(words):
    stems, weights = words
    with pytest.raises(ValueError, match="every stem"):
        compiled.signed_places(stems, weights[1:], 8, 9)
    with pytest.raises(ValueError, match="every stem"):
        compiled.shares_of_words(stems, weights[1:], 16)
    with pytest.raises(ValueError, match="places"):
        counts = np.ones(300, np.uint16)
        compiled.word_weights(stems, counts, weights, LOGS, 8)
