"""The bytes of an RDF file in; its triples out, with nothing fetched from anywhere."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from opilio.errors import BadInput

if TYPE_CHECKING:
    from rdflib import Graph

MISSING = 'ontologies need more libraries; type: pip install "opilio[ontology]"'


def parse(data: bytes, kind: str, name: str) -> Graph:
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
    if kind in ("json-ld", "nquads", "trig"):
        graph: Graph = Dataset(default_union=True)  # it may hold named graphs
    else:
        graph = Graph(bind_namespaces="none")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of literals that are no dates, and such
            graph.parse(data=data, format=kind, publicID="urn:opilio:ontology")
    except RecursionError as error:
        raise BadInput(f"{name}: it is nested too deep to be read") from error
    except Exception as error:  # each parser of rdflib has its own
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise BadInput(f"{name}: this is no valid {kind}: {reason}") from error
    return graph


def _without_addresses(data: bytes, name: str) -> bytes:
    """The same JSON, once it is sure that no context in it must be fetched."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: this is no valid JSON-LD: {error}") from error
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
                    f"{name}: its @context is at another address, which is never "
                    "fetched; write the context into the file"
                )
    # Written anew, so that rdflib cannot read it another way than it was checked.
    return json.dumps(document).encode()
