"""Which links a query is followed by: Yang's section 4.2, and what we made of it."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.equations.site_model import Source, ul_score
from opilio.equations.thesaurus import BROADER, KIND, SYNONYM
from opilio.records import ConceptWords, Subject
from opilio.search.query import parse_query
from opilio.sites.link_interest import Interest
from opilio.sites.query_expansion import AnchorScore, expand_query
from opilio.storage.database import open_database

CPU = {  # Yang, figure 1: a CPU is hardware, and has kinds
    "CPU": ConceptWords(
        ("cpu", "central process unit"),
        {"Hardware": 1, "Celeron": 1, "Motherboard": 1, "Software": 2},
        {"Celeron": 0.5, "Motherboard": 0.2},
        kinds=("Celeron",),
        broader=("Hardware",),
    ),
    "Hardware": ConceptWords(("hardwar",)),
    "Celeron": ConceptWords(("celeron",)),
    "Motherboard": ConceptWords(("motherboard",)),
    "Software": ConceptWords(("softwar",)),
}


def subject(weights=(), concepts=None, dictionaries=None) -> Subject:
    return Subject(
        weights=dict.fromkeys(weights, 1.0),
        terms=tuple(weights),
        language="en",
        named_concepts=concepts or {},
        dictionaries=dictionaries or {},
    )


def count(query: str, anchor: str, **told) -> float:
    """AnE_Score(U,Q) to the letter."""
    terms = expand_query(parse_query(query), subject(**told), "paper")
    return AnchorScore(terms, "en", "paper")(anchor)


def test_a_query_gets_synonyms_then_kinds_then_what_is_broader():
    """Section 4.2: "adds synonyms of terms contained in the user query into the same
    query"; "The most used relationships follow the inheritance structure." (C9)"""
    terms = expand_query(parse_query("a cheap CPU"), subject(concepts=CPU))
    assert terms == {
        ("cpu",): 1.0,
        ("cheap",): 1.0,
        ("central", "process", "unit"): SYNONYM,
        ("celeron",): KIND,
        ("hardwar",): BROADER,
    }


def test_without_an_ontology_longer_terms_of_the_weight_table_join():
    told = subject(["star cluster", "star", "planet", "open cluster"])
    assert expand_query(parse_query("the stars"), told) == {
        ("star",): 1.0,
        ("star", "cluster"): KIND,
    }
    assert set(expand_query(parse_query("the"), told)) == {("the",)}


def test_words_of_a_dictionary_are_synonyms_of_what_they_mean():
    told = subject(dictionaries={"hi": {"शहद": ("honey",), "घर": ("house",)}})
    assert expand_query(parse_query("honey"), told) == {("honey",): 1.0, ("शहद",): 0.9}


def test_figure_5_counts_the_terms_of_an_anchor_that_are_the_querys():
    """Fig. 5: "For each Term T in AnTerm(U)
    If UserTerms(Q) contains T
    AnE_Score = AnE_Score + 1", from 0 (C.5-2)."""
    assert count("cpu memory", "Memory for your CPU", concepts=CPU) == 2
    assert count("cpu", "Central processing units and a cpu", concepts=CPU) == 2
    assert count("memory", "About us", concepts=CPU) == 0
    assert count("memory", "", concepts=CPU) == 0


def wanted(db: sqlite3.Connection, query: str, relation=0.5, mode="paper") -> dict:
    """URL_List of figure 5: URL -> ULScore."""
    terms = expand_query(parse_query(query), subject(), mode)
    interest = Interest(
        AnchorScore(terms, "en", mode),
        lambda host: relation,
        beside=0.0 if mode == "paper" else 0.1,
    )
    urls = dict(db.execute("SELECT id, url FROM link"))
    values: dict[str, float] = {}
    for link in interest.url_list(db):  # a link may be wanted for several reasons
        values[urls[link.id]] = max(link.value, values.get(urls[link.id], 0.0))
    return values


@pytest.fixture
def db(tmp_path: Path):
    """A page with four links, of which three wait."""
    made = open_database(tmp_path / "crawl.db")
    made.execute("INSERT INTO host (id, name, domain) VALUES (1, 'a.test', 'a.test')")
    for id, url, state, anchor in (
        (1, "/", "kept", None),
        (2, "/cheap-memory", "waiting", "cheap memory"),
        (3, "/memory", "waiting", "memory"),
        (4, "/imprint", "waiting", "imprint"),
        (5, "/had", "kept", "cheap memory"),
    ):
        made.execute(
            "INSERT INTO link (id, url, fingerprint, host, state, promise, found_on, "
            "anchor) VALUES (?, ?, ?, 1, ?, 0, ?, ?)",
            (id, url, id, state, int(id > 1), anchor),
        )
    made.execute(
        "INSERT INTO page (id, number, fetched_at, status, bytes, title, score) "
        "VALUES (1, 1, 0, 200, 0, 'Memory', 0.5)"
    )
    made.executemany("INSERT INTO edge VALUES (1, ?)", [(2,), (3,), (4,), (5,)])
    yield made
    made.close()


def test_a_model_url_scores_as_c_4_1_says(db):
    """C.4-1: "F=2 with R=0.5 and two matching anchor terms: S=1.0, ULScore 2.0"; and
    C.5-1: the list carries the modulated score. A search string is 300, so it outranks
    any F=2 URL while S_2 < 150."""
    assert wanted(db, "cheap memory") == {"/cheap-memory": 2.0, "/memory": 1.0}
    assert ul_score(Source.SEARCH, 100) == 300
    assert ul_score(Source.MODEL, 149.9) < 300 == ul_score(Source.MODEL, 150)
    assert wanted(db, "cheap memory", relation=0.0) == {}


def test_links_of_pages_about_the_query_come_after_those_that_name_it(db):
    paper, fixed = wanted(db, "memory"), wanted(db, "memory", mode="fixed")
    assert list(paper) == ["/cheap-memory", "/memory"]
    assert sorted(fixed, key=fixed.get, reverse=True) == [
        "/memory",
        "/cheap-memory",
        "/imprint",
    ]
    assert "/imprint" not in wanted(db, "cheap", mode="fixed")  # its page names none


def test_many_anchors_are_sifted_by_the_terms_that_they_have():
    score = AnchorScore({("honey", "bee"): 1.0, ("wax",): 0.5}, "en")
    anchors = ["the honey bees", "honey", "Wax!", "bee honey", "imprint", ""] * 200
    named = [number for number, anchor in enumerate(anchors) if score(anchor)]
    assert sorted(score.which(anchors)) == named
    assert list(score.which(anchors[:6])) == list(range(6))  # few: all are looked at


def test_only_hosts_that_a_query_asks_for_are_wanted():
    interest = Interest(len, lambda host: 1.0, sites=("a.test",))
    hosts = ("a.test", "www.a.test", "aa.test", "a.test.other")
    assert [interest.is_asked(host) for host in hosts] == [True, True, False, False]


def test_long_anchors_do_not_win_and_repeating_does_not_help():
    """C.5-10: `paper` count; `fixed` count/√len."""
    score = AnchorScore({("bee",): 1.0, ("honey", "bee"): 1.0}, "en")
    assert score("bee") == 1.0
    assert score("all that there is to know about a bee") == pytest.approx(1 / 3)
    assert score("bee bee bee bee") == 0.5
    assert score("honey bees") == pytest.approx(2 / 2**0.5)  # a phrase: its words
    assert AnchorScore({("bee",): 1.0}, "en", "paper")("bee bee bee bee") == 4


def test_an_anchor_with_what_was_excluded_scores_nothing():
    query = parse_query('star -dwarf -"death star"')
    score = AnchorScore(expand_query(query, subject()), "en", "fixed", query.without)
    assert [
        score(anchor) > 0 for anchor in ("a star", "dwarf stars", "Death Star")
    ] == [
        True,
        False,
        False,
    ]


WORDS = st.lists(st.sampled_from(["bee", "hive", "wax", "queen", "the"]), min_size=1)


@given(
    WORDS, WORDS, st.randoms(use_true_random=False), st.sampled_from(["paper", "fixed"])
)
def test_counts_do_not_depend_on_the_order_of_words(asked, anchor, rng, mode):
    def score(asked, anchor):
        terms = expand_query(parse_query(" ".join(asked)), subject(), mode)
        return AnchorScore(terms, "en", mode)(" ".join(anchor))

    shuffled = rng.sample(asked, len(asked)), rng.sample(anchor, len(anchor))
    assert score(*shuffled) == pytest.approx(score(asked, anchor))
