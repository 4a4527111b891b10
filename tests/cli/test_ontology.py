"""`opilio ontology`: Yang's services (C2) for people, and what search makes of them."""

from pathlib import Path

import pytest

from in_process import run
from opilio.records import Subject
from opilio.search.concepts import Concepts
from opilio.search.query import parse_query
from opilio.sites.query_expansion import expand_query
from opilio.topic.ontology import concept_words, expand, load_ontology
from topic.ontologies import PC

UNESCO = Path(__file__).parents[3] / "shared/data/unesco-thesaurus.ttl"
PIZZA = UNESCO.with_name("pizza.owl")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an ontology."""
    (tmp_path / "pc.ttl").write_text(PC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_ontology_is_shown_in_numbers():
    """Yang, section 2: "relevant PC concepts as classes and their parent-child
    relationships as isa links"."""
    shown = run("ontology", "show", "pc.ttl", "--json").json()
    assert (shown["concepts"], shown["instances"]) == (7, 4)
    assert shown["languages"] == ["en", "de"]
    assert shown["relations"] == {"is-a": 5, "part-of": 2, "related": 1}
    assert shown["tops"] == ["hardware"]
    assert "7" in run("ontology", "show", "pc.ttl").out


def test_a_term_is_shown_with_all_that_is_known_of_it():
    [cpu] = run("ontology", "show", "pc.ttl", "processors", "--json").json()
    assert cpu["term"] == "CPU"
    assert cpu["labels"]["de"] == ["Hauptprozessor", "Prozessor"]
    assert cpu["definition"] == "The part that executes instructions."
    assert cpu["around"] == {
        "broader": ["hardware"],
        "kinds": ["Athlon", "Pentium III", "multi-core processor"],
        "part of": ["motherboard"],
        "related": ["chipset"],
    }
    assert cpu["conflicting"] == ["memory"]
    told = run("ontology", "show", "pc.ttl", "PersonalComputer", "Pentium III").out
    assert "personal computer" in told
    assert "broader" in told
    assert "CPU" in told


def test_the_way_between_terms_is_shown_step_by_step():
    told = run("ontology", "relate", "pc.ttl", "processor", "PC", "RAM").out
    assert told.splitlines()[:3] == [
        "CPU → personal computer  compatible",
        "  CPU part-of motherboard",
        "  motherboard part-of personal computer",
    ]
    assert "personal computer → memory  conflicting" in told
    same = run("ontology", "relate", "pc.ttl", "processor", "CPU").out
    assert "the same concept" in same
    alone = run("ontology", "relate", "pc.ttl", "CPU")
    assert (alone.code, "two or more" in alone.err) == (2, True)


def test_a_query_is_expanded_as_search_and_expander_do_it(home: Path):
    """One implementation: the command, the services and the expander of site models
    give the same terms the same weights (C9)."""
    told = run("ontology", "expand", "pc.ttl", "the", "cheap", "processors", "--json")
    found = told.json()
    assert found["concepts"] == ["CPU"]
    assert found["terms"] == {
        "processors": 1.0,
        "cheap": 1.0,
        "CPU": 0.9,
        "central processing unit": 0.9,
        "multi-core processor": 0.6,
        "hardware": 0.3,
    }
    ontology = load_ontology(home / "pc.ttl")
    assert expand(ontology, "the cheap processors", languages=["en"]) == found["terms"]
    key = ontology.names.key
    words = concept_words(ontology, key, languages=["en"])
    subject = Subject(language="en", named_concepts=words)
    by_crawl = expand_query(parse_query("the cheap processors"), subject)
    by_command = {key(term): weight for term, weight in found["terms"].items()}
    crawled = {" ".join(term): weight for term, weight in by_crawl.items()}
    # In a crawl, the name of an instance stands for its class.
    assert by_command.items() <= crawled.items()
    assert set(crawled) - set(by_command) == {"athlon", "pentium iii"}
    assert list(Concepts(words).meant(["processor"])) == found["concepts"]


def test_definitions_are_shown_or_said_to_be_missing():
    told = run("ontology", "define", "pc.ttl", "processor", "memory").out
    assert "  The part that executes instructions." in told
    assert "no definition in this file" in told
    assert run("ontology", "define", "pc.ttl", "CPU", "--json").json() == {
        "CPU": "The part that executes instructions."
    }


def test_a_term_that_is_unknown_is_answered_with_near_ones():
    for command in ("show", "define"):
        wrong = run("ontology", command, "pc.ttl", "processr")
        assert wrong.code == 2
        assert "'processr' is not a term of pc; similar: processor" in wrong.err
    missing = run("ontology", "show", "nowhere.ttl")
    assert (missing.code, "nowhere.ttl" in missing.err) == (2, True)


def test_what_a_file_says_is_shown_harmless(home: Path):
    """Terms come from files of strangers: no control characters, no markup."""
    (home / "evil.csv").write_text('"[red]x\x1b[31m",related,"y[/bold]"\n')
    told = run("ontology", "show", "evil.csv", "y[/bold]").out
    assert "\x1b" not in told
    assert "y[/bold]" in told


@pytest.mark.skipif(not UNESCO.exists(), reason="needs ../shared/data")
def test_the_unesco_thesaurus_and_the_pizzas_answer():
    way = run("ontology", "relate", UNESCO, "astronomy", "physics").out
    assert "Astronomy has-kind Astrophysics" in way
    assert "North Sea" in run("ontology", "expand", UNESCO, "birds of the sea").out
    menu = run("ontology", "define", PIZZA, "NamedPizza").out
    assert "A pizza that can be found on a pizza menu" in menu
