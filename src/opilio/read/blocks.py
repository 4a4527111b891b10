"""Splits the text of a page into blocks: a heading and the content under it.

Aastha's thesis, section 4.3: a block is a heading and everything under it, including
tables, up to the next heading. We differ: its pseudo-code would put the whole page into
one block, so blocks follow each other as in the document; each knows the block of the
heading above it; and navigation, footers and advertising are separate blocks, after
which the interrupted block continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from opilio.read.parsed_markup import MarkupSection, clean
from opilio.read.plain_walk import Part
from opilio.read.regions import region_of

MOST_BLOCKS = 200  # the rest of the page belongs to the last one
MAX_HEADING = 300  # characters
MOST_TOLD = 100  # headings recorded for a page


level_of = attrgetter("level")


class Outline(NamedTuple):
    """The blocks of a text: the sections, and which parts of the text are in each."""

    sections: Sequence[MarkupSection]
    cuts: Sequence[tuple[int, int]]  # (offset, number of the section from there on)
    at_rank: Sequence[int]  # section after this many beginnings and ends of parts


NO_OUTLINE = Outline((), (), ())


def outline_of(line: str, parts: Sequence[Part]) -> Outline:
    """The blocks of a text on one line, given its headings and regions."""
    sections, cuts, at_rank = [MarkupSection()], [(0, 0)], [0]
    above: list[tuple[int, int]] = []  # levels and numbers of the headings above
    current, interrupted = 0, 0  # the latter continues after the region
    until: Part | None = None  # the region we are in
    below = -1  # where the last heading ends that announces what follows
    for part, begins in in_order(parts):
        following = current
        level = part.level
        if not begins:
            if part is until:
                until, following = None, interrupted
                cuts.append((part.end, following))
        elif level:
            if until is None and len(sections) < MOST_BLOCKS:
                while above and above[-1][0] >= level:
                    above.pop()
                parent = above[-1][1] if above else -1
                following = len(sections)
                above.append((level, following))
                sections.append(MarkupSection(heading_of(line, part), level, parent))
                cuts.append((part.start, following))
            # The site's name may be above its menu, but text follows an h2.
            below = part.end if level > 1 else -1
        elif until is None and len(sections) < MOST_BLOCKS:
            announced = below >= 0 and part.start <= below + 1
            kind = region_of(part, len(line), announced=announced)
            if kind:
                interrupted, until, following = current, part, len(sections)
                sections.append(MarkupSection(kind=kind))
                cuts.append((part.start, following))
        current = following
        at_rank.append(current)
    return Outline(sections, cuts, at_rank)


def in_order(parts: Sequence[Part]) -> list[tuple[Part, bool]]:
    """The beginnings and ends of parts, in order."""
    found: list[tuple[Part, bool]] = [(part, True) for part in parts] * 2
    for part in parts:
        found[part.opened] = part, True
        found[part.closed] = part, False
    return found


def heading_of(line: str, part: Part) -> str:
    """The text of a heading."""
    return clean(line[part.start : part.end], MAX_HEADING)


def told_headings(line: str, parts: Sequence[Part]) -> list[str]:
    """The headings of a page, the highest first."""
    headings = sorted(filter(level_of, parts), key=level_of)
    said = (heading_of(line, part) for part in headings[:MOST_TOLD])
    return [heading for heading in said if heading]
