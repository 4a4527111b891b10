"""Reads ontologies in OBO format."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from opilio.errors import BadInput
from opilio.topic.ontology.draft import (
    ALTERNATIVE,
    HIDDEN,
    PREFERRED,
    OntologyDraft,
    is_number,
    words_of_iri,
)
from opilio.topic.ontology.model import Relation
from opilio.topic.ontology.parse import MISSING
from opilio.topic.ontology.relations import relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def understand(data: bytes, name: str) -> OntologyDraft:
    """The terms of an OBO file; its imports are not followed."""
    try:
        import fastobo
    except ImportError as error:
        raise BadInput(MISSING) from error
    try:
        document = fastobo.load(io.BytesIO(data))
    except (SyntaxError, ValueError, OSError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise BadInput(f"{name}{where}: this is not valid OBO: {error}") from error
    except BaseException as error:  # a panic of fastobo is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise BadInput(f"{name}: this is not valid OBO") from error
    kinds = {frame: type(frame).__name__.removesuffix("Frame") for frame in document}
    terms = [frame for frame, kind in kinds.items() if kind == "Term"]
    typedefs = [frame for frame, kind in kinds.items() if kind == "Typedef"]
    words = {str(frame.id): _in_words(frame) for frame in typedefs}
    draft = OntologyDraft()
    for frame in terms:
        clauses = _clauses(frame)
        if clauses.get("is_obsolete") != ["true"]:
            _term(draft, str(frame.id), clauses, words)
    for owner, key, name in _instances(data.decode("utf-8", "replace")):
        draft.instance(owner, key)
        draft.individuals.label(key, PREFERRED, name)
    return draft


def _in_words(typedef: Any) -> str:
    """A kind of relationship in words: its name if its id is a number."""
    key = str(typedef.id)
    names = _clauses(typedef).get("name", [])
    return names[0] if names and is_number(key) else words_of_iri(key)


def _instances(text: str) -> Iterator[tuple[str, str, str]]:
    """Class, id and name of each [Instance], which fastobo leaves out."""
    for stanza in re.split(r"^\[", text, flags=re.MULTILINE):
        if stanza.startswith("Instance]"):
            lines = (line.partition(": ") for line in stanza.splitlines())
            said = {tag: value.partition(" !")[0].strip() for tag, _, value in lines}
            if owner := said.get("instance_of"):
                key = said.get("id", "")
                yield owner, key, said.get("name") or words_of_iri(key)


def _term(
    draft: OntologyDraft,
    key: str,
    clauses: Mapping[str, list[Any]],
    words: Mapping[str, str],
) -> None:
    draft.label(key, PREFERRED, " ".join(clauses.get("name", [words_of_iri(key)])))
    for synonym in clauses.get("synonym", ()):
        kind = ALTERNATIVE if synonym.scope == "EXACT" else HIDDEN
        draft.label(key, kind, synonym.desc)
    for text in clauses.get("def", ()):
        draft.note(key, 0, text)
    for text in clauses.get("comment", ()):
        draft.note(key, 1, text)
    for other in clauses.get("is_a", ()):
        draft.relate(key, Relation.IS_A, other)
    for other in clauses.get("disjoint_from", ()):
        draft.disjoint((key, other))
    for typedef, other in clauses.get("relationship", ()):
        draft.relate(key, relation(words.get(typedef, words_of_iri(typedef))), other)
    for typedef, value in clauses.get("property_value", ()):
        if typedef.rpartition(":")[2] == "importance":
            draft.importance(key, value)


def _clauses(frame: Any) -> dict[str, list[Any]]:
    """The clauses of a frame, by tag."""
    found: dict[str, list[Any]] = {}
    for clause in frame:
        tag, _, value = str(clause).partition(": ")
        known: Any = value.partition(" !")[0].strip()
        if tag == "synonym":
            known = getattr(clause, "synonym", None)
        elif tag == "def":
            known = str(getattr(clause, "definition", ""))
        elif tag in ("relationship", "property_value"):
            first, _, rest = known.partition(" ")
            known = first, rest.split('"')[1] if '"' in rest else rest.split()[0]
        if known:
            found.setdefault(tag, []).append(known)
    return found
