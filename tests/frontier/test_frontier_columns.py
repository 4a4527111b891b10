"""The structures that choosing stands on, against plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import count

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.frontier import sort_keys
from opilio.frontier.url_templates import Novelty, TemplateCount
from opilio.records import State
from opilio.storage.seen_urls import WIDTH, FingerprintTable, SeenUrls

prints = st.one_of(st.integers(-8, 8), st.integers(-(2**63), 2**63 - 1))
numbers = st.floats(allow_nan=False, allow_infinity=False)


class SmallSteps(SeenUrls):
    """A map that is as careful with few fingerprints as others are with millions."""

    recent, at_once = 8, 32


@settings(deadline=None)
@given(st.lists(st.lists(prints, unique=True, max_size=90), max_size=12), st.data())
def test_known_fingerprints_are_found_and_no_others(
    batches: list[list[int]], data: st.DataObject
) -> None:
    known, model = SmallSteps(), dict[int, int]()
    for batch in batches:
        start = len(model) + 1
        new = dict(zip((v for v in batch if v not in model), count(start)))
        model.update(new)
        if data.draw(st.booleans()):
            known.put(new)
        else:
            values, ids = np.array([*new], np.int64), np.array([*new.values()], int)
            known.load(values, ids)
        asked = data.draw(st.lists(prints)) + list(model)
        assert known.find(asked) == [model.get(value, 0) for value in asked]
    assert known.count == len(model)


def test_known_grows_far_beyond_its_first_size_in_small_steps() -> None:
    known, values = SmallSteps(), [value << 20 for value in range(-50_000, 50_000)]
    emptying = 0
    for start in range(0, len(values), 99):
        known.put(dict(zip(values[start : start + 99], count(start + 1))))
        emptying += known._full is not None
        if start % 9900 == 0:
            assert known.find(values[: start + 1]) == [*range(1, start + 2)]
    assert emptying > 100  # puts while two tables were there
    assert known.find(values) == [*range(1, len(values) + 1)]
    assert not any(known.find([value + 1 for value in values]))
    assert known.count == len(values)


def test_a_full_bucket_goes_over_into_the_next() -> None:
    table = FingerprintTable(4)
    buckets = table._buckets(np.arange(10_000))
    crowd = np.flatnonzero(buckets == table._mask)[: WIDTH + 5]  # the last, then round
    others = np.flatnonzero(buckets == 0)[:WIDTH]
    values = np.concatenate([crowd, others])
    table.insert(values, np.arange(1, len(values) + 1, dtype=np.uint32))
    assert (table.find(values) == np.arange(1, len(values) + 1)).all()
    absent = np.flatnonzero(buckets == table._mask)[WIDTH + 5 :]
    assert not table.find(absent).any()


@given(st.lists(numbers, min_size=2))
def test_keys_sort_promises_downwards_and_exactly(promises: list[float]) -> None:
    keys = sort_keys.keys(promises).tolist()
    assert max(keys) < sort_keys.WORST
    for (a, key_a), (b, key_b) in zip(
        zip(promises, keys, strict=True),
        zip(promises[1:], keys[1:], strict=True),
        strict=False,
    ):
        assert (a > b) == (key_a < key_b)
        assert (a == b) == (key_a == key_b)


@settings(deadline=None)  # it takes 8 MB each time
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


@settings(deadline=None)  # it takes 12 MB each time
@given(
    st.integers(0, 3),
    st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(State)), max_size=60),
)
def test_a_template_is_spent_when_too_few_of_its_pages_are_kept(
    patience: int, visits: list[tuple[int, State]]
) -> None:
    novelty, truth = Novelty(patience), Counter[tuple[int, State]]()
    for template, state in visits:
        novelty.note(template, state, "")
        novelty.note(template, State.COPY, "redirect")
        truth[template, state] += 1
        vain = truth[template, State.COPY] + truth[template, State.IRRELEVANT]
        enough = patience * (1 + truth[template, State.KEPT])
        is_spent = bool(patience and template) and vain >= enough
        assert novelty.is_spent(template) == is_spent


def test_a_site_cannot_use_up_the_counters_of_another_template() -> None:
    victim = 0x1234_5678_9ABC_DEF0
    others = [victim ^ (high << 24) for high in range(1, 3000)]  # all end alike
    novelty, counts = Novelty(2), TemplateCount()
    for template in others:
        for _ in range(3):
            novelty.note(template, State.IRRELEVANT, "")
    counts.add(np.array(others * 3, np.int64))
    assert not novelty.is_spent(victim)
    assert counts.count([victim]) == [1]
