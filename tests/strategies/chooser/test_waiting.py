"""The columns of waiting links: slots are used again, and memory is bounded."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.strategies.shared.chooser.plain_rows import LINK_WORDS
from opilio.strategies.shared.chooser.visits import Links
from opilio.strategies.shared.chooser.waiting import GONE, NEW, Waiting
from opilio.text.meaning import KeywordVectors
from opilio.vectors import codes

SIZE = 256
NO_KEYWORDS = KeywordVectors(np.zeros((0, SIZE), np.float32))
ALLOWED = 150  # bytes a link


def links(prints: list[int], vector: int = 1) -> Links:
    count = len(prints)
    return Links(
        np.array(prints, np.int64),
        np.zeros(count, np.uint16),
        np.arange(count, dtype=np.uint16),
        np.full((count, 3), 100, np.uint8),
        np.ones((count, LINK_WORDS), np.uint16),
        np.full((count, codes.width(SIZE)), vector, np.uint8),
    )


def take_in(waiting: Waiting, prints: list[int], page: int = 0) -> list[int]:
    hosts = np.zeros(len(prints), np.int32)
    found = waiting.take_in(
        links(prints), waiting.slots(prints), hosts, page, 0.5, NO_KEYWORDS
    )
    return found.tolist()


def test_a_slot_is_used_again():
    waiting = Waiting(SIZE)
    slots = take_in(waiting, [10, 11, 12])
    assert slots == [0, 1, 2]
    assert waiting.leave(11) == 1
    assert waiting.count == 2
    assert take_in(waiting, [20, 21], page=1) == [1, 3]
    assert waiting.all().tolist() == [0, 1, 2, 3]
    assert waiting.slots([10, 11, 20, 99]).tolist() == [0, GONE, 1, NEW]


def test_a_link_that_leaves_before_it_came_does_not_come_later():
    waiting = Waiting(SIZE)
    assert waiting.leave(5) == NEW
    assert take_in(waiting, [5, 6]) == [0]
    assert waiting.slots([5, 6]).tolist() == [GONE, 0]
    assert waiting.leave(5) == NEW


def test_a_page_counts_once_for_a_link_and_four_pages_are_enough():
    waiting = Waiting(SIZE)
    for page in (0, 0, 1, 2, 3, 4, 5):
        take_in(waiting, [10], page)
    assert waiting.parents[0] == 4
    assert waiting.scores[0] == pytest.approx(2.0)


def test_terms_of_several_pages_are_averaged_but_for_the_address():
    waiting = Waiting(SIZE)
    take_in(waiting, [10])
    other = links([10])._replace(terms=np.array([[50, 200, 0]], np.uint8))
    waiting.take_in(
        other, np.zeros(1, np.int64), np.zeros(1, np.int32), 1, 0.5, NO_KEYWORDS
    )
    assert waiting.terms[0].tolist() == [100, 150, 50]


def test_a_waiting_link_takes_few_bytes():
    waiting = Waiting(SIZE)
    count = 60_000
    for start in range(0, count, 1000):
        take_in(waiting, list(range(start, start + 1000)), start)
    assert 110 < waiting.bytes / count < ALLOWED
    assert len(waiting.link) < 1.6 * count


def test_a_crawl_that_visits_as_many_links_as_it_finds_needs_no_more_room():
    waiting = Waiting(SIZE)
    take_in(waiting, list(range(900)))
    for number in range(3000):
        waiting.leave(number)
        take_in(waiting, [900 + number], number + 1)
    assert waiting.count == 900
    assert len(waiting.link) == 1024
