"""The structures that choosing stands on, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opilio.frontier import order
from opilio.frontier.known import WIDTH, Known
from opilio.frontier.templates import TemplateCount

prints = st.one_of(st.integers(-8, 8), st.integers(-(2**63), 2**63 - 1))
numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(prints, unique=True, max_size=40), max_size=8), st.data())
def test_known_fingerprints_are_found_and_no_others(
    batches: list[list[int]], data: st.DataObject
) -> None:
    known, model = Known(), {}
    for batch in batches:
        new = [value for value in batch if value not in model]
        ids = np.arange(len(model) + 1, len(model) + 1 + len(new))
        known.put(np.array(new, np.int64), ids)
        model.update(zip(new, ids.tolist(), strict=True))
    asked = data.draw(st.lists(prints)) + list(model)
    ids = known.find(np.array(asked, np.int64)).tolist()
    assert ids == [model.get(value, 0) for value in asked]


def test_known_grows_far_beyond_its_first_size() -> None:
    known, values = Known(), np.arange(-50_000, 50_000) << 20
    for start in range(0, len(values), 999):
        some = values[start : start + 999]
        known.put(some, np.arange(start + 1, start + 1 + len(some)))
    assert (known.find(values) == np.arange(1, len(values) + 1)).all()
    assert not known.find(values + 1).any()
    assert known.count == len(values)


def test_a_full_bucket_goes_over_into_the_next() -> None:
    known = Known()
    buckets = known._buckets(np.arange(10_000))
    crowd = np.flatnonzero(buckets == known._last)[: WIDTH + 5]  # the last, then round
    others = np.flatnonzero(buckets == 0)[:WIDTH]
    values = np.concatenate([crowd, others])
    known.put(values, np.arange(1, len(values) + 1))
    assert (known.find(values) == np.arange(1, len(values) + 1)).all()
    absent = np.flatnonzero(buckets == known._last)[WIDTH + 5 :]
    assert not known.find(absent).any()


@given(st.lists(numbers, min_size=2))
def test_keys_sort_promises_downwards_and_exactly(promises: list[float]) -> None:
    keys = order.keys(promises).tolist()
    assert max(keys) < order.WORST
    for (a, key_a), (b, key_b) in zip(
        zip(promises, keys, strict=True),
        zip(promises[1:], keys[1:], strict=True),
        strict=False,
    ):
        assert (a > b) == (key_a < key_b)
        assert (a == b) == (key_a == key_b)


@given(st.lists(st.lists(prints, max_size=20), max_size=4))
def test_templates_are_counted_in_order_and_never_too_low(
    batches: list[list[int]],
) -> None:
    counts, again, truth = TemplateCount(), TemplateCount(), Counter[int]()
    for batch in batches:
        numbers = counts.count(batch)
        again.add(np.array(batch, np.int64))
        for template, number in zip(batch, numbers, strict=True):
            truth[template] += bool(template)
            assert number == truth[template], "so few do not collide"
    everything = list(truth)
    assert counts.count(everything) == again.count(everything)
