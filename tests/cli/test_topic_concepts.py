"""`opilio topic build --ontology`: the concepts that the words of a person mean."""

import tomllib
from pathlib import Path

import pytest

from crawling import opilio
from opilio.topic import load_topic

PC = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://pc.example/> .
:computer a skos:Concept ; skos:prefLabel "computer"@en .
:cpu a skos:Concept ; skos:prefLabel "CPU"@en ;
    skos:altLabel "processor"@en ; skos:broader :computer ; skos:related :cache .
:multicore a skos:Concept ; skos:prefLabel "multi-core processor"@en ;
    skos:broader :cpu .
:cache a skos:Concept ; skos:prefLabel "cache memory"@en , "antememória"@pt .
"""
UNESCO = Path(__file__).parents[3] / "shared/data/unesco-thesaurus.ttl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an ontology."""
    (tmp_path / "pc.ttl").write_text(PC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def build(*options: str) -> dict:
    built = await opilio("topic", "build", *options, "-o", "t.toml", "--json")
    assert built.code == 0, built.err
    return built.json()


async def test_words_find_the_concepts_that_are_named_outright(home: Path):
    """What is near a concept that was found is not sought itself."""
    tables = await build("--ontology", "pc.ttl", "--keywords", "processors, snow")
    assert tables["targets"] == ["CPU"]
    assert tables["importance"] == {
        "CPU": 1.0,
        "processors": 1.0,
        "multi-core processor": 0.9,
        "antememória": 0.5,
        "cache memory": 0.5,
        "computer": 0.5,
    }
    assert load_topic(home / "t.toml").ontology.concepts == ("processors",)
    shown = await opilio("topic", "show", "t.toml", "--json")
    assert shown.json()["importance"] == tables["importance"]


async def test_a_word_of_a_great_thesaurus_finds_one_concept():
    if not UNESCO.exists():
        pytest.skip("needs ../shared/data")
    tables = await build("--ontology", str(UNESCO), "--keywords", "Chemistry")
    assert tables["targets"] == ["Chemistry"]


async def test_a_concept_without_a_word_in_the_language_is_in_both_tables(home: Path):
    tables = await build(
        *("--ontology", "pc.ttl", "--concept", "CPU", "--concept", "cache memory"),
        *("--language", "pt"),
    )
    for table in tables["weights"], tables["importance"]:
        assert table.keys() == {"CPU", "processor", "antememória"}


async def test_an_ontology_without_words_in_the_language_is_taken_as_it_is(home: Path):
    tables = await build("--ontology", "pc.ttl", "--concept", "CPU", "--language", "hi")
    assert tables["weights"] == tables["importance"]
    assert tables["weights"].keys() >= {"CPU", "processor", "computer"}


async def test_the_concepts_named_are_keywords_however_few_are_wanted(home: Path):
    """All domains of an ontology share its top, which so is less important."""
    await build(
        *("--ontology", "pc.ttl", "--concept", "computer", "--concept", "CPU"),
        *("--top", "2"),
    )
    keywords = tomllib.loads((home / "t.toml").read_text())["keywords"]
    assert {each if isinstance(each, str) else each["term"] for each in keywords} == {
        *("computer", "CPU")
    }


async def test_examples_alone_that_say_nothing_are_told(home: Path):
    (home / "x.html").write_text("<p>the of and</p>")
    (home / "x.toml").write_text('name = "x"\n[examples]\nrelevant = ["x.html"]\n')
    shown = await opilio("topic", "show", "x.toml")
    assert shown.code != 0
    assert "no words can be read" in shown.err


ZOO = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://zoo.example/> .
:animal a skos:Concept ; skos:prefLabel "animal"@en .
:lion a skos:Concept ; skos:prefLabel "lion"@en ; skos:broader :animal .
:computer a skos:Concept ; skos:prefLabel "computer animals"@en .
"""


async def test_the_file_that_was_chosen_is_named_with_the_reason(home: Path):
    """Kumar & Vig, III.F: "the relevant ontology extracted by the Relevant Ontology
    Extractor"."""
    (home / "zoo.ttl").write_text(ZOO)
    (home / "none.ttl").write_text(ZOO.split(":lion")[0])
    topic = home / "t.toml"
    words = '["processors", "computer", "cache memory", "lion"]'
    text = f'name = "t"\nkeywords = {words}\n[ontology]\n'
    topic.write_text(f'{text}files = ["none.ttl", "zoo.ttl", "pc.ttl"]\n')
    shown = await opilio("topic", "show", topic)
    assert shown.code == 0, shown.err
    lines = [line for line in shown.out.splitlines() if ".ttl:" in line]
    assert [line.split(" ", 1)[1] for line in lines] == [
        "pc.ttl: chosen for processors → CPU (another form of its label), "
        "computer → computer (its label), cache memory → cache memory (its label)",
        "zoo.ttl: chosen for lion → lion (its label)",
        "none.ttl: not used, knows none of the terms",
    ]
    found = (await opilio("topic", "show", topic, "--json")).json()["ontologies"]
    assert [one["file"] for one in found] == [
        str(home / name) for name in ("pc.ttl", "zoo.ttl", "none.ttl")
    ]
    assert found[0]["score"] > found[1]["score"] > found[2]["score"] == 0

    # A file that knows a term no better than a better one is not used.
    topic.write_text(
        f'{text}files = ["zoo.ttl", "pc.ttl"]\nconcepts = ["processor", "computer"]\n'
    )
    shown = await opilio("topic", "show", topic)
    assert "zoo.ttl: not used, another file knows its terms as surely" in shown.out
