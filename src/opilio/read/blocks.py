"""Where headings, regions and links are in a text in; its blocks out.

Aastha's thesis, section 4.3: a block is a heading and what stands under it, tables and
all, up to the next heading. We differ: its pseudo-code would put the whole page into
one block, so blocks follow each other as in the document; each knows the block under
whose heading it stands; and navigation, footers and advertising are blocks of their
own, after which the block that they interrupt goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from typing import NamedTuple

from opilio.read.found import Section
from opilio.read.links import CODES
from opilio.types import BlockKind

MOST_BLOCKS = 200  # what follows belongs to the last

# A list is a menu if it holds so many links and little else.
MENU_LINKS = 4
MENU_SHARE = 0.8  # of its characters, in links
LARGE = 0.5  # share of the page's text above which a region is the page itself
MOSTLY_LINKS = 0.5
GAP = 20  # characters in which a heading and its list, or nothing, may stand

KINDS = HEADING, OPENS, CLOSES = "h", "<", ">"  # what codes of marks begin with


class Heading(NamedTuple):
    """A heading as it stands on the page."""

    level: int
    text: str


class Region(NamedTuple):
    """What is told of a part of a page before its text is seen."""

    kind: BlockKind
    sure: bool = False  # by its tag or role
    a_list: bool = False  # that nothing tells but the links in it


class Marks(NamedTuple):
    """What is marked in a text.

    A mark's code is "h" and the number of a heading, "<" or ">" and the number of a
    region, or the number of a link.
    """

    places: Mapping[str, int]  # code of each mark, in order -> where it stands
    headings: Sequence[Heading] = ()
    regions: Sequence[Region] = ()
    lengths: Sequence[int] = ()  # characters of each link


class Event(NamedTuple):
    """A mark that may begin or end a block."""

    kind: str
    number: int
    place: int
    rank: int  # among all marks
    links: int  # before it
    linked: int  # characters in these


class Outline:
    """The blocks of a text: the sections, and what of the text belongs to each."""

    def __init__(self, text: str, marks: Marks) -> None:
        self.sections = [Section()]
        self.cuts = [(0, 0)]  # (offset, number of the section from there on)
        self.of_link: dict[str, int] = {}  # code of its mark -> number of its section
        self._current = 0
        self._above: list[tuple[int, int]] = []  # levels and numbers of headings
        self._interrupted = 0  # the section that goes on after the region
        self._until = -1  # number of the region we are in
        codes, events = list(marks.places), list(events_of(marks))
        accepted = accept(text, marks, events)
        done = 0
        for kind, number, place, rank, _, _ in events:
            before = self._current
            if kind == HEADING:
                self._begin_heading(marks.headings[number], place)
            elif kind == OPENS:
                if number in accepted:
                    self._begin_region(marks.regions[number], place, number)
            elif number == self._until:
                self._until, self._current = -1, self._interrupted
                self.cuts.append((place, self._current))
            if self._current != before:
                self.of_link.update(dict.fromkeys(codes[done:rank], before))
                done = rank
        self.of_link.update(dict.fromkeys(codes[done:], self._current))

    def _begin_heading(self, heading: Heading, place: int) -> None:
        if self._until >= 0:
            return
        while self._above and self._above[-1][0] >= heading.level:
            self._above.pop()
        parent = self._above[-1][1] if self._above else -1
        if self._begin(Section(heading.text, heading.level, parent), place):
            self._above.append((heading.level, self._current))

    def _begin_region(self, region: Region, place: int, number: int) -> None:
        before = self._current
        if self._until < 0 and self._begin(Section(kind=region.kind), place):
            self._interrupted, self._until = before, number

    def _begin(self, section: Section, place: int) -> bool:
        if len(self.sections) == MOST_BLOCKS:
            return False
        self._current = len(self.sections)
        self.sections.append(section)
        self.cuts.append((place, self._current))
        return True


def events_of(marks: Marks) -> Iterator[Event]:
    """The marks of headings and regions, in order."""
    lengths = dict(zip(CODES, marks.lengths, strict=False))
    linked = accumulate(map(lengths.get, marks.places, repeat(0)))
    others = 0
    every = zip(marks.places.items(), linked, strict=True)
    for rank, ((code, place), characters) in enumerate(every):
        if code[0] in KINDS:
            links = rank - others
            yield Event(code[0], int(code[1:]), place, rank, links, characters)
            others += 1


def accept(text: str, marks: Marks, events: Iterable[Event]) -> set[int]:
    """The numbers of the regions that are blocks of their own."""
    accepted: set[int] = set()
    begun: dict[int, tuple[Event, bool]] = {}
    below = -1  # where the last heading ends
    for event in events:
        kind, number, place, _, links, linked = event
        if kind == HEADING:
            level, heading = marks.headings[number]
            # The site's name may stand above its menu, but what h2 announces is text.
            below = place + len(heading) if level > 1 else -1
        elif kind == OPENS:
            begun[number] = event, below >= 0 and is_blank(text, below, place)
        elif number in begun:
            start, announced = begun.pop(number)
            region, new = marks.regions[number], links - start.links
            size = place - start.place
            share = (linked - start.linked) / size if size else 1.0
            empty = not new and is_blank(text, start.place, place)
            if empty or (region.a_list and announced):
                continue
            if is_block(region, new, share, size > LARGE * len(text)):
                accepted.add(number)
    return accepted


def is_block(region: Region, links: int, share: float, large: bool) -> bool:
    """Is a region what is told of it? Wrappers of whole pages have such names too."""
    if region.a_list:
        return links >= MENU_LINKS and share >= MENU_SHARE and not large
    return region.sure or not large or share > MOSTLY_LINKS


def is_blank(text: str, start: int, end: int) -> bool:
    """Is there nothing to see between two places?"""
    return end - start <= GAP and not text[start:end].strip()
