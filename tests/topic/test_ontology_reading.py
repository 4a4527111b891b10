"""What the readers make of files of each format."""

from __future__ import annotations

import gzip
import json
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic.ontology import Ontology, Relation, load_ontology, read_ontology
from topic.ontologies import PC, skos, turtle

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(
    not SHARED.exists(), reason="needs ../shared/data, which is not part of Opilio"
)


def concept(ontology: Ontology, name: str):
    return ontology.concepts[ontology.names.find(name)[0][0]]


def links(ontology: Ontology) -> set[tuple[str, str, str]]:
    def label(place: int) -> str:
        return ontology.concepts[place].label

    return {(label(e.source), str(e.relation), label(e.target)) for e in ontology.edges}


def test_skos_labels_of_all_kinds_and_languages_are_surface_forms():
    ontology = skos(
        """:a a skos:Concept ; skos:prefLabel "Computers"@en , "Ordinateur"@fr-CA ;
              skos:altLabel "Electronic brain"@en ; skos:hiddenLabel "Computors"@en ;
              skos:definition "A machine."@en ; skos:scopeNote "Not people."@en ."""
    )
    (found,) = ontology.concepts
    assert found.label == "Computers"
    assert found.labels == {
        "en": ("Computers", "Electronic brain", "Computors"),
        "fr": ("Ordinateur",),
    }
    assert found.definitions == {"en": "A machine."}
    assert found.surfaces(["fr"]) == ["Ordinateur"]


def test_a_qualifier_is_not_part_of_the_words_on_a_page():
    ontology = skos(':a a skos:Concept ; skos:prefLabel "Mercury (planet)"@en .')
    assert ontology.concepts[0].label == "Mercury (planet)"
    assert ontology.concepts[0].surfaces() == ["Mercury"]


def test_skos_relations_are_read_from_either_side():
    ontology = skos(
        """:a skos:prefLabel "A" ; skos:narrower :b ; skos:related :c .
           :b skos:prefLabel "B" . :c skos:prefLabel "C" ; skos:broader :a ."""
    )
    assert links(ontology) == {("B", "is-a", "A"), ("C", "is-a", "A")} | {
        ("A", "related", "C")
    }


def test_labels_of_skosxl_are_read():
    ontology = turtle(
        """@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://e/a> a skos:Concept ; skosxl:prefLabel <http://e/l1> ;
            skosxl:altLabel [ skosxl:literalForm "maize"@en ] .
        <http://e/l1> a skosxl:Label ; skosxl:literalForm "corn"@en ."""
    )
    (found,) = ontology.concepts
    assert found.labels == {"en": ("corn", "maize")}


def test_a_class_has_its_restrictions_attributes_and_instances():
    """Yang, figure 1: the taxonomy by is-a; CPU with attributes and instances."""
    ontology = turtle(PC)
    assert {("CPU", "is-a", "hardware"), ("CPU", "part-of", "motherboard")} <= links(
        ontology
    )
    assert ("CPU", "related", "chipset") in links(ontology)
    cpu = concept(ontology, "CPU")
    assert cpu.instance_surfaces() == ["Athlon", "Pentium III"]
    assert cpu.attributes == {
        "clock speed": {"": ("500",)},
        "provider": {"": ("AMD", "Intel")},
        "socket": {"": ("Slot 1", "Slot A")},
    }
    assert cpu.definitions["en"] == "The part that executes instructions."


def test_intersections_and_unions_are_taken_apart():
    ontology = turtle(
        """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        :Pizza a owl:Class . :Cheese a owl:Class . :Meat a owl:Class .
        :Rich a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( :Pizza
            [ a owl:Restriction ; owl:onProperty :hasTopping ;
              owl:someValuesFrom [ owl:unionOf ( :Cheese :Meat ) ] ] ) ] ."""
    )
    assert links(ontology) == {
        ("Rich", "is-a", "Pizza"),
        ("Rich", "has", "Cheese"),
        ("Rich", "has", "Meat"),
    }


def test_an_rdf_list_that_bites_its_tail_ends():
    ontology = turtle(
        """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        :A a owl:Class ; owl:equivalentClass _:x . _:x owl:intersectionOf _:l .
        :B a owl:Class . _:l rdf:first :B ; rdf:rest _:l ."""
    )
    assert links(ontology) == {("A", "is-a", "B")}


def test_a_class_is_called_as_its_iri_ends_unless_that_is_a_number():
    ontology = turtle(
        """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :HotGreenPepper a owl:Class ; rdfs:label "PimentaoVerde"@pt .
        :GO_0008150 a owl:Class ; rdfs:label "processo"@pt ."""
    )
    assert concept(ontology, "hot green pepper").labels == {
        "": ("Hot Green Pepper",),
        "pt": ("Pimentao Verde", "PimentaoVerde"),
    }
    assert concept(ontology, "processo").labels == {"pt": ("processo",)}


OBO = """format-version: 1.2
ontology: pc
import: http://127.0.0.1:9/never.obo

[Term]
id: PC:0000001
name: memory ! a comment
def: "Holds \\"data\\"." [x:y]
synonym: "RAM" EXACT []
synonym: "store" RELATED []
is_a: PC:0000003 ! device
relationship: part_of PC:0000002 ! motherboard
disjoint_from: PC:0000002
property_value: importance "0.9" xsd:float

[Term]
id: PC:0000002
name: motherboard
relationship: RO:0000051 PC:0000001

[Term]
id: PC:0000003
name: device

[Term]
id: PC:0000004
name: tube
is_obsolete: true

[Typedef]
id: part_of
name: part of

[Typedef]
id: RO:0000051
name: has part

[Instance]
id: PC:0000009
name: Kingston stick
instance_of: PC:0000001 ! memory
"""


def test_obo_terms_have_synonyms_definitions_relations_and_instances():
    ontology = read_ontology(OBO.encode(), "pc.obo")
    assert [c.label for c in ontology.concepts] == ["memory", "motherboard", "device"]
    memory = concept(ontology, "memory")
    assert memory.labels == {"": ("memory", "RAM", "store")}
    assert memory.definitions == {"": 'Holds "data".'}
    assert memory.instance_surfaces() == ["Kingston stick"]
    assert memory.importance == 0.9
    assert links(ontology) == {
        ("memory", "is-a", "device"),
        ("memory", "part-of", "motherboard"),
        ("motherboard", "has", "memory"),
    }
    assert ontology.disjoint == ((0, 1),)


ROWS = """"semantic web";klink:broaderGeneric;"linked data"
"semantic web technology";klink:relatedEquivalent;"semantic web"
"semantic web technology";klink:primaryLabel;"semantic web"
"linked data";klink:contributesTo;sparql
"semantic web";rdf:type;klink:Topic
"semantic web";rdfs:label;"semantic web"
"""


def test_in_a_table_of_triples_the_subject_of_broader_generic_is_the_broader_one():
    ontology = read_ontology(ROWS.encode(), "cso.csv")
    assert links(ontology) == {
        ("linked data", "is-a", "semantic web"),
        ("linked data", "related", "sparql"),
    }
    found = concept(ontology, "semantic web technologies")
    assert found.label == "semantic web"
    assert found.labels == {"": ("semantic web", "semantic web technology")}


def test_a_table_may_have_iris_tabs_a_heading_and_plain_names():
    table = (
        "subject\tpredicate\tobject\n"
        "<http://e/topics/machine_learning>\t<http://e/s#superTopicOf>\t"
        "<http://e/topics/deep%20learning>\n"
        "cpu\tpart of\tcomputer\ncpu\tprovider\tIntel\ncpu\timportance\t0.7\n"
    )
    ontology = read_ontology(table.encode(), "table.tsv")
    assert ("deep learning", "is-a", "machine learning") in links(ontology)
    assert ("cpu", "part-of", "computer") in links(ontology)
    assert concept(ontology, "cpu").attributes == {"provider": {"": ("Intel",)}}
    assert concept(ontology, "cpu").importance == 0.7


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("turtle", ["pc.ttl", "pc.owl", "pc", "pc.ttl.gz"]),
        ("xml", ["pc.rdf", "pc.ttl", "pc"]),
        ("json-ld", ["pc.jsonld", "pc.json", "pc"]),
        ("nt", ["pc.nt", "pc"]),
        ("nquads", ["pc.nq"]),
        ("trig", ["pc.trig"]),
    ],
)
def test_one_ontology_is_the_same_in_every_format(
    tmp_path, kind: str, names: list[str]
):
    """Koundal, section 6: "The underlying data structure is provided by KAON-API"."""
    from rdflib import Graph

    if kind == "trig":
        data = PC.encode()  # Turtle is TriG
    else:
        graph = Graph().parse(data=PC, format="turtle")
        data = graph.serialize(format="nt" if kind == "nquads" else kind).encode()
    written = [data]
    if kind in ("nt", "nquads"):  # left to chance: names first, or nodes without one
        lines = sorted(data.splitlines(keepends=True))
        written = [b"".join(lines), b"".join(reversed(lines))]
        assert written[1].startswith(b"_:")
    expected = turtle(PC)
    for name, data in product(names, written):
        packed = gzip.compress(data) if name.endswith(".gz") else data
        path = write(tmp_path, name, packed)
        ontology = load_ontology(path, cache_folder=tmp_path / "cache")
        assert ontology.concepts == expected.concepts, name
        assert ontology.edges == expected.edges, name
        assert (ontology.name, ontology.source) == ("pc", str(path))


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("broken.ttl", b"@prefix : <http://e/> .\n:a :b", "not valid turtle"),
        ("broken.owl", b"<?xml version='1.0'?><rdf:RDF", "not valid XML"),
        ("broken.json", b"{", "not valid JSON"),
        ("broken.obo", b"format-version: 1.2\n\n[Term]\nname: x\n", "not valid OBO"),
        ("broken.csv", b"a;b\n", "line 1 has 2 columns"),
        ("latin.csv", b"a;b;caf\xe9\n", "not UTF-8"),
        ("empty.ttl", b"", "no concept"),
        ("nothing.ttl", b"<http://e/a> <http://e/b> <http://e/c> .", "no concept"),
        ("owl.owx", b'<?xml version="1.0"?>\n<Ontology xmlns="x"/>', "OWL/XML"),
        ("f.ofn", b"Prefix(:=<http://e/>)\nOntology(<http://e/>)", "functional"),
        ("cut.ttl.gz", gzip.compress(b"x" * 999, mtime=0)[:-9], "cannot be read"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path, name, data, reason):
    with pytest.raises(BadInput, match=reason) as caught:
        load_ontology(write(tmp_path, name, data), cache_folder=tmp_path / "cache")
    assert name in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"none\.ttl: cannot be read: No such file"):
        load_ontology(tmp_path / "none.ttl")


def test_a_file_is_refused_when_it_unpacks_to_too_much(tmp_path):
    path = write(tmp_path, "bomb.ttl.gz", gzip.compress(b"#" * 1_000_000))
    assert path.stat().st_size < 2_000
    with pytest.raises(BadInput, match="larger than 10,000 bytes"):
        load_ontology(path, cache_folder=tmp_path, largest=10_000)


def test_json_nested_too_deep_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"deep\.json"):
        read_ontology(b"[" * 100_000 + b"]" * 100_000, "deep.json")


def test_named_graphs_of_json_ld_are_read():
    document = {
        "@id": "http://e/graph",
        "@graph": [
            {
                "@id": "http://e/a",
                "http://www.w3.org/2004/02/skos/core#prefLabel": {
                    "@value": "bee",
                    "@language": "en",
                },
            }
        ],
    }
    ontology = read_ontology(json.dumps(document).encode(), "a.jsonld")
    assert [c.label for c in ontology.concepts] == ["bee"]


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200), st.sampled_from(["x.ttl", "x.owl", "x.csv", "x.obo", "x"])
)
def test_arbitrary_bytes_give_an_ontology_or_bad_input(data: bytes, name: str):
    try:
        ontology = read_ontology(data, name)
    except BadInput:
        return
    assert ontology.concepts


@needs_shared
def test_pizza_has_its_toppings_by_the_names_in_its_iris(tmp_path):
    """Reads ../shared/data/pizza.owl."""
    ontology = load_ontology(SHARED / "pizza.owl", cache_folder=tmp_path)
    american = concept(ontology, "American")
    assert american.labels == {"": ("American",), "pt": ("Americana",)}
    assert ("American", "has", "Mozzarella Topping") in links(ontology)
    assert ("American", "is-a", "Named Pizza") in links(ontology)
    assert ("Sliced Tomato Topping", "is-a", "Tomato Topping") in links(ontology)
    assert american.attributes == {"country of origin": {"": ("America",)}}
    countries = concept(ontology, "Country").instance_surfaces()
    assert countries[:2] == ["America", "England"]


@needs_shared
def test_the_computer_science_ontology_has_its_synonyms(tmp_path):
    """Reads ../shared/data/cso-3.1.csv.gz."""
    ontology = load_ontology(SHARED / "cso-3.1.csv.gz", cache_folder=tmp_path)
    assert len(ontology.concepts) > 11_000
    assert concept(ontology, "wifi").label == "wi-fi"
    place = ontology.names.find("artificial intelligence")[0][0]
    above = ontology.towards(place, Relation.IS_A)
    assert "computer science" in {ontology.concepts[n].label for n in above}


@pytest.mark.parametrize(
    ("library", "name"), [("rdflib", "a.ttl"), ("fastobo", "a.obo")]
)
def test_a_missing_library_is_named_with_the_remedy(monkeypatch, library, name):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadInput, match=r'pip install "opilio\[ontology\]"'):
        read_ontology(b"", name)
