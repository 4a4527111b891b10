"""Walks through markup and collects visible text, links, headings and regions.

The markup was serialised by a parser or tidied: every element is closed, tags and
attributes are written in one way, and < and > in texts are escaped. So one walk from
the first tag to the last finds everything and its place in the text.

This is the slow version, used if nothing was compiled; `_walk` has the fast one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile
from typing import NamedTuple

import msgspec

from opilio.read import tags
from opilio.read.markup import attributes_of, end_of_raw, is_shadow, unescaped
from opilio.read.plain_links import Places, find_links
from opilio.read.region_names import Told, told_of
from opilio.read.tags import TAGS
from opilio.records import Fingerprint

__all__ = [
    "EDITION",
    "Declared",
    "Hrefs",
    "Part",
    "Passage",
    "Walk",
    "find_links",
    "walk",
]

EDITION = 9  # the version of `_walk` that is needed
MOST_LINKS = 10_000  # of a page
MOST_PARTS = 20_000
MOST_DECLARED = 1000
LONGEST_PATH = 400  # characters
LONGEST_STEP = 20  # characters of a tag in a path

LINKS = tags.LINK | tags.FRAME
REGIONS = tags.SURE | tags.LIST | tags.NAMED
ASKED = LINKS | REGIONS | tags.HEADING | tags.IMAGE  # whose attributes are read

_blanks = re.compile("[ \t\n\r\f]+").sub


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A link in a text."""

    href: str
    rel: str
    name: str  # of its picture or of itself, if it has no text
    path: (
        str  # the tags from <body> down, joined by slashes; only the end of a long one
    )
    start: int  # how many characters stand before it
    end: int
    rank: int  # how many parts have begun or ended before its end


class Part(msgspec.Struct, frozen=True, gc=False):
    """A heading or a possible region in a text."""

    level: int  # of a heading; 0: it is none
    told: Told | None  # what its names say about it
    is_list: bool
    start: int
    end: int
    opened: int  # its beginning's place among all beginnings and ends of parts
    closed: int
    links: int  # in it
    linked: int  # characters of these


Declared = tuple[str, dict[str, str]]
"""An element about the whole page: its tag and attributes. The text of a title is an
attribute without a name."""


class Walk(NamedTuple):
    """What a walk through the markup of a page found."""

    text: str  # lines that are not empty, without space at their ends
    links: list[Passage | Fingerprint]
    """In the order of their ends; of settled ones perhaps the fingerprint alone."""
    parts: list[Part]  # in the order of their ends
    declared: list[Declared]


@dataclass(slots=True)
class Begun:
    """A link or part that has begun, and the counts before it."""

    attributes: dict[str, str]
    told: Told | None
    start: int  # characters
    pieces: int
    opened: int
    links: int
    linked: int
    picture: str = ""  # the name of the first one in it


class Hrefs:
    """The hrefs of settled links, which `_walk` remembers; here none are."""

    def enter(self, folder: str) -> None:
        """The next page is in this folder."""


def walk(
    markup: str | bytes, hrefs: Hrefs | None = None, settled: Places | None = None
) -> Walk:
    """Walk through markup that was serialised by a parser or tidied.

    Given hrefs and `SettledLinks.places`, settled links may be told by their
    fingerprints alone.
    """
    if isinstance(markup, bytes):
        markup = markup.decode()
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
            name, _, _ = markup[tag + 1 : end].partition(" ")
            if TAGS.get(name, 0) & tags.DECLARES:
                said = max(place, markup.find("<", place))
                given = markup[tag + 1 + len(name) : end]
                walker.declare(name, given, markup[place:said])
            if walker.open(name, markup[tag + 1 + len(name) : end]) & tags.RAW:
                begin, place = place, end_of_raw(markup, name, place)
                walker.say(markup[begin:place], raw=True)


class Walker:
    """The state of a walk through a document."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0  # characters of these
        self.blank = ""  # the white space before the next word
        self.hidden = self.kept_lines = 0  # elements of that kind that we are in
        self.stack: list[tuple[str, int, Begun | None]] = []
        self.inside: list[Begun] = []  # the links that we are in
        self.links: list[Passage | Fingerprint] = []
        self.parts: list[Part] = []
        self.declared: list[Declared] = []
        self.rank = self.begun = 0
        self.met = self.linked = 0  # links, and characters of these

    def say(self, text: str, *, raw: bool = False) -> None:
        """Handle a text."""
        if self.hidden:
            return
        if "&" in text and not raw:
            text = unescaped(text)
        for number, line in enumerate(text.split("\n") if self.kept_lines else [text]):
            if number:
                self.blank = "\n"
            said = _blanks(" ", line)
            if said[:1] == " ":
                self.blank = self.blank or " "
                said = said[1:]
            if said:
                words = said.removesuffix(" ")
                if self.pieces and self.blank:
                    words = self.blank + words
                self.pieces.append(words)
                self.size += len(words)
                self.blank = " " if said[-1] == " " else ""

    def declare(self, tag: str, given: str, title: str) -> None:
        """Handle an element about the whole page, or a picture."""
        if tag == "title" and not self.hidden:
            self.see(title)
        if len(self.declared) < MOST_DECLARED:
            said = attributes_of(given) | ({"": title} if tag == "title" else {})
            values = {name: unescaped(value) for name, value in said.items()}
            self.declared.append((tag, values))

    def open(self, tag: str, given: str) -> int:
        """Handle a start tag; returns the element's kind, if it has an end."""
        kind = TAGS.get(tag, 0)
        if kind & tags.SHADOW and is_shadow(given):
            kind = kind ^ tags.HIDDEN | tags.LINE
        if kind & tags.LINE:
            self.blank = "\n"
        begun = None
        if kind & ASKED and not self.hidden:
            attributes = attributes_of(given)
            if kind & tags.IMAGE:
                self.see(attributes.get("alt", ""))
            else:
                begun = self.begin(tag, kind, attributes)
        if begun and kind & (tags.VOID | tags.FRAME):
            self.tell_link(tag, kind, begun)
            begun = None
        if kind & tags.VOID:
            return 0
        self.stack.append((tag, kind, begun))
        self.hidden += bool(kind & tags.HIDDEN)
        self.kept_lines += bool(kind & tags.KEPT_LINES)
        return kind

    def see(self, name: str) -> None:
        """Handle a picture; its name may be that of the link around it."""
        if self.inside and not self.inside[-1].picture:
            self.inside[-1].picture = unescaped(name).strip()

    def begin(self, tag: str, kind: int, attributes: dict[str, str]) -> Begun | None:
        """The record of an element, if it is a link or a part."""
        told = None
        if "xlink:href" in attributes:  # in drawings
            attributes.setdefault("href", attributes["xlink:href"])
        if kind & REGIONS:
            names = (attributes.get(name, "") for name in ("class", "id", "role"))
            told = told_of(tag, *map(unescaped, names))
        elif (
            kind & LINKS and ("src" if kind & tags.FRAME else "href") not in attributes
        ):
            return None
        if not kind & LINKS:
            if self.begun == MOST_PARTS or (kind & tags.NAMED and not told):
                return None
            self.begun += 1
        before = self.rank, self.met, self.linked
        begun = Begun(attributes, told, self.size, len(self.pieces), *before)
        if kind & LINKS:
            self.inside.append(begun)
        else:
            self.rank += 1
        return begun

    def close(self, name: str) -> None:
        """Handle an end tag."""
        if not self.stack or self.stack[-1][0] != name:
            return
        tag, kind, begun = self.stack.pop()
        self.hidden -= bool(kind & tags.HIDDEN)
        self.kept_lines -= bool(kind & tags.KEPT_LINES)
        if begun and kind & tags.LINK:
            self.tell_link(tag, kind, begun)
        elif begun:
            self.tell_part(tag, kind, begun)
        if kind & tags.LINE:
            self.blank = "\n"

    def tell_link(self, tag: str, kind: int, begun: Begun) -> None:
        """Record a link that has ended."""
        given, start = begun.attributes, self.start_of(begun)
        self.inside.pop()
        self.met += 1
        self.linked += self.size - start
        if len(self.links) == MOST_LINKS:
            return
        name = ""
        if start == self.size:
            own = given.get("alt", "") or given.get("title", "")
            name = begun.picture or unescaped(own).strip()
        href = unescaped(given["src" if kind & tags.FRAME else "href"])
        rel = unescaped(given.get("rel", ""))
        place = start, self.size, self.rank
        self.links.append(Passage(href, rel, name, self.path_to(tag), *place))

    def tell_part(self, tag: str, kind: int, begun: Begun) -> None:
        """Record a heading or region that has ended."""
        what = int(tag[1]) if kind & tags.HEADING else 0, begun.told
        place = self.start_of(begun), self.size, begun.opened, self.rank
        inside = self.met - begun.links, self.linked - begun.linked
        self.parts.append(Part(*what, bool(kind & tags.LIST), *place, *inside))
        self.rank += 1

    def start_of(self, begun: Begun) -> int:
        """The place of the first word of the element that ends here."""
        said = self.pieces[begun.pieces : begun.pieces + 1]
        return begun.start + (said != [] and said[0][0] in " \n")

    def path_to(self, tag: str) -> str:
        """The path of an element in the innermost one."""
        above = dropwhile("body".__ne__, (element[0] for element in self.stack))
        steps = [step[:LONGEST_STEP] for step in above]
        return "/".join((*steps, tag))[-LONGEST_PATH:] if steps else ""

    def finish(self) -> Walk:
        """All that was found."""
        while self.stack:
            self.close(self.stack[-1][0])
        return Walk("".join(self.pieces), self.links, self.parts, self.declared)
