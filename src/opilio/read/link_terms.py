"""Links and where they are among the words of a page in; their topic terms out.

Most links have none; those of the others are counted all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import msgspec

from opilio.read.counting import Words
from opilio.read.found import Spot
from opilio.read.plain_kernels import Part
from opilio.types import NOTHING, Counted, Link, LinkTerms

PARTS = 3  # as in LinkTerms: anchor, surroundings, address


def with_terms(
    words: Words, links: list[Link], spots: Sequence[Spot], ends: Sequence[int]
) -> list[Link]:
    """The links with the terms in their anchors, surroundings and addresses.

    `ends` are the places where the text, the title and the page's own address end, and
    then, for each link, its address and the name that stands for its anchor.
    """
    if not spots or not len(words.hits):
        return links
    parts: list[Part] = []
    addresses = zip(ends[2:-1:2], ends[3::2], ends[4::2], strict=True)
    each = zip(spots, addresses, strict=True)
    for anchor, (spot, (url, name, after)) in zip(count(0, PARTS), each, strict=False):
        first, start, end, last = spot
        if last > ends[0]:  # of a very long text, not all is counted
            first, start, end, last = (min(place, ends[0]) for place in spot)
        # The name that may stand for its anchor follows its address.
        parts += ((anchor, start, end), (anchor, name, after))
        parts += ((anchor + 1, first, start), (anchor + 1, end, last))
        parts.append((anchor + 2, url, name))
    told: dict[int, list[Counted]] = {}
    for owner, counted in words.parts(parts).items():
        number, part = divmod(owner, PARTS)
        told.setdefault(number, [NOTHING] * PARTS)[part] = counted
    links = links.copy()
    for number, terms in told.items():
        links[number] = msgspec.structs.replace(links[number], terms=LinkTerms(*terms))
    return links
