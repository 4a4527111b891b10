"""Markup as a parser writes it in; its visible text, links, headings and regions out.

The parser has mended what authors wrote: every element is closed where it must be, tags
and attributes look all alike, and < and > in texts are escaped. So one walk from the
first tag to the last finds everything, and knows where in the text it stands.

`walk` is the slow way, for where nothing could be compiled; `_walk` answers the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from opilio.read import tags
from opilio.read.tags import TAGS

EDITION = 1  # of what `_walk` must be compiled for
MOST_LINKS = 10_000  # that are told
MOST_PARTS = 20_000
LONGEST_NAME = 200  # characters of a class or id
LONGEST_PATH = 400  # characters
LONGEST_STEP = 20  # characters of a tag in a path

_blanks = re.compile("[ \t\n\r\f]+").sub
_attributes = re.compile(' (=?[^=]*)="([^"]*)"').findall
_entities = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": "\xa0", "&amp;": "&"}

LINKS = tags.LINK | tags.FRAME
PARTS = tags.HEADING | tags.SURE | tags.LIST | tags.NAMED
ASKED = LINKS | PARTS | tags.IMAGE  # whose attributes matter


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A link in a text."""

    href: str
    rel: str
    name: str  # of its picture or of itself, if it has no text
    path: str  # the tags from body on, joined by slashes; of a long one, the end
    start: int  # how many characters stand before it
    end: int
    rank: int  # how many parts have begun or ended before its end


class Part(msgspec.Struct, frozen=True, gc=False):
    """A heading, or what may be a region, in a text."""

    tag: str
    name: str  # its class and id
    role: str
    start: int
    end: int
    opened: int  # its beginning's place among all beginnings and ends of parts
    closed: int
    links: int  # in it
    linked: int  # characters of these


class Walk(NamedTuple):
    """What was met on the way through the markup of a page."""

    text: str  # lines that are not empty, without space at their ends
    links: list[Passage]  # in the order of their ends
    parts: list[Part]  # in the order of their ends


class Open(NamedTuple):
    """An element that has begun."""

    tag: str
    kind: int
    path: str
    start: int
    pieces: int  # of the text, before it
    attributes: dict[str, str]
    opened: int  # as in Part
    links: int  # before it
    linked: int
    is_told: bool


def walk(markup: str) -> Walk:
    """Walk through the markup that a parser has written."""
    walker = Walker()
    place = 0
    while True:
        tag = markup.find("<", place)
        if tag < 0:
            walker.say(markup[place:])
            return walker.finish()
        if tag > place:
            walker.say(markup[place:tag])
        last, begin = ("-->", tag + 4) if markup.startswith("<!--", tag) else (">", tag)
        end = markup.find(last, begin)
        if end < 0:
            return walker.finish()
        place = end + len(last)
        if markup[tag + 1] == "/":
            walker.close(markup[tag + 2 : end])
        elif markup[tag + 1] not in "!?":
            kind = walker.open(markup[tag + 1 : end])
            if kind & tags.RAW:
                name = markup[tag + 1 : end].partition(" ")[0]
                begin, place = place, markup.find(f"</{name}", place)
                place = len(markup) if place < 0 else place
                walker.say(markup[begin:place], raw=True)


class Walker:
    """Knows where it is in a document, and what it has seen."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0  # characters of these
        self.blank = ""  # what will stand before the next word
        self.hidden = self.kept_lines = 0  # elements of that kind that we are in
        self.stack: list[Open] = []
        self.links: list[Passage] = []
        self.parts: list[Part] = []
        self.rank = self.begun = 0
        self.met = self.linked = 0  # links, and characters of these
        self.names: list[str] = []  # of pictures in each link that we are in

    def say(self, text: str, *, raw: bool = False) -> None:
        """A text follows."""
        if self.hidden:
            return
        if "&" in text and not raw:
            text = unescaped(text)
        lines = text.split("\n") if self.kept_lines else (text,)
        for number, line in enumerate(lines):
            if number:
                self.blank = "\n"
            said = _blanks(" ", line)
            if said[:1] == " ":
                self.blank = self.blank or " "
                said = said[1:]
            if not said:
                continue
            ends = said[-1] == " "
            if ends:
                said = said[:-1]
            if self.pieces and self.blank:
                said = self.blank + said
            self.pieces.append(said)
            self.size += len(said)
            self.blank = " " if ends else ""

    def open(self, inside: str) -> int:
        """An element begins with this between < and >."""
        tag, _, _ = inside.partition(" ")
        kind = TAGS.get(tag, 0)
        if kind & tags.LINE:
            self.blank = "\n"
        attributes: dict[str, str] = {}
        if not self.hidden and kind & ASKED:
            attributes = dict(_attributes(inside, len(tag)))
        if kind & tags.IMAGE and self.names and not self.names[-1]:
            self.names[-1] = unescaped(attributes.get("alt", "")).strip()
        element = self.begin(tag, kind, attributes)
        if kind & (tags.VOID | tags.FRAME):
            if element.is_told:
                self.tell_link(element)
            element = element._replace(is_told=False)
        if not kind & tags.VOID:
            self.stack.append(element)
            self.hidden += bool(kind & tags.HIDDEN)
            self.kept_lines += bool(kind & tags.KEPT_LINES)
        return 0 if kind & tags.VOID else kind

    def begin(self, tag: str, kind: int, attributes: dict[str, str]) -> Open:
        """What is to be remembered of an element that begins."""
        told = not self.hidden and is_told(kind, attributes)
        if told and not kind & LINKS:
            told = self.begun < MOST_PARTS
            self.begun += told
        above = self.stack[-1].path if self.stack else ""
        if above:
            path = f"{above}/{tag[:LONGEST_STEP]}"[-LONGEST_PATH:]
        else:
            path = "body" if tag == "body" else ""
        place = self.size, len(self.pieces)
        counts = self.rank, self.met, self.linked
        if told and kind & LINKS:
            self.names.append("")
        elif told:
            self.rank += 1
        return Open(tag, kind, path, *place, attributes, *counts, told)

    def close(self, tag: str) -> None:
        """An element of this tag ends."""
        if not self.stack or self.stack[-1].tag != tag:
            return
        element = self.stack.pop()
        self.hidden -= bool(element.kind & tags.HIDDEN)
        self.kept_lines -= bool(element.kind & tags.KEPT_LINES)
        if element.is_told:
            if element.kind & tags.LINK:
                self.tell_link(element)
            else:
                self.tell_part(element)
        if element.kind & tags.LINE:
            self.blank = "\n"

    def tell_link(self, element: Open) -> None:
        """A link has ended."""
        attributes = element.attributes
        name, start = self.names.pop(), self.start_of(element)
        self.met += 1
        self.linked += self.size - start
        if len(self.links) == MOST_LINKS:
            return
        if start < self.size:
            name = ""
        elif not name:
            own = attributes.get("alt", "") or attributes.get("title", "")
            name = unescaped(own).strip()
        href = unescaped(attributes["src" if element.kind & tags.FRAME else "href"])
        rel = unescaped(attributes.get("rel", ""))
        place = start, self.size, self.rank
        self.links.append(Passage(href, rel, name, element.path, *place))

    def tell_part(self, element: Open) -> None:
        """A heading or region has ended."""
        closed, self.rank = self.rank, self.rank + 1
        given = element.attributes
        names = (
            unescaped(given.get(key, ""))[:LONGEST_NAME] for key in ("class", "id")
        )
        role = unescaped(given.get("role", ""))
        place = self.start_of(element), self.size, element.opened, closed
        inside = self.met - element.links, self.linked - element.linked
        self.parts.append(Part(element.tag, " ".join(names), role, *place, *inside))

    def start_of(self, element: Open) -> int:
        """Where the first word of an element stands that ends here."""
        said = self.pieces[element.pieces : element.pieces + 1]
        return element.start + (said != [] and said[0][0] in " \n")

    def finish(self) -> Walk:
        """All that was found."""
        while self.stack:
            self.close(self.stack[-1].tag)
        return Walk("".join(self.pieces), self.links, self.parts)


def is_told(kind: int, attributes: dict[str, str]) -> bool:
    """Is an element a link or a part of the page?"""
    if kind & tags.LINK:
        return "href" in attributes
    if kind & tags.FRAME:
        return "src" in attributes
    if kind & tags.NAMED:
        return not attributes.keys().isdisjoint(("class", "id", "role"))
    return bool(kind & (tags.HEADING | tags.SURE | tags.LIST))


def unescaped(text: str) -> str:
    """A text as its author meant it."""
    if "&" in text:
        for entity, character in _entities.items():
            text = text.replace(entity, character)
    return text
