"""Links and where they are among the words of a page in; their topic terms out.

Most links have none; those of the others are counted all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import msgspec
import numpy as np

from opilio.read.counting import Parts, Words
from opilio.read.found import Spot
from opilio.types import NOTHING, Counted, Link, LinkTerms

# The edges of a link are those of a Spot, of its address, and of the name that may
# stand for its anchor. Its parts, in the order of LinkTerms, are between these:
PARTS = 3
OWNERS = np.array((0, 0, 1, 1, 2))  # anchor, surroundings, address
BEGINS = np.array((1, 5, 0, 2, 4))
ENDS = np.array((2, 6, 1, 3, 5))


def with_terms(
    words: Words, links: list[Link], spots: Sequence[Spot], ends: Sequence[int]
) -> list[Link]:
    """The links with the terms in their anchors, surroundings and addresses.

    `ends` are the places where the text, the title and the page's own address end, and
    then, for each link, its address and the name that stands for its anchor.
    """
    if not spots or not len(words.hits):
        return links
    edges = np.empty((len(spots), 7), np.int64)
    places = np.fromiter(chain.from_iterable(spots), np.int64, 4 * len(spots))
    np.minimum(places.reshape(-1, 4), ends[0], out=edges[:, :4])
    after = np.array(ends)
    edges[:, 4], edges[:, 5], edges[:, 6] = after[2:-1:2], after[3::2], after[4::2]
    owners = OWNERS + PARTS * np.arange(len(spots))[:, None]
    parts = Parts(owners.ravel(), edges[:, BEGINS].ravel(), edges[:, ENDS].ravel())
    told: dict[int, list[Counted]] = {}
    for owner, counted in words.parts(parts).items():
        number, part = divmod(owner, PARTS)
        told.setdefault(number, [NOTHING] * PARTS)[part] = counted
    links = links.copy()
    for number, terms in told.items():
        links[number] = msgspec.structs.replace(links[number], terms=LinkTerms(*terms))
    return links
