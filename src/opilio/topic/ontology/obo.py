"""An OBO file in; a Draft of its terms out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from opilio.errors import BadInput
from opilio.topic.ontology.draft import (
    ALTERNATIVE,
    HIDDEN,
    PREFERRED,
    Draft,
    is_number,
    spoken,
)
from opilio.topic.ontology.model import Relation
from opilio.topic.ontology.parse import MISSING
from opilio.topic.ontology.relations import relation

if TYPE_CHECKING:
    from collections.abc import Mapping


def understand(data: bytes, name: str) -> Draft:
    """The terms of an OBO file; its imports are not followed."""
    try:
        import fastobo  # type: ignore[import-untyped]
    except ImportError as error:
        raise BadInput(MISSING) from error
    try:
        document = fastobo.load(io.BytesIO(data))
    except (SyntaxError, ValueError, OSError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise BadInput(f"{name}{where}: this is no valid OBO: {error}") from error
    frames = [(_kind(frame), str(frame.id), _clauses(frame)) for frame in document]
    words = {  # of the kinds of relationships
        key: " ".join(clauses.get("name", [spoken(key)]))
        if is_number(key)
        else spoken(key)
        for kind, key, clauses in frames
        if kind == "Typedef"
    }
    draft, labels = Draft(), {}
    for kind, key, clauses in frames:
        labels[key] = " ".join(clauses.get("name", [spoken(key)]))
        if kind == "Term" and clauses.get("is_obsolete") != ["true"]:
            _term(draft, key, clauses, words)
    for kind, key, clauses in frames:
        if kind == "Instance":
            for owner in clauses.get("instance_of", ()):
                draft.instance(owner.split()[0], labels[key])
    return draft


def _term(
    draft: Draft, key: str, clauses: Mapping[str, list[Any]], words: Mapping[str, str]
) -> None:
    draft.label(key, PREFERRED, " ".join(clauses.get("name", [spoken(key)])))
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
        draft.relate(key, relation(words.get(typedef, spoken(typedef))), other)
    for typedef, value in clauses.get("property_value", ()):
        if typedef.rpartition(":")[2] == "importance":
            draft.importance(key, value)


def _kind(frame: Any) -> str:
    return type(frame).__name__.removesuffix("Frame")


def _clauses(frame: Any) -> dict[str, list[Any]]:
    """What a frame says, by tag."""
    found: dict[str, list[Any]] = {}
    for clause in frame:
        # Clauses of instances have no attributes, but all are written as in the file.
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
