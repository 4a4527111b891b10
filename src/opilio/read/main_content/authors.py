"""Finds the names of the authors of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opilio.read.main_content.declared import Node, text_in, types_of
from opilio.read.main_content.metadata import Facts, squeezed
from opilio.read.main_content.names import KINDS
from opilio.read.main_content.properties import values_of

MOST = 10
LONGEST = 80  # characters of a name
LONGEST_LINE = 150  # characters of a line with a name
MOST_WORDS = 6  # of a name
AUTHOR = 1 << KINDS.index("author")
META = (
    *("author", "article:author", "parsely-author", "sailthru.author", "dc.creator"),
    *("dcterms.creator", "citation_author", "byl", "article:author_name", "creator"),
    *("og:article:author", "dc.contributor", "twitter:data1", "cxenseparse:author"),
)

_by = re.compile(
    r"""(?ix)^(?:
        (?:(?:written|posted|published|reported|reviewed|story|words|text|article|
              photos?|edited|recipe|blog|created|authored)\s+)?
        (?:by|von|par|por|di|door)\b\s*:?\s*
      | (?:author|autor|auteur|text|words|story|by)\s*:\s*
    )"""
).match
_after_name = re.compile(
    r"""(?ix)\s*(?:
        \||•|·|—|–|\n|\bon\b\s|@|\b(?:updated|published|posted)\b|\d{1,2}[:./]|
        \b(?:19|20)\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|
        \b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[ ]\d|
        ,[ ](?:[a-z]+[ ])?(?:staff|editor|reporter|writer|correspondent|contributor|
                            senior|the[ ])|
        \bin\b[ ]
    )"""
).search
_split = re.compile(r"(?i)\s*(?:;|,|\||&)\s+|/|\s+(?:and|und|et|y)\s+").split
_not_a_name = re.compile(
    r"""(?ix)[<>{}=\[\]]|\d{3}|
    \b(?:subscribe|follow|comments?|read|share|views?|posts?|login|minutes?|ago|written|
         use[ ]case|publish(?:ed)?|updated?)\b|
    ^(?:admin|administrator|editors?|staff|unknown|guest|user|null|undefined|author|
        webmaster|anonymous|home|more|by|none|default|about|team)$"""
).search
_is_address = re.compile(r"(?i)https?:|www\.|@").search
_signed = re.compile(
    r' rel="[^"]*\bauthor\b[^"]*"[^>]*>(?:<[^>]+>){0,3}([^<]{3,60})'
).findall


def authors_of(facts: Facts) -> list[str]:
    """The names of the authors, from the first place that states any."""
    for places in (
        in_json(facts),
        (facts.declared.metas.get(name, []) for name in META),
        in_marked_elements(facts),
        in_bylines(facts),
    ):
        for values in places:
            if names := names_in(values, facts.site):
                return names[:MOST]
    return []


def in_json(facts: Facts) -> Iterator[list[str]]:
    """The authors in JSON-LD, of articles first."""
    by_id = {node["@id"]: node for node in facts.declared.nodes if is_named(node)}
    for node in (*facts.items, *facts.pages):
        if "Review" in types_of(node) and "reviewRating" in node:
            continue
        said = node.get("author") or node.get("creator")
        values = said if isinstance(said, list) else [said]
        found = []
        for value in values:
            if isinstance(value, dict):
                if "Organization" not in types_of(value):
                    target = value.get("@id")
                    known = by_id.get(target) if isinstance(target, str) else None
                    found.append(text_in((known or value).get("name")))
            else:
                found.append(text_in(value))
        yield list(filter(None, found))


def is_named(node: Node) -> bool:
    """Whether a node can be referred to and has a name."""
    return isinstance(node.get("@id"), str) and "name" in node


def in_marked_elements(facts: Facts) -> Iterator[list[str]]:
    """Authors in elements that say so: itemprop, rel."""
    yield list(values_of(facts.markup, "author"))[:3]
    yield [found.strip() for found in _signed(facts.markup)[:1]]


def in_bylines(facts: Facts) -> Iterator[list[str]]:
    """Authors in lines near the title that say "by", or are named as such."""
    for block in facts.near_title():
        if len(block.text) <= LONGEST_LINE and not facts.is_aside(block):
            by = _by(block.text)
            if by and is_name(block.text[by.end() :]):
                yield [block.text[by.end() :]]
    boxes = facts.outline.boxes
    for block in facts.outline.blocks:
        if len(block.text) >= LONGEST:
            continue
        kinds = facts.kinds(block) | boxes[max(0, boxes[block.box].parent)].kinds
        if kinds & AUTHOR and not facts.is_aside(block):
            by = _by(block.text)
            text = block.text[by.end() :] if by else block.text
            if is_name(text) and (by or 2 <= len(text.split()) <= 4):
                yield [text]


def is_name(text: str) -> bool:
    """Whether a text begins like a name: with a capital, where there are any."""
    return bool(text) and not text[0].islower()


def names_in(values: Sequence[str], site: str) -> list[str]:
    """The names of people in values such as "By Jane Doe and John Roe"."""
    names: list[str] = []
    for value in values:
        if _is_address(value):
            continue
        by = _by(value)
        said = value[by.end() :] if by else value
        cut = _after_name(said)
        for part in _split(said[: cut.start()] if cut else said):
            name = " ".join(part.strip(" .,-–|:").split())
            if (
                2 < len(name) <= LONGEST
                and not _not_a_name(name)
                and len(name.split()) <= MOST_WORDS
                and squeezed(name) != squeezed(site)
                and name not in names
                and any(map(str.isalpha, name))
            ):
                names.append(name)
    return names
