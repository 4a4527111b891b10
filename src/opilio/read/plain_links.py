"""Selects the links of a page that count, each URL once, in plain Python.

This is the slow version, used if nothing was compiled; `_walk` has the fast one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from opilio.read.parsed_markup import Spot, clean
from opilio.records import Fingerprint, Link
from opilio.text.urls import fingerprint as fingerprint_of

if TYPE_CHECKING:
    from opilio.read.plain_walk import Hrefs, Passage

MAX_LINKS = 5000
MAX_ANCHOR = 300  # characters
MUCH = 4 * MAX_ANCHOR  # characters of markup looked at for an anchor

Places = npt.NDArray[np.int64]
Target = tuple[str, Fingerprint]
"""The URL of a link and its fingerprint; "": none to follow."""


def find_links(
    line: str,
    passages: Sequence[Passage | Fingerprint],
    targets: Sequence[Target],
    url: str,
    at_rank: Sequence[int],
    context: int,
    settled: Places | None = None,
    hrefs: Hrefs | None = None,
) -> tuple[list[Link], list[Spot], list[Fingerprint]]:
    """The links that count, and where each is, if the words around them are asked for;
    and the fingerprints of those that are settled.

    Given the text on one line, what leads elsewhere in it, and where (except for those
    that are known to be settled); the page's own URL; the number of the block after so
    many beginnings and ends of parts, if that is known; how many characters on each
    side of a link are asked for, 0 if none are; `SettledLinks.places`; and `hrefs`,
    into which those of settled links are put.
    """
    links, spots = [], []
    chosen, known = choose(line, passages, targets, url, settled)
    for (target, fingerprint), anchor, passage in chosen:
        start, end = passage.start, passage.end
        first, last = reach_of(line, start, end, context) if context else (start, end)
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
    return links, spots, known


def choose(
    line: str,
    passages: Sequence[Passage | Fingerprint],
    targets: Sequence[Target],
    url: str,
    settled: Places | None,
) -> tuple[list[tuple[Target, str, Passage]], list[Fingerprint]]:
    """The links that count, with their anchors, and the fingerprints of the settled.

    Of all that lead to one URL, the first counts, or the first that has an anchor.
    Those that lead to the page itself do not. A link that says how it is related to the
    page is never settled: that may forbid to follow it from here.
    """
    chosen: dict[Fingerprint, tuple[Target, str, Passage]] = {}
    known_already: dict[Fingerprint, None] = {}
    told, own = iter(targets), fingerprint_of(url)
    for passage in passages:
        if isinstance(passage, int):
            if passage not in chosen and passage != own:
                known_already[passage] = None
            continue
        target = next(told)
        if not target[0] or target[0] == url or target[1] in known_already:
            continue
        if (
            settled is not None
            and not passage.rel
            and target[1] not in chosen
            and settled[target[1] & (len(settled) - 1)] == target[1]
        ):
            known_already[target[1]] = None
            continue
        known = chosen.get(target[1])
        if known is None or not known[1]:
            start = passage.start  # long texts are not copied
            anchor = line[start : min(passage.end, start + MUCH)] or clean(passage.name)
            if known is None or anchor:
                chosen[target[1]] = target, tidy(anchor), passage
                if len(chosen) == MAX_LINKS:
                    break
    return list(chosen.values()), list(known_already)


def tidy(anchor: str) -> str:
    """An anchor without control characters, cut to its limit."""
    if len(anchor) > MAX_ANCHOR or not anchor.isprintable():
        return clean(anchor, MAX_ANCHOR)
    return anchor


def reach_of(line: str, start: int, end: int, context: int) -> tuple[int, int]:
    """Where the words around a link begin and end."""
    first, last = start - context, end + context
    if first <= 0:
        first = 0
    elif (space := line.find(" ", first, start)) >= 0:
        first = space + 1
    if last >= len(line):
        last = len(line)
    elif (space := line.rfind(" ", end, last)) > end:
        last = space
    return first, last
