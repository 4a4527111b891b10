"""Loads an ontology file of any supported format, compressed or not."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from pathlib import Path

import msgspec

from opilio.errors import BadInput
from opilio.topic.ontology import cache, obo, rdf, rows
from opilio.topic.ontology.model import Ontology
from opilio.topic.ontology.parse import parse_graph

LARGEST = 128 * 2**20  # bytes of a file, uncompressed

EXTENSIONS = {
    ".ttl": "turtle",
    ".n3": "turtle",
    ".nt": "nt",
    ".nq": "nquads",
    ".trig": "trig",
    ".rdf": "xml",
    ".owl": "xml",
    ".xml": "xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
    ".obo": "obo",
    ".csv": "rows",
    ".tsv": "rows",
}
# How a file begins, whatever it is called. Comments are matched possessively: to try
# all ways to divide a line into comments would take for ever.
CONTENTS = (
    (re.compile(rb"\s*(<\?xml|<!DOCTYPE|<!--|<\w*:?RDF\b|<Ontology\b)"), "xml"),
    (re.compile(rb"\s*[\[{]"), "json-ld"),
    (
        re.compile(
            rb"\s*(![^\r\n]*[\r\n]\s*)*+(format-version|ontology|\[Term\])\s*:?"
        ),
        "obo",
    ),
    (
        re.compile(rb"\s*(#[^\r\n]*[\r\n]\s*)*+@?(prefix|base)\s", re.IGNORECASE),
        "turtle",
    ),
    (re.compile(rb"\s*(#[^\r\n]*[\r\n]\s*)*+(<[^>\s]+>|_:\S+)\s+<[^>\s]+>\s"), "nt"),
)
ELSEWHERE = (  # formats we do not read, and how to tell them
    (
        re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<![^>]*>\s*|\]>\s*)*+<Ontology\b"),
        "OWL/XML",
    ),
    (re.compile(rb"\s*(Prefix|Ontology)\s*\("), "OWL functional syntax"),
    (re.compile(rb"\s*(Prefix|Ontology):"), "OWL Manchester syntax"),
)


def load_ontology(
    path: Path, *, cache_folder: Path | None = None, largest: int = LARGEST
) -> Ontology:
    """Read an ontology; parsed ontologies are cached.

    `cache_folder` is the folder of the cache, the user's by default.
    """
    data = read_file(path, largest)
    folder = cache_folder or cache.user_folder()
    key = f"{hashlib.sha256(data).hexdigest()}-{format_of(data, path.name)}"
    ontology = cache.load_cached(folder, key)
    if ontology is None:
        ontology = read_ontology(data, path.name)
        cache.save_cached(folder, key, ontology)
    return msgspec.structs.replace(ontology, name=_stem(path), source=str(path))


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a file, uncompressed; BadInput if it is too large."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            data = (gzip.GzipFile(fileobj=file) if packed else file).read(largest + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: cannot be read: {reason}") from error
    if len(data) > largest:
        raise BadInput(f"{path}: it is larger than {largest:,} bytes; use a part of it")
    return data


def read_ontology(data: bytes, name: str) -> Ontology:
    """Parse the bytes of a file; its name helps to recognise the format."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    kind = format_of(data, name)
    if kind == "obo":
        draft = obo.understand(data, name)
    elif kind == "rows":
        draft = rows.understand(_text(data, name), name)
    else:
        draft = rdf.understand(parse_graph(data, kind, name))
    ontology = draft.finish(name)
    if not ontology.concepts:
        raise BadInput(
            f"{name}: it contains no concept; SKOS concepts, OWL or RDFS classes, OBO "
            "terms and rows of triples are supported"
        )
    return ontology


def format_of(data: bytes, name: str) -> str:
    """The format of a file, by how it begins, then by its name."""
    start = data[:4096]
    for pattern, other in ELSEWHERE:
        if pattern.match(start):
            raise BadInput(
                f"{name}: {other} is not supported; save it as RDF/XML or Turtle "
                "(Protégé: File, Save as; ROBOT: robot convert)"
            )
    by_name = EXTENSIONS.get(Path(name.removesuffix(".gz")).suffix.lower(), "")
    if by_name in ("nquads", "trig"):
        return by_name
    for pattern, kind in CONTENTS:
        if by_name != "rows" and pattern.match(start):
            return kind
    return by_name or "rows"


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: it is not UTF-8: {error}") from error


def _stem(path: Path) -> str:
    """The name of a file without its endings."""
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name
