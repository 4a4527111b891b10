"""Collects what a page declares about itself: meta elements, links and JSON-LD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from opilio.read.markup import end_of_raw, unescaped

MOST = 2000  # elements that are looked at
MOST_NODES = 5000  # of JSON-LD
LONGEST_JSON = 2**20  # characters
DEEPEST_JSON = 20

_elements = re.compile(
    r'<(meta|link|html|title|script)((?: [^ ][^ =]*="[^"]*")*)>'
).finditer
_attributes = re.compile(' ([^ ][^ =]*)="([^"]*)"').findall
_control = re.compile(r"[\x00-\x1f]+").sub
_trailing_comma = re.compile(r",\s*([}\]])").sub
_comments = re.compile(
    r"^\s*(?:<!--|(?://\s*)?<!\[CDATA\[|/\*.*?\*/)|(?:-->|(?://\s*)?\]\]>);?\s*$"
).sub

Node = Mapping[str, Any]


@dataclass(slots=True)
class Declared:
    """What the elements of a page say about the whole of it."""

    title: str = ""
    language: str = ""
    metas: dict[str, list[str]] = field(default_factory=dict)  # by name, in lower case
    links: dict[str, list[str]] = field(default_factory=dict)  # rel -> href
    nodes: list[Node] = field(default_factory=list)  # of JSON-LD, all levels

    def meta(self, *names: str) -> str:
        """The first of these meta elements that says something."""
        for name in names:
            for value in self.metas.get(name, ()):
                if value:
                    return value
        return ""

    def types(self) -> list[str]:
        """The types of the nodes of JSON-LD, each once."""
        found = (kind for node in self.nodes for kind in types_of(node))
        return list(dict.fromkeys(found))


def declared_in(markup: str) -> Declared:
    """What serialised markup declares."""
    found = Declared()
    for number, element in enumerate(_elements(markup)):
        if number == MOST:
            break
        tag, given = element.groups()
        if tag == "title":
            if not found.title:
                end = markup.find("</title>", element.end())
                found.title = cleaned(unescaped(markup[element.end() : end][:2000]))
            continue
        attributes = {name: unescaped(value) for name, value in _attributes(given)}
        if tag == "meta":
            name = (
                attributes.get("property")
                or attributes.get("name")
                or attributes.get("itemprop")
                or attributes.get("http-equiv")
                or ""
            )
            value = cleaned(attributes.get("content", ""))
            found.metas.setdefault(name.lower(), []).append(value)
        elif tag == "link":
            for relation in attributes.get("rel", "").lower().split():
                href = attributes.get("href", "")
                found.links.setdefault(relation, []).append(href)
        elif tag == "html":
            found.language = attributes.get("lang", "") or attributes.get(
                "xml:lang", ""
            )
        elif "ld+json" in attributes.get("type", ""):
            end = end_of_raw(markup, "script", element.end())
            if end - element.end() <= LONGEST_JSON:
                read_json(markup[element.end() : end], found.nodes)
    return found


def cleaned(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def read_json(text: str, nodes: list[Node]) -> None:
    """Add the nodes of a piece of JSON-LD, all levels; careless JSON is repaired."""
    text = text.strip()
    for repair in (str, repaired):
        try:
            root = msgspec.json.decode(repair(text))
        except (msgspec.DecodeError, ValueError, RecursionError):
            continue
        nodes.extend(nodes_in(root, MOST_NODES - len(nodes)))
        return


def repaired(text: str) -> str:
    """JSON without control characters, trailing commas and comments around it."""
    text = _comments("", text.strip())
    return _trailing_comma(r"\1", _control(" ", text)).strip().rstrip(";")


def nodes_in(root: object, most: int) -> Iterator[Node]:
    """Every object in a piece of JSON, outer ones first."""
    waiting: list[tuple[object, int]] = [(root, 0)]
    place = 0
    while place < len(waiting) and most > 0:
        value, depth = waiting[place]
        place += 1
        if isinstance(value, dict):
            yield value
            most -= 1
            if depth < DEEPEST_JSON:
                waiting.extend((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list) and depth < DEEPEST_JSON:
            waiting.extend((inner, depth + 1) for inner in value)


def types_of(node: Node) -> list[str]:
    """The types of a node, without the address of their vocabulary."""
    said = node.get("@type", ())
    kinds = said if isinstance(said, list) else [said]
    return [kind.rpartition("/")[2] for kind in kinds if isinstance(kind, str)]


def text_in(value: object) -> str:
    """The text of a value: itself, its @value or name, or the first of a list."""
    if isinstance(value, str):
        return cleaned(unescape_twice(value))
    if isinstance(value, dict):
        return text_in(value.get("@value") or value.get("name") or "")
    if isinstance(value, list):
        return next((text for one in value if (text := text_in(one))), "")
    return ""


def unescape_twice(text: str) -> str:
    """JSON-LD often has the character references of HTML in it."""
    if "&" not in text:
        return text
    from html import unescape

    return unescape(text)
