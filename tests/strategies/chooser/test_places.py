"""The table of slots finds what was put in and not what was taken out."""

import random

import numpy as np
import pytest

from opilio.strategies.shared.chooser.places import Places
from opilio.strategies.shared.chooser.plain_rows import FREE, MIX, WIDTH


def prints(rng: random.Random, count: int) -> list[int]:
    return [rng.getrandbits(64) - 2**63 for _ in range(count)]


def array(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def test_it_does_what_a_dictionary_does_while_it_grows():
    rng = random.Random(7)
    places, links = Places(), np.zeros(60_000, np.int64)
    known: dict[int, int] = {}
    free, top = [], 0
    for _ in range(700):
        new = prints(rng, 80)
        slots = []
        for each in new:
            slot, top = (free.pop(), top) if free else (top, top + 1)
            slots.append(slot)
            links[slot] = each
            known[each] = slot
        places.insert(array(new), array(slots), links)
        leaving = rng.sample(list(known), rng.randrange(20))
        if rng.random() < 0.5:
            gone = places.remove(array(leaving), links).tolist()
        else:
            gone = [places.remove_one(each, links) for each in leaving]
        assert gone == [known.pop(each) for each in leaving]
        free += gone
        asked = [*rng.sample(list(known), 20), *leaving, *prints(rng, 5)]
        expected = [known.get(each, FREE) for each in asked]
        assert places.find(array(asked), links).tolist() == expected
    assert places.count == len(known) > 45_000
    every = array(list(known))
    assert places.find(every, links).tolist() == list(known.values())


def test_a_site_cannot_choose_links_that_share_a_bucket():
    """By the constant that is usual for such tables, these all would."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    chosen = np.arange(1, 50_001, dtype=np.uint64) * np.uint64(inverse)
    links, places = chosen.view(np.int64), Places()
    places.insert(links, np.arange(len(links)), links)
    passed = places._table._passed
    assert np.count_nonzero(passed) < len(passed) / 4
    assert places.find(links[-3:], links).tolist() == [49_997, 49_998, 49_999]


def test_fingerprints_that_share_a_bucket_are_all_found():
    # The table takes the upper bits of the product; the inverse makes them equal.
    inverse = pow(MIX, -1, 2**64)
    alike = [(7 << 57 | number) * inverse % 2**64 for number in range(3 * WIDTH)]
    links = np.array(alike, np.uint64).view(np.int64)
    places = Places()
    places.insert(links, np.arange(len(links)), links)
    assert places.find(links, links).tolist() == list(range(len(links)))
    assert places.remove(links[:WIDTH], links).tolist() == list(range(WIDTH))
    found = places.find(links, links).tolist()
    assert found == [FREE] * WIDTH + list(range(WIDTH, len(links)))


def test_very_many_at_once_are_fine():
    links = array(prints(random.Random(3), 100_000))
    places = Places()
    places.insert(links, np.arange(len(links)), links)
    assert places.find(links, links).tolist() == list(range(len(links)))


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_is_found_in_an_empty_table(count: int):
    none = array([5] * count)
    assert Places().remove_one(5, array([0])) == FREE
    assert Places().find(none, array([0])).tolist() == [FREE] * count
