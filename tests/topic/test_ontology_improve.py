"""The file that comes of what was accepted: whole, readable, with its provenance."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from opilio.topic.ontology import (
    Ontology,
    Relation,
    Support,
    load_ontology,
    read_ontology,
    relations,
)
from opilio.topic.ontology.improve import (
    Accepted,
    improved,
    iri,
    literal,
    term_iri,
    write_improved,
)
from opilio.topic.ontology.propose import Proposal
from topic.ontologies import ENGINEERING, PC, turtle

SHARED = Path(__file__).parents[3] / "shared/data"
ONTOLOGY = turtle(PC)
WHEN = "2026-11-17T20:00:00+00:00"
SAID = (Support("http://a.test/1", 'A heatsink cools the "CPU".'),)
OBO = """format-version: 1.2

[Term]
id: T:1
name: car
def: "It drives." []

[Term]
id: T:2
name: taxi
synonym: "cab" EXACT []
is_a: T:1
"""


def accepted(kind: str, term: str, relation: str, concept: str, concept_id: str = ""):
    proposal = Proposal(kind, term, relation, concept, concept_id, 3, 0.5, SAID)
    return Accepted(proposal=proposal, when=WHEN)


def labels(ontology: Ontology) -> set[str]:
    return {concept.label for concept in ontology.concepts}


def make(data: str, name: str, *decisions: Accepted) -> tuple[Ontology, Ontology, str]:
    before = read_ontology(data.encode(), name)
    text = improved(data.encode(), name, decisions, before)
    return before, read_ontology(text.encode(), "n.ttl"), text


@pytest.mark.parametrize(
    ("relation", "way"),
    [
        ("is-a", Relation.IS_A),
        ("part-of", Relation.PART_OF),
        ("has", Relation.HAS),
        ("related", Relation.RELATED),
    ],
)
@pytest.mark.parametrize(
    ("data", "name", "concept"),
    [
        (PC, "pc.ttl", "CPU"),
        (ENGINEERING, "departments.ttl", "Comp. Engg."),
        (OBO, "cars.obo", "taxi"),
        ('"taxi",broader,"car"\n', "cars.csv", "taxi"),
    ],
)
def test_a_new_term_is_beside_its_concept(data, name, concept, relation, way):
    """Whatever the format of the first file: nothing of it is lost."""
    term = accepted("term", "heat sink", relation, concept)
    before, after, _ = make(data, name, term)
    assert labels(after) == labels(before) | {"heat sink"}
    assert relations(after, "heat sink", concept) == [("heat sink", way, concept)]
    assert len(after.edges) == len(before.edges) + 1


def test_labels_and_relations_are_added_to_their_concepts():
    _, after, _ = make(
        PC,
        "pc.ttl",
        accepted("label", "chip", "label", "CPU"),
        accepted("relation", "memory", "part-of", "motherboard"),
    )
    assert after.names.named("chips") == [after.places["http://example.org/pc#CPU"]]
    assert relations(after, "memory", "motherboard") == [
        ("memory", Relation.PART_OF, "motherboard")
    ]


def test_a_term_may_stand_beside_a_term_that_was_accepted_before():
    first = accepted("term", "heat sink", "is-a", "hardware")
    second = accepted("term", "fan", "part-of", "heat sink", term_iri("heat sink"))
    _, after, _ = make(PC, "pc.ttl", first, second)
    assert relations(after, "fan", "hardware")[0][2] == "heat sink"


def test_a_new_concept_tells_where_it_comes_from():
    _, _, text = make(PC, "pc.ttl", accepted("term", "heat sink", "is-a", "hardware"))
    graph = rdflib.Graph().parse(data=text, format="turtle")
    node = rdflib.URIRef("urn:opilio:term:heat-sink")
    said = {str(p).rpartition("/")[2]: str(o) for p, o in graph.predicate_objects(node)}
    assert said["source"] == "http://a.test/1"
    assert said["created"] == "2026-11-17"
    assert 'A heatsink cools the "CPU".' in said["core#changeNote"]
    assert "accepted from 3 pages" in said["core#changeNote"]
    assert said["22-rdf-syntax-ns#type"].endswith("owl#Class")  # as its neighbours are
    revised = rdflib.URIRef("urn:opilio:revision:pc.ttl")
    assert (revised, rdflib.PROV.wasRevisionOf, None) in graph


def test_the_first_text_stays_as_it_is_at_the_top():
    _, _, text = make(PC, "pc.ttl", accepted("term", "fan", "related", "CPU"))
    assert text.startswith(PC.rstrip())


@given(st.text(min_size=1, max_size=60), st.text(max_size=60))
def test_no_crawled_text_breaks_the_file(term: str, sentence: str):
    """Quotes, backslashes, newlines and half statements are text, never Turtle."""
    proposal = Proposal(
        "term", term, "related", "CPU", "", 1, 0.5, (Support(sentence, sentence),)
    )
    made = [Accepted(proposal=proposal, when=WHEN)]
    text = improved(PC.encode(), "pc.ttl", made, ONTOLOGY)
    graph = rdflib.Graph().parse(data=text.encode("utf-8", "replace"), format="turtle")
    statements = len(rdflib.Graph().parse(data=PC, format="turtle"))
    assert len(graph) == statements + 3 + 6


def test_what_cannot_be_read_is_never_written(tmp_path: Path):
    source, target = tmp_path / "pc.ttl", tmp_path / "better" / "pc.ttl"
    source.write_text(PC)
    write_improved(source, [accepted("term", "fan", "related", "CPU")], target)
    assert "fan" in labels(read_ontology(target.read_bytes(), "pc.ttl"))
    assert [path.name for path in target.parent.iterdir()] == ["pc.ttl"]


def test_addresses_and_texts_are_escaped():
    assert iri("http://a.test/ü<b> c") == "<http://a.test/ü%3Cb%3E%20c>"
    assert literal('a "b"\\\n', "en") == '"a \\"b\\"\\\\ "@en'


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
def test_the_pizzas_keep_all_they_have(tmp_path: Path):
    source, target = SHARED / "pizza.owl", tmp_path / "pizza.ttl"
    write_improved(source, [accepted("term", "zyx", "is-a", "American")], target)
    before, after = load_ontology(source), load_ontology(target)
    assert len(after.concepts) == len(before.concepts) + 1
    assert len(after.edges) == len(before.edges) + 1
    assert relations(after, "zyx", "American") == [("zyx", Relation.IS_A, "American")]
