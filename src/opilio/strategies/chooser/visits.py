"""What the default strategy notes of a visit; after a restart it learns from it again.

A note holds the evidence of each link as the page gave it, before anything that was
learnt is applied to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from opilio import urls
from opilio.types import (
    NOTHING,
    Counted,
    Fingerprint,
    Lease,
    Link,
    LinkPart,
    Page,
    Verdict,
)

Floats = npt.NDArray[np.float32]
Signed = npt.NDArray[np.int8]
Places = npt.NDArray[np.uint16]

WORD_BITS = 16
ANCHOR_WORDS = 6
NO_WORD = 0  # the place that stands for none
PAGE_WORDS = 512  # of a page, those that say most
RARITY_BITS = 18  # upper bits of a stem's hash, by which its rarity is known
PATHS = 1 << 16


class Visit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link that was visited, and what stood on its page, if there was one."""

    link: Fingerprint
    host: str
    is_page: bool = False
    score: float = 0.0
    words: bytes = b""  # places of the words that say most of the page, uint16
    shares: bytes = b""  # how much each of them says, uint8
    hosts: tuple[str, ...] = ()  # that its links lead to
    links: bytes = b""  # fingerprints, int64
    host_numbers: bytes = b""  # of each link, in `hosts`, uint16
    paths: bytes = b""  # places of host and tag path, uint16
    terms: bytes = b""  # keywords in address, anchor and surroundings, float32
    anchors: bytes = b""  # places of ANCHOR_WORDS words, uint16
    vectors: bytes = b""  # int8
    is_kept: bool = False
    caught: int = 0  # links to pages that were kept before

    @property
    def worth(self) -> float:
        """The score of a page that is kept, 0 of any other visit."""
        return self.score if self.is_kept else 0.0


class Links(NamedTuple):
    """The links of a page, row by row."""

    prints: list[Fingerprint]
    hosts: npt.NDArray[np.uint16]
    paths: Places
    terms: Floats
    anchors: Places
    vectors: Signed


def links_in(visit: Visit) -> Links:
    """The links of a note, as arrays."""
    prints = np.frombuffer(visit.links, "<i8")
    count = len(prints)
    return Links(
        prints.tolist(),
        np.frombuffer(visit.host_numbers, "<u2"),
        np.frombuffer(visit.paths, "<u2"),
        np.frombuffer(visit.terms, "<f4").reshape(count, 3),
        np.frombuffer(visit.anchors, "<u2").reshape(count, ANCHOR_WORDS),
        np.frombuffer(visit.vectors, np.int8).reshape(count, -1 if count else 0),
    )


def note(
    page: Page,
    links: Sequence[Link],
    verdict: Verdict,
    lease: Lease,
    weights: Mapping[str, float],
    rarity: Floats,
    caught: int = 0,
) -> Visit:
    """What is kept of a page and of those of its links that may still be visited."""
    names = [urls.host(link.url) for link in links]
    hosts = {name: number for number, name in enumerate(dict.fromkeys(names))}
    words, shares = page_words(page, rarity)
    return Visit(
        lease.fingerprint,
        lease.host,
        is_page=True,
        score=verdict.score,
        words=words.tobytes(),
        shares=shares.tobytes(),
        hosts=tuple(hosts),
        links=np.array([link.fingerprint for link in links], "<i8").tobytes(),
        host_numbers=np.array([hosts[name] for name in names], "<u2").tobytes(),
        paths=np.array(
            [
                path_place(name, link.path)
                for name, link in zip(names, links, strict=True)
            ],
            "<u2",
        ).tobytes(),
        terms=keyword_rows(links, weights).tobytes(),
        anchors=anchor_rows(links).tobytes(),
        vectors=b"".join([link.vector for link in links]),
        is_kept=verdict.relevant,
        caught=caught,
    )


def rarity_table(common: bytes) -> Floats:
    """How rare the words at each place are, by Subject.common; unknown ones are."""
    rarity = np.ones(1 << RARITY_BITS, np.float32)
    table = np.frombuffer(common, np.dtype([("place", "<u4"), ("rarity", "<f4")]))
    rarity[table["place"] >> (32 - RARITY_BITS)] = table["rarity"]
    return rarity


def page_words(page: Page, rarity: Floats) -> tuple[Places, npt.NDArray[np.uint8]]:
    """The places of the words that say most of a page, and how much each says:
    (1 + ln tf)·(0.05 + rarity²), as a share of the largest."""
    stems = np.frombuffer(page.stems, "<u8")
    counts = np.frombuffer(page.counts, "<u2")
    rare = rarity[(stems >> np.uint64(64 - RARITY_BITS)).astype(np.intp)]
    says = (1 + np.log(counts, dtype=np.float32)) * (0.05 + rare * rare)
    if len(says) > PAGE_WORDS:
        chosen = np.sort(np.argpartition(-says, PAGE_WORDS)[:PAGE_WORDS])
        stems, says = stems[chosen], says[chosen]
    most = float(says.max(initial=1e-9))
    places = (stems >> np.uint64(64 - WORD_BITS)).astype("<u2")
    return places, np.rint(says * (255 / most)).astype(np.uint8)


def anchor_rows(links: Sequence[Link]) -> Places:
    """The places of the words of each anchor."""
    rows = np.full((len(links), ANCHOR_WORDS), NO_WORD, "<u2")
    shift = np.uint32(29)
    for number, link in enumerate(links):
        if not link.words:
            continue
        codes = np.frombuffer(link.words, "<u4")
        own = codes[(codes >> shift) == LinkPart.ANCHOR][:ANCHOR_WORDS]
        rows[number, : len(own)] = (own & np.uint32(2**29 - 1)) >> np.uint32(
            29 - WORD_BITS
        )
    return rows


def keyword_rows(links: Sequence[Link], weights: Mapping[str, float]) -> Floats:
    """How much of the keywords is in the address, the anchor and around each link."""
    rows = np.zeros((len(links), 3), "<f4")
    for number, link in enumerate(links):
        if terms := link.terms:
            rows[number] = (
                presence(terms.url, weights),
                presence(terms.anchor, weights),
                presence(terms.around, weights),
            )
    return rows


def presence(found: Counted, weights: Mapping[str, float]) -> float:
    """1 − exp(−Σ w) over the keywords that are there."""
    if found is NOTHING or not found.terms:
        return 0.0
    return 1 - exp(-sum(weights.get(key, 0.0) for key in found.terms))


def path_place(host: str, path: str) -> int:
    """The place of a tag path on a host."""
    return xxh3_64_intdigest(f"{host} {path}".encode("utf-8", "replace")) % PATHS
