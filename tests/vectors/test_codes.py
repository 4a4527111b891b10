"""Short codes for vectors."""

import numpy as np
import pytest

from opilio.vectors import codes, plain_codes

try:
    from opilio.vectors import _codes
except ImportError:
    _codes = None


def units(count, size=256, seed=1):
    """Random unit vectors."""
    rows = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(params=["compiled", "plain"])
def coding(request):
    """Either implementation."""
    if request.param == "plain":
        return plain_codes
    if _codes is None:
        pytest.skip("it is not compiled")
    return _codes


@pytest.mark.parametrize("size", [80, 192, 256, 320])
def test_a_code_has_a_byte_for_four_dimensions_and_keeps_the_direction(coding, size):
    vectors = units(300, size)
    coded = coding.encode(vectors)
    assert coded.shape == (300, size // 4) == (300, codes.width(size))
    again = coding.decode(coded, size)
    # Normal numbers lose .102 of their squares.
    lost = ((again - vectors) ** 2).sum(axis=1).mean()
    assert 0.09 < lost < 0.11
    lengths = np.linalg.norm(again, axis=1)
    assert (again * vectors).sum(axis=1).mean() / lengths.mean() > 0.94


def test_dots_are_those_of_decoded_vectors(coding):
    vectors = units(200)
    coded = codes.encode(vectors)
    direction = units(1, seed=2)[0]
    chosen = np.array([7, 7, 199, 0])
    found = coding.dots(coded, chosen, codes.tables(direction))
    expected = codes.decode(coded, 256)[chosen] @ direction
    assert found == pytest.approx(expected, abs=1e-6)


def test_dots_follow_those_of_the_vectors_themselves():
    vectors, direction = units(2000), units(1, seed=2)[0]
    coded = codes.encode(vectors)
    found = codes.dots(coded, np.arange(2000), codes.tables(direction))
    assert np.corrcoef(found, vectors @ direction)[0, 1] > 0.94


def test_zeros_are_encoded_and_decoded_as_zeros(coding):
    coded = coding.encode(np.zeros((2, 64), np.float32))
    assert not coded.any()
    assert not coding.decode(coded, 64).any()
    assert coding.dots(coded, np.arange(2), codes.tables(units(1, 64)[0])).sum() == 0


@pytest.mark.parametrize("size", [1, 6, 255])
def test_any_number_of_dimensions_can_be_encoded(coding, size):
    vectors = units(50, size)
    coded = coding.encode(vectors)
    again = coding.decode(coded, size)
    assert again.shape == vectors.shape
    assert (again * vectors).sum(axis=1).min() > 0
    direction = units(1, size, seed=3)[0]
    found = coding.dots(coded, np.arange(50), codes.tables(direction))
    assert found == pytest.approx(again @ direction, abs=1e-6)


def test_vectors_are_mixed_by_their_shares(coding):
    one, other = units(100), units(100, seed=2)
    mine, given = codes.encode(one), codes.encode(other)
    share = np.full(100, 0.3, np.float32)
    coding.mix(mine, np.arange(100), given, np.arange(100)[::-1].copy(), share, 256)
    expected = 0.7 * one + 0.3 * other[::-1]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    again = codes.decode(mine, 256)
    near = (again * expected).sum(axis=1) / np.linalg.norm(again, axis=1)
    assert near.mean() > 0.88


def test_a_vector_that_is_mixed_with_none_stays(coding):
    known = codes.encode(units(1))
    mine = np.concatenate((known, np.zeros_like(known)))
    given = np.concatenate((np.zeros_like(known), known))
    share = np.full(2, 0.5, np.float32)
    coding.mix(mine, np.arange(2), given, np.arange(2), share, 256)
    assert (mine == known).all()


@pytest.mark.skipif(_codes is None, reason="it is not compiled")
@pytest.mark.parametrize("size", [6, 256, 300])
def test_compiled_and_plain_codes_are_the_same(size):
    vectors = units(500, size)
    one, other = _codes.encode(vectors), plain_codes.encode(vectors)
    assert (one == other).mean() > 0.999  # a tie may be decided by rounding
    assert np.array_equal(_codes.decode(one, size), plain_codes.decode(one, size))
    slots, rows = np.arange(250), np.arange(250, 500)
    share = np.random.default_rng(4).random(250).astype(np.float32)
    mixed = [one.copy(), one.copy()]
    for coding, target in zip((_codes, plain_codes), mixed, strict=True):
        coding.mix(target, slots, one, rows, share, size)
    assert (mixed[0] == mixed[1]).mean() > 0.999
    assert np.array_equal(mixed[0][250:], one[250:])


@pytest.mark.skipif(_codes is None, reason="it is not compiled")
def test_what_does_not_fit_is_refused():
    coded = codes.encode(units(3, 64))
    tables = codes.tables(units(1, 64)[0])
    with pytest.raises(IndexError):
        _codes.dots(coded, np.array([3]), tables)
    with pytest.raises(ValueError, match="256 numbers"):
        _codes.dots(coded, np.array([0]), tables[:8])
    with pytest.raises(ValueError, match="at most 4096"):
        _codes.encode(np.zeros((1, 4100), np.float32))
    with pytest.raises(ValueError, match="this size"):
        _codes.decode(coded, 80)
