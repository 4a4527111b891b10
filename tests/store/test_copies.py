"""Copies and near copies are found by fingerprint, exactly as by comparing all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opilio.store.copies import ContentSeen, NearCopies

MASK = 2**64 - 1
fingerprints = st.integers(-(2**63), 2**63 - 1)


def distance(a: int, b: int) -> int:
    return ((a ^ b) & MASK).bit_count()


def flip(simhash: int, bits: set[int]) -> int:
    flipped = (simhash & MASK) ^ sum(1 << bit for bit in bits)
    return flipped - 2**64 if flipped >> 63 else flipped


@given(
    st.lists(fingerprints, min_size=1),
    st.data(),
    st.sets(st.integers(0, 63), max_size=6),
)
def test_near_copies_are_those_that_comparing_all_pages_finds(
    simhashes: list[int], data: st.DataObject, bits: set[int]
) -> None:
    index = NearCopies()
    for page, simhash in enumerate(simhashes, 1):
        index.add(simhash, page)
    asked = flip(data.draw(st.sampled_from(simhashes)), bits)
    near = [
        (distance(simhash, asked), page)
        for page, simhash in enumerate(simhashes, 1)
        if distance(simhash, asked) <= 3
    ]
    assert index.find(asked) == (min(near)[1] if near else 0)


@given(st.sets(st.integers(0, 63), min_size=1, max_size=64))
def test_only_three_bits_may_differ(bits: set[int]) -> None:
    index = NearCopies()
    index.add(0x0123456789ABCDEF, 7)
    assert index.find(flip(0x0123456789ABCDEF, bits)) == (7 if len(bits) <= 3 else 0)


@given(st.lists(st.tuples(fingerprints, st.integers(1, 2**40))), fingerprints)
def test_the_first_page_of_a_content_is_the_original(
    pages: list[tuple[int, int]], other: int
) -> None:
    seen = ContentSeen()
    first: dict[int, int] = {}
    for fingerprint, page in pages:
        seen.add(fingerprint, page)
        first.setdefault(fingerprint, page)
    assert len(seen) == len(first)
    for fingerprint in [*first, other]:
        assert seen.find(fingerprint) == first.get(fingerprint, 0)
