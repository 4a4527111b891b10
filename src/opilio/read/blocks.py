"""Where headings, regions and links are in a text in; its blocks out.

Aastha's thesis, section 4.3: a block is a heading and what stands under it, tables and
all, up to the next heading. We differ: its pseudo-code would put the whole page into
one block, so blocks follow each other as in the document; each knows the block under
whose heading it stands; and navigation, footers and advertising are blocks of their
own, after which the block that they interrupt goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, repeat
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


Heading = tuple[int, str]
"""Level and text of a heading."""


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


Event = tuple[str, int, int, int]
"""A mark that may begin or end a block: kind, number, place, rank among all marks."""


class Outline(NamedTuple):
    """The blocks of a text: the sections, and what of the text belongs to each."""

    sections: Sequence[Section]
    cuts: Sequence[tuple[int, int]]  # (offset, number of the section from there on)
    of_link: Mapping[str, int]  # code of its mark -> number of its section


NO_OUTLINE = Outline((), (), {})


def outline_of(text: str, marks: Marks) -> Outline:
    """The blocks that the marks in a text make of it."""
    sections, cuts = [Section()], [(0, 0)]
    of_mark: list[int] = []  # number of the section that each mark stands in
    above: list[tuple[int, int]] = []  # levels and numbers of the headings above
    current, interrupted = 0, 0  # the latter goes on after the region
    until = -1  # number of the region we are in
    events = events_of(marks.places)
    accepted = accept(text, marks, events) if marks.regions else ()
    for kind, number, place, rank in events:
        if kind == CLOSES:
            if number != until:
                continue
            until, following = -1, interrupted
        elif until >= 0 or len(sections) == MOST_BLOCKS:
            continue
        elif kind == HEADING:
            level, heading = marks.headings[number]
            while above and above[-1][0] >= level:
                above.pop()
            parent = above[-1][1] if above else -1
            following = len(sections)
            above.append((level, following))
            sections.append(Section(heading, level, parent))
        elif number in accepted:
            interrupted, until, following = current, number, len(sections)
            sections.append(Section(kind=marks.regions[number].kind))
        else:
            continue
        cuts.append((place, following))
        of_mark += [current] * (rank - len(of_mark))
        current = following
    of_link = dict(zip(marks.places, chain(of_mark, repeat(current)), strict=False))
    return Outline(sections, cuts, of_link)


def events_of(places: Mapping[str, int]) -> list[Event]:
    """The marks of headings and regions, in order."""
    return [
        (code[0], int(code[1:]), place, rank)
        for rank, (code, place) in enumerate(places.items())
        if not code.isdecimal()  # as the codes of links are
    ]


def accept(text: str, marks: Marks, events: Iterable[Event]) -> set[int]:
    """The numbers of the regions that are blocks of their own."""
    accepted: set[int] = set()
    lengths = dict(zip(CODES, marks.lengths, strict=False))
    each = map(lengths.get, marks.places, repeat(0))
    linked = list(accumulate(each, initial=0))  # characters of links before each mark
    begun: dict[int, tuple[int, int, int, bool]] = {}
    below = -1  # where the last heading ends
    for others, (kind, number, place, rank) in enumerate(events):
        links = rank - others  # before this mark
        if kind == HEADING:
            level, heading = marks.headings[number]
            # The site's name may stand above its menu, but what h2 announces is text.
            below = place + len(heading) if level > 1 else -1
        elif kind == OPENS:
            announced = below >= 0 and is_blank(text, below, place)
            begun[number] = place, links, linked[rank], announced
        elif number in begun:
            start, links_before, linked_before, announced = begun.pop(number)
            region, new = marks.regions[number], links - links_before
            if region.a_list and (announced or new < MENU_LINKS):
                continue
            if not new and is_blank(text, start, place):
                continue
            size = place - start
            share = (linked[rank] - linked_before) / size if size else 1.0
            if is_block(region, share, size > LARGE * len(text)):
                accepted.add(number)
    return accepted


def is_block(region: Region, share: float, large: bool) -> bool:
    """Is a region what is told of it? Wrappers of whole pages have such names too.

    Told by the share of its characters that are in links, and whether it is large.
    """
    if region.a_list:
        return share >= MENU_SHARE and not large
    return region.sure or not large or share > MOSTLY_LINKS


def is_blank(text: str, start: int, end: int) -> bool:
    """Is there nothing to see between two places?"""
    return end - start <= GAP and not text[start:end].strip()
