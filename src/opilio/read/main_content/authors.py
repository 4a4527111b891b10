"""Finds the names of the authors of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from opilio.read.main_content.declared import Node, text_in, types_of
from opilio.read.main_content.metadata import Facts
from opilio.read.main_content.names import KINDS
from opilio.read.main_content.outline import TextBlock
from opilio.read.main_content.properties import authors_within
from opilio.read.main_content.titles import squeezed

MOST = 10
LONGEST = 80  # characters of a name
LONGEST_LINE = 150  # characters of a line with a name
MOST_WORDS = 6  # of a name
PARTICLES = frozenset(
    (
        *("and", "da", "de", "del", "della", "den", "der", "di", "dos", "du", "e"),
        *("la", "le", "of", "ter", "the", "van", "von", "y"),
    )
)
AUTHOR, COMMENT = 1 << KINDS.index("author"), 1 << KINDS.index("comment")
META = (
    *("author", "article:author", "parsely-author", "sailthru.author", "dc.creator"),
    *("dcterms.creator", "citation_author", "byl", "article:author_name", "creator"),
    *("og:article:author", "dc.contributor", "twitter:data1", "cxenseparse:author"),
)

_by = re.compile(
    r"""(?ix)^(?:
        (?:(?:written|posted|published|reported|story|words|text|article|recipe|blog|
              created|authored|verfasst|geschrieben|escrito|scritto)\s+)?
        (?:(?:by|von|par|por|di|door|af|av)\b\s*:?\s* | (?-i:By(?=[A-Z])))
      | (?:author|autor|autorin|auteur|autore|text|words|story|by|redaktion)\s*:\s*
    )"""
).match
_by_within = re.compile(
    r"(?:^|[\s|•·—–-])(?:[Bb]y|BY|[Vv]on|[Pp]ar|[Pp]or)[\s:]+(?=[^\W\d_a-z])"
).search
_after_name = re.compile(
    r"""(?ix)\s*(?:
        \||•|·|—|–|\n|\bon\b\s|@|\b(?:updated|published|posted|veröffentlicht|publié|publicado)\b|
        \d{1,2}[:./]|
        \b(?:19|20)\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|
        \b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[ ]\d|
        ,[ ](?:[a-z]+[ ])?(?:staff|editor|reporter|writer|correspondent|contributor|
                            senior|the[ ])|
        \bin\b[ ]|[ ]for[ ]the\b|\b(?:am|vom|le)[ ]\d|[ ]\(
    )"""
).search
_split = re.compile(
    r"(?i)\s*(?:;|,|\||&)\s+(?:(?:and|und|et|y|e)\s+)?|/|\s+(?:and|und|et|y)\s+"
).split
_not_a_name = re.compile(
    r"""(?ix)[<>{}=\[\]©:]|(?<![a-z_])\d{3}|
    \b(?:subscribe|follow|comments?|read|share|views?|posts?|login|minutes?|ago|written|
         use[ ]case|publish(?:ed)?|updated?|account|about|menu|search|sign[ ]in|
         newsletter|cookies?|privacy|copyright|appointment|photo|foto|bild)\b|
    ^(?:admin|administrator|editors?|staff|unknown|guest|user|null|undefined|author|
        webmaster|anonymous|home|more|by|none|default|team|agenc(?:y|ies))$"""
).search
_is_address = re.compile(r"(?i)https?:|www\.|\S@\S+\.\S").search
_author_page = re.compile(r"(?i)/(?:authors?|autor(?:en|es)?|contributors?|by)/").search
_signed = re.compile(
    r' rel="[^"]*\bauthor\b[^"]*"[^>]*>(?:<[^>]+>){0,3}([^<]{3,60})'
).findall


def authors_of(facts: Facts) -> list[str]:
    """The names of the authors, from the first place that states a full name, else from
    the first that states any; at last, the organisation that the page names."""
    first: list[str] = []
    for values in chain(
        in_json(facts), (facts.declared.metas.get(name, []) for name in META)
    ):
        if names := names_in(values, facts.site):
            if any(" " in name for name in names):
                return names[:MOST]
            first = first or names
    if first and not first[0].islower():  # what is lower case is the name of an account
        return first[:MOST]
    for values in chain(in_marked_elements(facts), in_bylines(facts)):
        names = names_in(values, facts.site)
        if any(" " in name for name in names) or (names and not first):
            return names[:MOST]
    return (first or organisations(facts))[:MOST]


def organisations(facts: Facts) -> list[str]:
    """What the page names as its author, if that is no person."""
    for values in chain(
        in_json(facts, people=False),
        (facts.declared.metas.get(name, []) for name in META[:3]),
        in_bylines(facts),
    ):
        if names := names_in(values[:1], ""):
            return names[:1]
    return []


def in_json(facts: Facts, *, people: bool = True) -> Iterator[list[str]]:
    """The authors in JSON-LD, of articles first; organisations are none, unless they
    are asked for."""
    by_id = {node["@id"]: node for node in facts.declared.nodes if is_named(node)}
    for node in (*facts.items, *facts.pages):
        if "Review" in types_of(node) and "reviewRating" in node:
            continue
        said = node.get("author") or node.get("creator")
        values = said if isinstance(said, list) else [said]
        found = []
        for value in values:
            if isinstance(value, dict):
                if not people or "Organization" not in types_of(value):
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
    yield list(authors_within(facts.markup))
    if "author" in facts.markup:
        yield [found.strip() for found in _signed(facts.markup)[:1]]


def in_bylines(facts: Facts) -> Iterator[list[str]]:
    """Authors in lines near the title that say "by", or in lines named as such."""
    near = facts.near_title()
    for block in near:
        if len(block.text) <= LONGEST_LINE and not facts.is_aside(block):
            by = _by(block.text)
            if by and is_name(block.text[by.end() :]):
                yield [block.text[by.end() :]]
    for block in chain(near, facts.outline.blocks):
        if len(block.text) < LONGEST_LINE and is_authors(facts, block):
            yield from in_author_line(block)


def is_authors(facts: Facts, block: TextBlock) -> bool:
    """Whether a line is named after authors, and not among comments or the like."""
    boxes = facts.outline.boxes
    kinds = facts.kinds(block) | boxes[max(0, boxes[block.box].parent)].kinds
    return bool(kinds & AUTHOR and not kinds & COMMENT) and not facts.is_aside(block)


def in_author_line(block: TextBlock) -> Iterator[list[str]]:
    """The name in a line that is named after authors: a link to an author's page, what
    follows "by", or all of it if it looks like a name."""
    for start, end, _, target in block.marks:
        if target and _author_page(target) and is_name(block.text[start:end]):
            yield [block.text[start:end]]
    by = _by(block.text) or _by_within(block.text)
    text = block.text[by.end() :] if by else block.text
    cut = _after_name(text)
    name = text[: cut.start()] if cut else text
    words = len(name.split())
    is_told = by and words <= MOST_WORDS and (is_name(name) or words == 1)
    if is_told or (2 <= words <= 4 and is_written_as_name(name)):
        yield [name]


def is_name(text: str) -> bool:
    """Whether a text begins like a name: with a capital, where there are any."""
    return bool(text) and not text[0].islower()


def is_written_as_name(text: str) -> bool:
    """Whether every word of a text begins as in a name: Ludwig van Beethoven."""
    return all(is_name(word) or word in PARTICLES for word in text.split())


def names_in(values: Sequence[str], site: str) -> list[str]:
    """The names of people in values such as "By Jane Doe and John Roe"."""
    names: list[str] = []
    for value in values:
        if _is_address(value):
            continue
        by = _by(value)
        said = value[by.end() :] if by else value
        cut = _after_name(said)
        parts = _split(said[: cut.start()] if cut else said)
        if site and len(parts) > 1 and squeezed(parts[0]) == squeezed(site):
            continue  # the address of the publisher
        for part in parts:
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
