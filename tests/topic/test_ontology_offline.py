"""An ontology file is not trusted: whatever it names, nobody is asked for it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from opilio.errors import BadInput
from opilio.topic.ontology import read_ontology


class Trap:
    """A server on loopback that must not be asked."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.asked = 0
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            connection, _ = self.socket.accept()
            with connection:
                if connection.recv(1) == b"\0":
                    return
                self.asked += 1
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    def close(self) -> int:
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"\0")
        self.thread.join()
        self.socket.close()
        return self.asked


@pytest.fixture
def trap() -> Iterator[Trap]:
    server = Trap()
    yield server
    assert server.close() == 0, "something was fetched"


CLASS = 'owl:Class rdf:about="http://e/#Bee"'
NAMESPACES = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:owl="http://www.w3.org/2002/07/owl#" '
    'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
)


def test_imports_are_not_followed(trap: Trap):
    turtle = f"""@prefix owl: <http://www.w3.org/2002/07/owl#> .
        <{trap.url}/o> a owl:Ontology ; owl:imports <{trap.url}/other> .
        <http://e/#Bee> a owl:Class ."""
    assert read_ontology(turtle.encode(), "a.ttl").concepts[0].label == "Bee"
    obo = (
        f"format-version: 1.2\nimport: {trap.url}/o.obo\n\n[Term]\nid: A:1\nname: bee\n"
    )
    assert read_ontology(obo.encode(), "a.obo").concepts[0].label == "bee"


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE rdf:RDF SYSTEM "{url}/a.dtd">',
        '<!DOCTYPE rdf:RDF PUBLIC "-//X//Y//EN" "{url}/a.dtd">',
        '<!DOCTYPE rdf:RDF [<!ENTITY % p SYSTEM "{url}/p.dtd"> %p;]>',
    ],
)
def test_external_parts_of_an_xml_file_are_not_read(trap: Trap, doctype: str):
    data = f"""<?xml version="1.0"?>{doctype.format(url=trap.url)}
        <rdf:RDF {NAMESPACES}><{CLASS}/></rdf:RDF>"""
    assert read_ontology(data.encode(), "a.owl").concepts[0].label == "Bee"


def test_external_entities_are_neither_fetched_nor_read_from_disk(trap: Trap, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    for target in (f"{trap.url}/x", secret.as_uri()):
        data = f"""<?xml version="1.0"?>
            <!DOCTYPE rdf:RDF [<!ENTITY x SYSTEM "{target}">]>
            <rdf:RDF {NAMESPACES}><{CLASS}>
            <rdfs:label>bee&x;</rdfs:label></owl:Class></rdf:RDF>"""
        try:
            ontology = read_ontology(data.encode(), "a.owl")
        except BadInput:
            continue
        assert "secret" not in str(ontology)


def test_entities_that_multiply_are_refused():
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    data = f"""<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY e0 "bee">{entities}]>
        <rdf:RDF {NAMESPACES}><{CLASS}>
        <rdfs:label>&e11;</rdfs:label></owl:Class></rdf:RDF>"""
    with pytest.raises(BadInput, match="more than 5000 lines or entities"):
        read_ontology(data.encode(), "a.owl")


@pytest.mark.parametrize(
    "place",
    [
        lambda url: {"@context": url},
        lambda url: {"@context": [{"a": "http://e/a"}, url]},
        lambda url: {"@context": {"@version": 1.1, "@import": url}},
        lambda url: {
            "@context": {"b": {"@id": "http://e/b", "@context": url}},
            "b": {},
        },
        lambda url: {"@graph": [{"http://e/b": {"@context": url}}]},
        lambda url: {"@context": {"@base": url}, "@graph": [{"@context": "relative"}]},
    ],
)
def test_contexts_at_other_addresses_are_refused(trap: Trap, place):
    data = json.dumps({"@id": "http://e/a", **place(f"{trap.url}/context")})
    with pytest.raises(BadInput, match="never fetched"):
        read_ontology(data.encode(), "a.jsonld")


def test_a_context_inside_the_file_is_used():
    data = {
        "@context": {"label": "http://www.w3.org/2004/02/skos/core#prefLabel"},
        "@id": "http://e/a",
        "label": "bee",
    }
    assert read_ontology(json.dumps(data).encode(), "a.json").concepts[0].label == "bee"
