"""Selects the links of a page that count, each URL once, in plain Python.

This is the slow version, used if nothing was compiled; `_walk` has the fast one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opilio.read.parsed_markup import Spot, clean
from opilio.records import Fingerprint, Link

if TYPE_CHECKING:
    from opilio.read.plain_walk import Passage

MAX_LINKS = 5000
MAX_ANCHOR = 300  # characters
MUCH = 4 * MAX_ANCHOR  # characters of markup looked at for an anchor
CONTEXT = 200  # characters on each side of a link (papers.md, A.7-9)

Target = tuple[str, Fingerprint]
"""The URL of a link and its fingerprint; "": none to follow."""


def find_links(
    line: str,
    passages: Sequence[Passage],
    targets: Sequence[Target],
    url: str,
    at_rank: Sequence[int],
    context: bool,
) -> tuple[list[Link], list[Spot]]:
    """The links that count and, if their context is asked for, where each is.

    `line` is the text on one line. The number of the block after each beginning and end
    of parts is given if it is known.
    """
    links, spots = [], []
    for (target, fingerprint), anchor, passage in choose(line, passages, targets, url):
        start, end = passage.start, passage.end
        first, last = reach_of(line, start, end) if context else (start, end)
        link = Link(
            target,
            fingerprint,
            anchor,
            line[first:start].strip(),
            line[end:last].strip(),
            passage.rel,
            at_rank[passage.rank] if at_rank else 0,
            passage.path if context else "",
        )
        links.append(link)
        if context:
            spots.append((first, start, end, last))
    return links, spots


def choose(
    line: str, passages: Sequence[Passage], targets: Sequence[Target], url: str
) -> list[tuple[Target, str, Passage]]:
    """The links that count, with their anchors.

    Of several links to one URL, the first counts, or the first that has an anchor.
    Links to the page itself do not count.
    """
    chosen: dict[str, tuple[Target, str, Passage]] = {}
    for passage, target in zip(passages, targets, strict=True):
        if not target[0] or target[0] == url:
            continue
        known = chosen.get(target[0])
        if known is None or not known[1]:
            start = passage.start  # long texts are not copied
            anchor = line[start : min(passage.end, start + MUCH)] or clean(passage.name)
            if known is None or anchor:
                chosen[target[0]] = target, tidy(anchor), passage
                if len(chosen) == MAX_LINKS:
                    break
    return list(chosen.values())


def tidy(anchor: str) -> str:
    """An anchor without control characters, cut to its limit."""
    if len(anchor) > MAX_ANCHOR or not anchor.isprintable():
        return clean(anchor, MAX_ANCHOR)
    return anchor


def reach_of(line: str, start: int, end: int) -> tuple[int, int]:
    """Where the words around a link begin and end."""
    first, last = start - CONTEXT, end + CONTEXT
    if first <= 0:
        first = 0
    elif (space := line.find(" ", first, start)) >= 0:
        first = space + 1
    if last >= len(line):
        last = len(line)
    elif (space := line.rfind(" ", end, last)) > end:
        last = space
    return first, last
