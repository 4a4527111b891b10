"""Which pages are asked for again: what is believed of them, and what a visit gains."""

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.equations.site_model import REFRESH_WEIGHTS, WebType
from opilio.records import Response, State
from opilio.sites.refresh import (
    DAY,
    RATES,
    History,
    choose_pages,
    gains,
    load_history,
    rates,
)
from opilio.sites.revisit import difference, validators
from opilio.storage.database import open_database
from opilio.store.versions import Versions, versions_of

COM, ORG, EDU, GOV = (
    REFRESH_WEIGHTS[kind]
    for kind in (WebType.COM, WebType.ORG, WebType.EDU, WebType.GOV)
)
SOME = 1e9  # a moment


def history(
    *,
    weight=(1.0,),
    relation=(1.0,),
    kind=(EDU,),
    age=(10.0,),
    same=(0.0,),
    changes=(),
    ready=None,
) -> History:
    """Pages 1, 2, …; `changes` are (row, days since the visit before)."""
    n = max(map(len, (weight, relation, kind, age, same)))

    def column(values):
        return np.array(list(values) * n if len(values) == 1 else values, float)

    return History(
        np.arange(1, n + 1),
        column(weight),
        column(relation),
        column(kind),
        SOME - column(age) * DAY,
        column(ready or (-np.inf,)),
        column(same),
        np.array([row for row, _ in changes], np.int64),
        np.array([days for _, days in changes], float),
    )


def test_equation_7_as_papers_md_works_it_out():
    """C.4-5: edu with R = 0.5 gives 0.04, com with R = 1 gives 0.62."""
    pages = history(kind=(GOV, EDU, ORG, COM), relation=(1.0, 0.5, 1.0, 1.0))
    chosen = choose_pages(pages, SOME, 4, "paper")
    assert [page for page, _ in chosen] == [4, 3, 1, 2]
    assert dict(chosen)[2] == pytest.approx(0.04)
    assert dict(chosen)[4] == pytest.approx(0.62)


def test_paper_takes_what_was_seen_longest_ago_where_scores_are_equal():
    pages = history(age=(1.0, 3.0, 2.0), relation=(0.5, 0.5, 0.5))
    assert [page for page, _ in choose_pages(pages, SOME, 2, "paper")] == [2, 3]


def test_a_site_outside_the_domain_is_not_refreshed_in_paper_mode():
    assert choose_pages(history(relation=(0.0,)), SOME, 5, "paper") == []


def test_until_a_page_was_visited_again_its_type_is_believed():
    """Table 2 as the share of pages that change in a day."""
    _, chance = gains(history(kind=(COM, ORG, EDU, GOV), age=(1.0,)), SOME)
    assert chance == pytest.approx([0.62, 0.32, 0.08, 0.07], rel=1e-3)


def test_what_is_seen_outweighs_the_type_and_agrees_with_cho_and_garcia_molina():
    """Σ_changed t/(e^(λt) - 1) = Σ_same t: 632 days of 1,000 give λ = 1."""
    changes = [(0, 1.0)] * 632
    pages = history(kind=(GOV,), same=(368.0,), changes=changes)
    [rate] = rates(pages)
    assert rate == pytest.approx(1.0, rel=0.15)  # as fine as RATES are
    left = sum(days / math.expm1(rate * days) for _, days in changes)
    assert left == pytest.approx(368.0, rel=0.2)


def test_unequal_intervals_are_each_worth_what_they_tell():
    """A change within an hour says more than one within a month."""
    soon = history(changes=[(0, 1 / 24)] * 3)
    late = history(changes=[(0, 30.0)] * 3)
    assert rates(soon)[0] > 10 * rates(late)[0]


def test_a_page_that_is_found_unchanged_is_asked_for_ever_more_rarely():
    never = history(same=(0.0, 30.0, 300.0))
    slower = rates(never)
    assert slower[0] > slower[1] > slower[2]
    gain, chance = gains(never, SOME)
    assert gain[0] > gain[1] > gain[2]
    assert chance[0] > chance[1] > chance[2]


def test_pages_that_change_too_fast_get_less_than_those_that_can_be_followed():
    """Neither proportional nor uniform: at most 1/λ is to be gained."""
    hourly = [(0, 0.05)] * 60
    weekly = [(1, 7.0)] * 10
    quiet = 3 * 365.0
    pages = history(same=(0.05, 40.0, quiet), age=(7.0,), changes=hourly + weekly)
    gain, _ = gains(pages, SOME)
    assert gain[1] > gain[0] > 0
    assert gain[1] > gain[2]
    assert [page for page, _ in choose_pages(pages, SOME, 1)] == [2]


def test_relevance_decides_between_pages_that_change_alike():
    pages = history(weight=(0.2, 0.9, 0.0))
    assert [page for page, _ in choose_pages(pages, SOME, 3)] == [2, 1]


def test_a_page_that_has_hardly_had_time_to_change_is_left_in_peace():
    minutes = 10 / 24 / 60
    assert choose_pages(history(age=(minutes,), kind=(EDU,)), SOME, 1) == []
    assert (
        choose_pages(history(age=(-5.0,)), SOME, 1) == []
    )  # a clock that was put back


def test_what_failed_waits():
    pages = history(ready=(SOME + 1, SOME - 1), age=(10.0, 10.0))
    assert [page for page, _ in choose_pages(pages, SOME, 2)] == [2]


@given(
    age=st.lists(st.floats(0, 5000), min_size=1, max_size=6),
    same=st.floats(0, 5000),
    changes=st.lists(st.floats(-1, 5000), max_size=6),
    share=st.floats(0.01, 0.99),
)
def test_gains_are_finite_and_never_more_than_the_time_that_passed(
    age, same, changes, share
):
    pages = history(
        age=age, same=(same,), kind=(share,), changes=[(0, t) for t in changes]
    )
    gain, chance = gains(pages, SOME)
    assert np.isfinite(gain).all() and (gain >= 0).all()
    assert (gain <= np.array(age) + 1e-6).all()
    assert ((chance >= -1e-9) & (chance <= 1)).all()
    assert (rates(pages) <= RATES[-1]).all()


# What was seen, in crawl.db


@pytest.fixture
def db(tmp_path: Path):
    made = open_database(tmp_path / "crawl.db")
    made.execute("INSERT INTO host (id, name, domain) VALUES (1, 'a.com', 'a.com')")
    for id in (1, 2):
        made.execute(
            "INSERT INTO link VALUES "
            f"({id}, 'http://a.com/{id}', {id}, 1, 0, 'kept', NULL, "
            "1, 0, 0, 0, 1, 0, NULL, NULL)"
        )
        made.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, score, relevant, "
            f"content, warc, warc_offset, warc_length) VALUES ({id}, {id}, 0, 200, 9, "
            "0.5, 1, 7, 'x', 0, 9)"
        )
    yield made
    made.close()


def seen_again(db: sqlite3.Connection, page: int, day: float) -> None:
    """The page says something else."""
    Versions(db).begin(page)
    db.execute("UPDATE page SET fetched_at = ? WHERE id = ?", (day * DAY, page))
    Versions(db).changed(page, {"title": ["a", "b"]})


def test_the_history_of_a_page_is_in_its_versions(db):
    versions = Versions(db)
    versions.same(1, 2 * DAY)
    versions.same(1, 5 * DAY)
    seen_again(db, 1, 9.0)
    versions.same(1, 10 * DAY)
    found = load_history(db, lambda host: 0.25)
    assert found.page.tolist() == [1, 2]
    assert found.same.tolist() == [6.0, 0.0]  # 5 days as it was, then 1
    assert (found.changed.tolist(), found.after.tolist()) == ([0], [4.0])
    assert found.seen.tolist() == [10 * DAY, 0.0]
    assert found.type_weight.tolist() == [0.62, 0.62]
    assert found.relation.tolist() == [0.25, 0.25]
    assert [one["visits"] for one in versions_of(db, 1)] == [3, 2]


def test_failures_double_the_wait_until_a_page_is_asked_for_again(db):
    versions = Versions(db)
    waits = []
    for _ in range(8):
        versions.failed(1, 100 * DAY, "timeout")
        waits.append(load_history(db, lambda host: 1.0).ready[0] / DAY - 100)
    assert waits == [1, 2, 4, 8, 16, 32, 32, 32]
    versions.same(1, 101 * DAY)
    assert load_history(db, lambda host: 1.0).ready[0] == -np.inf


def test_a_page_that_is_gone_stays_a_candidate(db):
    versions = Versions(db)
    versions.failed(1, DAY, "http_410")
    versions.end(1, State.UNUSABLE, "gone")
    assert load_history(db, lambda host: 1.0).page.tolist() == [1, 2]
    assert not versions.last(1).is_there
    versions.same(1, 2 * DAY)
    assert versions.last(1).is_there


# What a server is told of the copy that we have


def response(*headers: tuple[str, str]) -> Response:
    return Response("http://a.com/", 200, headers, b"", 1_780_000_000.0)


def test_a_tag_and_a_date_are_given_back():
    told = ("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT")
    assert validators(response(("etag", 'W/"x"'), told)) == (
        ("if-none-match", 'W/"x"'),
        ("if-modified-since", told[1]),
    )


@pytest.mark.parametrize(
    "header",
    [
        ("etag", '"' + "x" * 5000 + '"'),
        ("etag", '"\x07"'),
        ("etag", '"ü"'),
        ("etag", ""),
        ("last-modified", "yesterday"),
        ("last-modified", "-1"),
        ("last-modified", "Thu, 99 Foo 2026 99:00:00 GMT"),
        ("last-modified", "Fri, 01 Jan 2100 00:00:00 GMT"),  # in the future
    ],
)
def test_what_makes_no_sense_is_not_given_back(header):
    assert validators(response(header)) == ()


def test_the_distance_of_two_texts_is_counted_in_all_64_bits():
    from types import SimpleNamespace as Made

    seen = Made(title="a", simhash=-1, relevant=True, score=0.5, noindex=False)
    page = Made(title="a", simhash=1, noindex=False)
    change = difference(seen, page, Made(relevant=True, score=0.5))
    assert change == {"text": 63}
