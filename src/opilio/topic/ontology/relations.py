"""Recognises which relation a property means, by its name."""

from __future__ import annotations

import re

from opilio.topic.ontology.model import Relation

_LEADING = re.compile(r"^(has|is|have) (?=\w)")

# Patterns of a property's name in words; the first that matches counts.
_READINGS = (
    (re.compile(r"^(is a|is a kind of|kind of|sub ?class of|sub ?topic of)$"), "is-a"),
    (re.compile(r"^(broader|broader (generic|instantial|transitive))$"), "is-a"),
    (re.compile(r"^(narrower|super ?class of|super ?topic of)$"), "has-kind"),
    (re.compile(r"^broader partitive$|^(is )?(member|part|component) of\b"), "part-of"),
    (
        re.compile(r"^(is )?(ingredient|element|topping|base|piece|module) of$"),
        "part-of",
    ),
    (re.compile(r"^(belongs to|contained in|included in|located in)\b"), "part-of"),
    (re.compile(r"^(is )?(proper |direct(ly)? )?part of\b|^is \w+ of$"), "part-of"),
    (re.compile(r"^(has|have|narrower partitive)\b"), "has"),
    (re.compile(r"^(contains|includes|consists of|comprises|uses|needs)\b"), "has"),
)


def relation(name: str) -> Relation:
    """The relation between two concepts that a property of this name means.

    >>> relation("has topping")
    <Relation.HAS: 'has'>
    """
    words = name.casefold()
    for pattern, found in _READINGS:
        if pattern.search(words):
            return Relation(found)
    return Relation.RELATED


def attribute(name: str) -> str:
    """The name of an attribute without its verb: "has colour" is "colour"."""
    return _LEADING.sub("", name.casefold())
