"""Notes of links become examples, within bounds, and the same after a restart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opilio.strategies.shared.linear_model import Floats
from opilio.strategies.shared.link_examples import Experience, SeenLink
from strategies.learning_pages import link


def by_value(seen: Sequence[SeenLink]) -> Floats:
    return np.array([one.value for one in seen], np.float64)


def expect(experience: Experience, number: int, value: float) -> int:
    one = link(f"http://a.test/{number}")
    found = [SeenLink(b"abcd", value)]
    experience.expect([one], found, by_value(found), by_value)
    return one.fingerprint


def again(experience: Experience) -> Experience:
    copy = Experience(experience.seed, experience.most, experience.most_waiting)
    copy.recall(sorted(Experience.changes(experience)))  # type: ignore[arg-type]
    return copy


def test_a_visited_link_is_an_example():
    experience = Experience(1)
    experience.settle(expect(experience, 1, 0.5), True, 0.9)
    assert experience.examples() == [SeenLink(b"abcd", 0.5, 0, True, 0.9)]
    assert (experience.visits, experience.waiting) == (1, 0)


def test_a_visit_that_nothing_led_to_teaches_nothing():
    experience = Experience(1)
    experience.settle(7, True, 0.9)
    assert experience.examples() == [] and experience.visits == 1


def test_the_better_of_two_places_where_a_link_stands_counts():
    experience = Experience(1)
    for value in (0.5, 0.8, 0.2):
        place = expect(experience, 1, value)
    assert experience.notes[place].value == 0.8
    assert experience.waiting == 1


def test_a_link_that_was_visited_does_not_wait_again():
    experience = Experience(1)
    experience.settle(expect(experience, 1, 0.5), True, 0.9)
    expect(experience, 1, 0.9)
    assert experience.waiting == 0 and len(experience.examples()) == 1


def test_there_are_never_too_many_examples():
    experience = Experience(1, most=10)
    for number in range(100):
        experience.settle(expect(experience, number, 0.5), number % 2 == 0, number)
    assert experience.counts() == (10, 10)
    assert sum(bool(note.features) for note in experience.notes.values()) == 20
    assert max(one.target for one in experience.examples()) == 99


def test_the_worse_half_makes_room():
    experience = Experience(1, most_waiting=10)
    for number in range(10):
        expect(experience, number, number / 10)
    experience.make_room(by_value)
    assert experience.waiting == 5
    assert min(note.value for note in experience.notes.values()) == 0.5


def test_fits_come_at_growing_intervals():
    experience, age, fits = Experience(1), 0, []
    for visit in range(1, 200):
        experience.settle(visit, True, 1.0)
        if experience.due(age):
            age = visit
            fits.append(visit)
    assert fits == [5, 12, 21, 33, 48, 68, 94, 128, 172]


def test_a_restart_changes_nothing():
    experience = Experience(3, most=5)
    for number in range(40):
        place = expect(experience, number, number / 50)
        if number % 3:
            experience.settle(place, number % 2 == 0, number)
    copy = again(experience)
    for one in (experience, copy):
        for number in range(40, 60):
            one.settle(expect(one, number, 0.5), number % 2 == 0, number)
    assert copy.examples() == experience.examples()
    assert (copy.visits, copy.waiting) == (experience.visits, experience.waiting)
