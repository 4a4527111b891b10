"""Parses RDF files into triples, without ever fetching anything."""

from __future__ import annotations

import json
import logging
import warnings
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from opilio.errors import BadInput

if TYPE_CHECKING:
    from rdflib import Graph

BASE = "urn:opilio:ontology"  # the base of relative IRIs in a file
MOST_PIECES = 5_000  # of one text of an XML file
MISSING = 'ontologies need more libraries; run: pip install "opilio[ontology]"'


def parse_graph(data: bytes, kind: str, name: str) -> Graph:
    """The graph in `data`, written as rdflib's format `kind`.

    owl:imports are never followed, and the XML parser of Python's standard library
    reads no external entities. JSON-LD contexts of other addresses are refused.
    """
    try:
        from rdflib import Dataset, Graph
    except ImportError as error:
        raise BadInput(MISSING) from error
    if kind == "json-ld":
        data = _without_addresses(data, name)
    elif kind == "xml":
        _refuse_multiplying(data, name)
    graph = Graph(bind_namespaces="none")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about rdflib's own deprecated names
            # It would log parts of the file, which may control a terminal.
            logging.getLogger("rdflib").setLevel(logging.CRITICAL)
            if kind in ("json-ld", "nquads", "trig"):
                named = Dataset()
                named.parse(data=data, format=kind, publicID=BASE)
                for subject, predicate, thing, _ in named.quads():
                    graph.add((subject, predicate, thing))
            else:
                graph.parse(data=data, format=kind, publicID=BASE)
    except RecursionError as error:
        raise BadInput(f"{name}: it is nested too deep to be read") from error
    except Exception as error:  # each parser of rdflib has its own
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise BadInput(f"{name}: this is not valid {kind}: {reason}") from error
    return graph


def _refuse_multiplying(data: bytes, name: str) -> None:
    """Raise BadInput for XML whose entities would take rdflib very long.

    Expat refuses the worst, but returns the rest in pieces of a few letters, and
    rdflib's time is quadratic in their number.
    """
    pieces = 0

    def text(_: str) -> None:
        nonlocal pieces
        pieces += 1
        if pieces > MOST_PIECES:
            raise BadInput(
                f"{name}: a text in it has more than {MOST_PIECES} lines or entities"
            )

    def element(*_: object) -> None:
        nonlocal pieces
        pieces = 0

    parser = expat.ParserCreate()
    parser.CharacterDataHandler = text
    parser.StartElementHandler = parser.EndElementHandler = element
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadInput(f"{name}: this is not valid XML: {error}") from error


def _without_addresses(data: bytes, name: str) -> bytes:
    """The same JSON, after checking that no context in it must be fetched."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: this is not valid JSON-LD: {error}") from error
    waiting: list[Any] = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            contexts = node.get("@context")
            entries = contexts if isinstance(contexts, list) else [contexts]
            if "@import" in node or any(isinstance(entry, str) for entry in entries):
                raise BadInput(
                    f"{name}: its @context is a URL, which is never fetched; write the "
                    "context into the file"
                )
    # Serialised again, so that rdflib cannot parse it differently.
    return json.dumps(document).encode()
