"""Makes vectors of links, and of title, opening (60 words) and text (400 words) of
pages, from the vectors of their words.

    e = u(u v(anchor) + .5 u v(words around it) + .3 u v(heading of its block))

v is the sum over words, u the unit vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from opilio.read import kernels
from opilio.read.link_words import Headings
from opilio.read.parsed_markup import ParsedMarkup
from opilio.read.plain_tree import Integers
from opilio.read.stems import Runs
from opilio.read.term_counts import Words
from opilio.read.word_vector_cache import WordRows
from opilio.records import Link

# The columns of a link are its anchor, the name that replaces it, the words before and
# after it, and the heading; this is which of them are added up, and the sums' weights.
GROUPS = np.array([0, 0, 1, 1, 2], np.int64)
WEIGHTS = np.array([1.0, 0.5, 0.3], np.float32)
TITLE, OPENING, TEXT = 20, 60, 400  # words of a page
ONE_GROUP, ONE_WEIGHT = np.zeros(1, np.int64), np.ones(1, np.float32)


def with_vectors(
    known: WordRows,
    words: Words,
    links: list[Link],
    found: ParsedMarkup,
    ends: list[int],
    headings: Headings,
) -> tuple[list[Link], bytes]:
    """The links with their vectors, and the three of the page: title, opening, text.

    `ends` as for `Words.links`, `headings` of the blocks that links are in.
    """
    runs = words.runs
    if runs is None:
        return links, b""
    begins, stops = page_parts(runs, ends)
    if found.spots:
        of_links = kernels.link_stretches(runs.starts, found.spots, ends, headings)
        every = [np.concatenate((begins, of_links[0].ravel()))]
        every += [np.concatenate((stops, of_links[1].ravel()))]
        rows = known.rows(runs, every[0], every[1], words.told)
        data = kernels.blend(known.matrix, rows, *of_links, GROUPS, WEIGHTS)
        size = known.vectors.size
        links = [
            msgspec.structs.replace(link, vector=data[at : at + size])
            for link, at in zip(links, range(0, len(data), size), strict=True)
        ]
    else:
        rows = known.rows(runs, begins, stops, words.told)
    columns = begins.reshape(-1, 1), stops.reshape(-1, 1)
    page = kernels.blend(known.matrix, rows, *columns, ONE_GROUP, ONE_WEIGHT)
    return links, page


def page_parts(runs: Runs, ends: Sequence[int]) -> tuple[Integers, Integers]:
    """The first run of title, opening and text, and the one after it."""
    text, title = np.searchsorted(runs.starts, ends[:2]).tolist()
    begins = np.array([text, 0, 0], np.int64)
    stops = np.array([min(title, text + TITLE), min(text, OPENING), min(text, TEXT)])
    return begins, stops
