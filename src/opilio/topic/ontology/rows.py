"""Reads ontologies from tables of triples (CSV or TSV).

A row is subject, predicate, object, as in the Computer Science Ontology:
"semantic web";klink:broaderGeneric;"linked data". There the subject is the broader one.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from opilio.errors import BadInput
from opilio.topic.ontology.draft import (
    ALTERNATIVE,
    PREFERRED,
    OntologyDraft,
    local,
    split_camel,
    words_of_iri,
)
from opilio.topic.ontology.model import Relation
from opilio.topic.ontology.relations import attribute, relation

SAME = ("relatedequivalent", "preferentialequivalent", "primarylabel", "sameas")
PREFERRING = ("primarylabel", "preferentialequivalent")
LABELLING = {"label": PREFERRED, "preflabel": PREFERRED, "altlabel": ALTERNATIVE}
SAYING = ("definition", "comment", "description")
RELATIONS = {
    "broadergeneric": Relation.HAS_KIND,  # as this table has it
    "supertopicof": Relation.HAS_KIND,
    "contributesto": Relation.RELATED,
    "subclassof": Relation.IS_A,
    "isa": Relation.IS_A,
}
HEADINGS = ("predicate", "relation", "property")
IGNORED = ("type",)

Row = tuple[str, str, str]


def understand(text: str, name: str) -> OntologyDraft:
    """The concepts of a table of triples."""
    rows = list(_rows(text, name))
    subjects = {subject for subject, _, _ in rows}
    same = _synonyms(rows)
    draft = OntologyDraft()
    for subject, predicate, thing in rows:
        _say(draft, same, subjects, (subject, predicate, thing))
    for subject in sorted(subjects | same.keys()):
        owner = same.get(subject, subject)
        kind = PREFERRED if owner == subject else ALTERNATIVE
        draft.label(owner, kind, _name(subject))
    return draft


def _say(
    draft: OntologyDraft, same: dict[str, str], subjects: set[str], row: Row
) -> None:
    """Add one row to the draft."""
    subject, predicate, thing = row
    word = local(predicate).casefold()
    owner = same.get(subject, subject)
    draft.concept(owner)
    if word in SAME or word in IGNORED:
        return
    if word in LABELLING:
        kind = LABELLING[word] if owner == subject else ALTERNATIVE
        draft.label(owner, kind, thing)
    elif word in SAYING:
        draft.note(owner, 0, thing)
    elif word == "importance":
        draft.importance(owner, thing)
    elif thing in subjects or word in RELATIONS:
        kind_of = RELATIONS.get(word) or relation(words_of_iri(predicate))
        other = same.get(thing, thing)
        if other not in draft:
            draft.label(other, PREFERRED, _name(other))
        draft.relate(owner, kind_of, other)
    else:
        _unknown(draft, owner, predicate, thing)


def _unknown(draft: OntologyDraft, owner: str, predicate: str, thing: str) -> None:
    """Add a relation to a thing that has no rows of its own, or else an attribute."""
    words = words_of_iri(predicate)
    if relation(words) is Relation.RELATED and "relat" not in words.casefold():
        draft.attribute(owner, attribute(words), thing)
    else:
        draft.label(thing, PREFERRED, _name(thing))
        draft.relate(owner, relation(words), thing)


def _rows(text: str, name: str) -> Iterator[Row]:
    sample = "".join(islice(iter(text.splitlines(keepends=True)), 50))
    delimiter = max(";\t,", key=sample.count)
    try:
        for number, cells in enumerate(
            csv.reader(text.splitlines(), delimiter=delimiter)
        ):
            if not cells or not "".join(cells).strip():
                continue
            if len(cells) != 3:
                raise BadInput(
                    f"{name}: line {number + 1} has {len(cells)} columns; a table of "
                    "triples has three: subject, predicate, object"
                )
            subject, predicate, thing = (cell.strip().strip("<>") for cell in cells)
            if subject and thing and predicate.casefold() not in HEADINGS:
                yield subject, predicate, thing
    except csv.Error as error:
        raise BadInput(f"{name}: this is not a table of triples: {error}") from error


def _synonyms(rows: list[Row]) -> dict[str, str]:
    """Each name of a group of synonyms -> the preferred one."""
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        while (above := parent.setdefault(item, item)) != item:
            parent[item] = parent[above]
            item = parent[item]
        return item

    preferred: dict[str, int] = {}
    for subject, predicate, thing in rows:
        word = local(predicate).casefold()
        if word in SAME:
            parent[root(subject)] = root(thing)
            if word in PREFERRING:
                preferred[thing] = preferred.get(thing, 0) + 1
    groups: dict[str, list[str]] = {}
    for item in list(parent):
        groups.setdefault(root(item), []).append(item)
    return {
        item: max(sorted(group), key=lambda name: preferred.get(name, 0))
        for group in groups.values()
        for item in group
    }


def _name(item: str) -> str:
    """A name in words; an IRI's end if it is one."""
    return split_camel(unquote(local(item))) if "://" in item else item
