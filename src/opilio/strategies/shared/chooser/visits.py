"""The note of the default strategy on a visit, from which it learns after a restart.

A note holds the evidence of each link as the page gave it, before anything that was
learnt is applied to it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from opilio.records import Fingerprint, Lease, Link, Page
from opilio.strategies.shared.chooser.loops import link_rows
from opilio.strategies.shared.chooser.plain_rows import (
    ANCHOR_WORDS,
    LINK_WORDS,
    WORD_BITS,
)
from opilio.text.meaning import Rarity, unpack_vectors
from opilio.text.page_words import shares_of_words
from opilio.vectors import codes
from opilio.vectors.codes import Codes

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.uint16]

PAGE_WORDS = 512  # words of a page with the greatest weights
SECTIONS = 1 << 16


class Visit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link that was visited, and the content of its page, if there was one."""

    link: Fingerprint
    host: str
    is_page: bool = False
    score: float = 0.0
    words: bytes = b""  # places of the words with the greatest weights, uint16
    shares: bytes = b""  # the weight of each of them, uint8
    hosts: tuple[str, ...] = ()  # that its links lead to
    links: bytes = b""  # fingerprints, int64
    host_numbers: bytes = b""  # of each link, in `hosts`, uint16
    sections: bytes = b""  # places of their sections, uint16; once of tag paths
    terms: bytes = b""  # keywords in address, anchor and surroundings, uint8
    link_words: bytes = b""  # places of LINK_WORDS words of each; once ANCHOR_WORDS
    vectors: bytes = b""  # their codes; of earlier versions int8
    sought: bytes = b""  # vectors of keywords, float32, if they changed
    is_kept: bool = False
    caught: int = 0  # links to pages that were kept before
    waiting: float = 0.0  # chances of links that wait and are not in `links`
    dimensions: int = 0  # of the vectors; 0 in notes of earlier versions
    is_dead: bool = False  # the server has no page there
    model: bytes = b""  # no visit: what was learnt is replaced by this
    is_doubted: bool = False  # pages of its domain repeat each other

    @property
    def worth(self) -> float:
        """The score of a page that is kept, 0 of any other visit."""
        return self.score if self.is_kept else 0.0


class Links(NamedTuple):
    """The links of a page, row by row."""

    prints: npt.NDArray[np.int64]
    hosts: npt.NDArray[np.uint16]
    sections: Places
    terms: npt.NDArray[np.uint8]
    words: Places
    vectors: Codes


def links_in(visit: Visit, dimensions: int) -> Links:
    """The links of a note, as arrays; vectors of other dimensions are zeros."""
    prints = np.frombuffer(visit.links, "<i8")
    count = len(prints)
    width = codes.width(dimensions)
    vectors: Codes = np.zeros((count, width), np.uint8)
    if visit.dimensions == dimensions and visit.vectors:
        vectors = np.frombuffer(visit.vectors, np.uint8).reshape(count, width)
    elif not visit.dimensions and len(visit.vectors) == count * dimensions > 0:
        vectors = codes.encode(unpack_vectors(visit.vectors, count))
    return Links(
        prints,
        np.frombuffer(visit.host_numbers, "<u2"),
        np.frombuffer(visit.sections, "<u2"),
        np.frombuffer(visit.terms, np.uint8).reshape(count, 3),
        words_in(visit.link_words, count),
        vectors,
    )


def words_in(packed: bytes, count: int) -> Places:
    """The places of the words of so many links; notes of earlier versions have only
    those of anchors."""
    places = np.frombuffer(packed, "<u2").reshape(count, -1 if count else LINK_WORDS)
    if places.shape[1] == LINK_WORDS:
        return places
    found = np.zeros((count, LINK_WORDS), "<u2")
    found[:, :ANCHOR_WORDS] = places
    return found


def note(
    page: Page,
    links: list[Link],
    score: float,
    lease: Lease,
    weights: dict[str, float],
    rarity: Rarity,
) -> Visit:
    """The note on a page and on those of its links that teach something."""
    words, shares = page_words(page, rarity)
    columns = link_rows(links, weights, section_place)
    vectors = np.zeros((0, 0), np.float32)
    if columns[-1]:
        vectors = unpack_vectors(columns[-1], len(links))
    return Visit(
        lease.fingerprint,
        lease.host,
        True,
        min(1.0, max(0.0, score)),
        words.tobytes(),
        shares.tobytes(),
        *columns[:-1],
        codes.encode(vectors).tobytes(),
        dimensions=vectors.shape[1],
    )


def page_words(page: Page, rarity: Rarity) -> tuple[Places, npt.NDArray[np.uint8]]:
    """The places of the words with the greatest weights of a page, and each weight as a
    share of the first one."""
    stems = np.frombuffer(page.stems, "<u8")
    says = rarity.weights(page.stems, page.counts)
    if len(says) > PAGE_WORDS:
        chosen = np.sort(np.argpartition(-says, PAGE_WORDS)[:PAGE_WORDS])
        stems, says = stems[chosen], says[chosen]
    return shares_of_words(stems, says, WORD_BITS)


@lru_cache(maxsize=2**14)
def section_place(host: str, section: str) -> int:
    """The place of a section of a host."""
    name = f"{host}/{section}".encode("utf-8", "replace")
    return xxh3_64_intdigest(name) % SECTIONS
