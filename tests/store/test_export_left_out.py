"""What an export leaves out, and why; the harvest counts only what can be exported."""

import pytest

from opilio.store.export_left_out import count_left_out, left_out_in_words
from opilio.store.lookup import opened, summary


@pytest.fixture
def db(crawl):
    crawl.settings.touch()
    with opened(crawl) as db:
        yield db


def test_every_page_is_written_or_left_out_for_a_reason(db):
    assert count_left_out(db) == {"copy": 1, "noindex": 1, "unreadable": 1}
    relevant = count_left_out(db, relevant_only=True)
    assert relevant == {"copy": 1, "irrelevant": 1, "noindex": 1, "unreadable": 1}
    assert count_left_out(db, noindex=True) == {"copy": 1, "unreadable": 1}


def test_the_reasons_are_told_in_words():
    told = left_out_in_words({"copy": 1200, "noindex": 3})
    assert told == (
        "1,203 pages left out: 1,200 copies of other pages, 3 marked noindex"
    )
    assert left_out_in_words({"noindex": 1}).startswith("1 page left out")
    assert left_out_in_words({}) == ""


def test_pages_that_cannot_be_exported_are_no_harvest(db):
    figures = summary(db)
    assert (figures.pages, figures.kept, figures.noindex) == (7, 3, 1)
    assert figures.harvest_rate == figures.harvest_rate_recent == figures.kept / 7
