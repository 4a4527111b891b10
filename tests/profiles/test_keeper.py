"""The counts of a site are those of its pages, however often these change."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.equations.site_model import THW, SiteCounts, main_concepts
from opilio.profiles.keeper import SiteKeeper, is_root, last_modified, read_date
from opilio.profiles.models import load_sites
from opilio.records import Lease, Page, Response, State, Subject, Verdict
from opilio.storage.database import open_database

TERMS = ("bee", "honey", "hive", "queen", "swarm", "pollen", "nectar")
SUBJECT = Subject(weights=dict.fromkeys(TERMS, 1.0), terms=TERMS, language="en")
NOW = 1_700_000_000.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    db = open_crawl(tmp_path / "crawl.db")
    yield db
    db.close()


def open_crawl(path: Path | str) -> sqlite3.Connection:
    """A catalogue with two hosts."""
    db = open_database(Path(path))
    db.execute("INSERT INTO host (id, name, domain) VALUES (1, 'a.test', 'a.test')")
    db.execute("INSERT INTO host (id, name, domain) VALUES (2, 'b.test', 'b.test')")
    return db


def add(
    db: sqlite3.Connection,
    id: int,
    path: str,
    *,
    host: str = "a.test",
    state: str = "kept",
    score: float | None = 0.5,
    copy_of: int | None = None,
    found_on: int = 99,
) -> Lease:
    """A link, with its page if that has a score or is a copy."""
    scheme, _, rest = path.rpartition(":")
    url = f"{scheme or 'http'}://{host}{rest}"
    db.execute(
        "INSERT INTO link (id, url, fingerprint, host, state, promise, found_on) "
        "SELECT ?, ?, ?, id, ?, 1, ? FROM host WHERE name = ?",
        (id, url, id, state, found_on, host),
    )
    if score is not None or copy_of:
        db.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, title, score, "
            "copy_of) VALUES (?, ?, ?, 200, 0, ?, ?, ?)",
            (id, id, NOW, f"Title {id}", score, copy_of),
        )
    return Lease(id, url, id, host, 1.0)


def response(*headers: tuple[str, str]) -> Response:
    return Response("http://a.test/", 200, headers, b"", NOW)


def reading(**terms: int) -> Page:
    return Page("http://a.test/", "", "en", "utf-8", 9, terms, 1.0, 0, ())


def keep(keeper: SiteKeeper, lease: Lease, relevant: bool = True, **terms: int) -> None:
    keeper.keep(lease, response(), reading(**terms), Verdict(0.5, relevant))


visits = st.lists(
    st.tuples(
        st.integers(1, 6),  # page
        st.booleans(),  # relevant
        st.dictionaries(st.sampled_from(TERMS), st.integers(1, 9)),
        st.booleans(),  # commit afterwards
    ),
    max_size=12,
)


@given(visits)
def test_the_counts_are_those_of_the_pages_as_they_are_now(visits):
    """Yang, 4.2: "the number of webpages on website S belonging to domain D"."""
    db = open_crawl(":memory:")
    leases = {id: add(db, id, f"/{id}") for id in range(1, 7)}
    keeper = SiteKeeper(db, SUBJECT)
    pages = {}
    for id, relevant, terms, commits in visits:
        keep(keeper, leases[id], relevant, **terms)
        pages[id] = relevant, terms
        if commits:
            keeper.flush()
    keeper.flush()
    expected = SiteCounts()
    for relevant, terms in pages.values():
        expected.add(relevant, main_concepts(terms, THW))
    found = load_sites(db).profile("a.test")
    db.close()
    assert found.pages == expected.pages
    assert found.in_domain == expected.in_domain
    assert found.concept_pages == dict(expected.concepts)


def test_a_page_that_is_gone_counts_no_longer(db):
    keeper = SiteKeeper(db, SUBJECT)
    lease = add(db, 1, "/")
    keep(keeper, lease, bee=2)
    keep(keeper, add(db, 2, "/b"), hive=1)
    keeper.flush()
    keeper.forget(lease)
    keeper.flush()
    site = load_sites(db).profile("a.test")
    assert (site.pages, site.concept_pages) == (1, {"hive": 1})


def test_nothing_is_durable_before_the_commit(db):
    keeper = SiteKeeper(db, SUBJECT)
    db.execute("BEGIN")
    keep(keeper, add(db, 1, "/"), bee=1)
    keeper.flush()
    db.execute("ROLLBACK")
    assert len(load_sites(db)) == 0
    assert db.execute("SELECT count(*) FROM page_profile").fetchone() == (0,)


def three_pages(db: sqlite3.Connection, keeper: SiteKeeper, found_on: int = 99) -> None:
    for id in (11, 12, 13):
        keep(keeper, add(db, id, f"/{id}", found_on=found_on))
    keeper.flush()


def test_a_site_is_indefinite_while_its_homepage_was_not_collected(db):
    # papers.md C.5-7.
    keeper = SiteKeeper(db, SUBJECT)
    three_pages(db, keeper)
    site = load_sites(db).profile("a.test")
    assert not site.definite
    assert (site.start_url, site.title) == ("http://a.test/", "")
    keep(keeper, add(db, 1, "/"))
    keeper.flush()
    site = load_sites(db).profile("a.test")
    assert site.definite
    assert (site.start_url, site.title) == ("http://a.test/", "Title 1")


def test_a_site_is_indefinite_while_it_has_fewer_than_three_pages(db):
    keeper = SiteKeeper(db, SUBJECT)
    for id, expected in ((1, False), (2, False), (3, True)):
        keep(keeper, add(db, id, "/" if id == 1 else f"/{id}"))
        keeper.flush()
        assert load_sites(db).profile("a.test").definite is expected


def test_a_seed_is_a_homepage(db):
    three_pages(db, SiteKeeper(db, SUBJECT), found_on=0)
    site = load_sites(db).profile("a.test")
    assert site.definite
    assert (site.start_url, site.title) == ("http://a.test/11", "Title 11")


@pytest.mark.parametrize(
    ("state", "copy_of", "start", "title"),
    [
        ("copy", 12, "http://a.test/", "Title 12"),
        ("unusable", None, "http://a.test/11", "Title 11"),
    ],
)
def test_a_root_without_a_page_of_its_own(db, state, copy_of, start, title):
    keeper = SiteKeeper(db, SUBJECT)
    three_pages(db, keeper)
    root = add(db, 1, "/", state=state, score=None, copy_of=copy_of)
    keeper.missed(root, State(state))
    keeper.flush()
    site = load_sites(db).profile("a.test")
    assert (site.definite, site.start_url, site.title) == (True, start, title)


def test_a_root_that_leads_to_a_page_not_yet_visited_is_not_collected(db):
    keeper = SiteKeeper(db, SUBJECT)
    three_pages(db, keeper)
    add(db, 2, "/home", state="waiting", score=None)
    root = add(db, 1, "/", state="copy", score=None, copy_of=2)
    keeper.missed(root, State.COPY)
    keeper.flush()
    site = load_sites(db).profile("a.test")
    assert (site.definite, site.start_url) == (False, "http://a.test/")


def test_roots_that_lead_to_each_other_end_somewhere(db):
    keeper = SiteKeeper(db, SUBJECT)
    three_pages(db, keeper)
    root = add(db, 1, "/", state="copy", score=None, copy_of=2)
    add(db, 2, "https:/", state="copy", score=None, copy_of=1)
    keeper.missed(root, State.COPY)
    keeper.flush()
    assert load_sites(db).profile("a.test").start_url == "http://a.test/11"


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_of_two_roots_the_one_with_a_page_is_the_homepage(db, order):
    keeper = SiteKeeper(db, SUBJECT)
    three_pages(db, keeper)
    roots = {
        1: add(db, 1, "/", state="unusable", score=None),
        2: add(db, 2, "https:/"),
    }
    for id in order:
        if id == 1:
            keeper.missed(roots[1], State.UNUSABLE)
        else:
            keep(keeper, roots[2])
        keeper.flush()
    assert load_sites(db).profile("a.test").start_url == "https://a.test/"


def test_a_host_that_was_never_read_is_like_all_others(db):
    # papers.md C.5-12: R = (0 + α·π)/(0 + α) = π, here (3 + 1)/(3 + 2).
    three_pages(db, SiteKeeper(db, SUBJECT))
    assert "b.test" not in load_sites(db)
    assert load_sites(db).profile("b.test").relation == pytest.approx(4 / 5)
    assert load_sites(db, mode="paper").profile("b.test").relation == 0


def test_what_is_sought_now_is_counted_from_now_on(db):
    keeper = SiteKeeper(db, SUBJECT)
    keep(keeper, add(db, 1, "/"), bee=1, wax=1)
    keeper.follow(Subject(weights={"wax": 1.0}, terms=("wax",)))
    keep(keeper, add(db, 2, "/2"), bee=1, wax=1)
    keeper.flush()
    assert load_sites(db).profile("a.test").concept_pages == {"bee": 1, "wax": 1}


def test_a_root_that_failed_makes_no_site(db):
    keeper = SiteKeeper(db, SUBJECT)
    root = add(db, 1, "/", state="unusable", score=None)
    keeper.missed(root, State.UNUSABLE)
    keeper.flush()
    assert list(load_sites(db)) == []


def test_a_page_seen_to_change_changed_then_unless_it_says_when(db):
    keeper = SiteKeeper(db, SUBJECT)
    lease = add(db, 1, "/")
    keep(keeper, lease)
    keeper.flush()
    assert load_sites(db).profile("a.test").updated is None
    db.execute(
        "INSERT INTO version (page, fetched_at, seen_at, tried_at, status) "
        "VALUES (1, 0, 0, 0, 200)"
    )
    keep(keeper, lease)
    keeper.flush()
    assert load_sites(db).profile("a.test").updated == NOW


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1445412480.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 1445412480.0),
        ("Wed, 21 Oct 2065 07:28:00 GMT", NOW),  # not later than it was fetched
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_server_says_when_a_page_changed(value: str, at: float | None):
    assert last_modified(response(("last-modified", value))) == at


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ [\d:]+ .*"))
def test_no_date_is_too_odd(value: str):
    at = last_modified(response(("last-modified", value)))
    assert at is None or 0 < at <= NOW


@given(
    st.datetimes(datetime(1000, 1, 1), timezones=st.just(UTC)).map(
        lambda date: format_datetime(date, usegmt=True)
    )
    | st.from_regex(r"\A[A-Z][a-z]{2}, \d\d (Jan|Nov|Foo) \d{4} \d\d:\d\d:\d\d GMT\Z")
)
def test_dates_that_are_read_quickly_are_read_as_others_are(text: str):
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        with pytest.raises(ValueError):
            read_date(text)
    else:
        assert read_date(text) == date


@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test:8080/"])
def test_a_root_is_the_first_address_of_a_host(url: str):
    assert is_root(url)
    assert not is_root(url + "b")
    assert not is_root(url + "b/")
    assert not is_root(url + "?b=/")
