"""Pages with links as the reader would hand them over, for strategies that learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opilio.protocols import Reviser
from opilio.read.term_tree import hash_of
from opilio.records import Lease, Link, LinkPart, Page, Verdict
from opilio.text import urls, words

GOOD, BAD = Verdict(0.8, True), Verdict(0.1, False)


def link(url: str, anchor: str = "", path: str = "body/a") -> Link:
    """A link with the words of its anchor."""
    stems = words.stem(words.tokens(anchor))
    codes = [LinkPart.ANCHOR << 29 | hash_of(stem) >> 35 for stem in stems]
    return Link(
        url,
        urls.fingerprint(url),
        anchor,
        path=path,
        words=np.array(codes, "<u4").tobytes(),
    )


def page(url: str, links: Sequence[Link] = (), text: str = "") -> Page:
    """A page with links and the vector of a text."""
    hashes = np.array([hash_of(stem) for stem in words.tokens(text)], np.uint64)
    stems, counts = np.unique(hashes, return_counts=True)
    return Page(
        url=url,
        title="",
        language="en",
        charset="utf-8",
        words=len(hashes),
        terms={},
        norm=1.0,
        simhash=0,
        links=links,
        stems=stems.astype("<u8").tobytes(),
        counts=counts.astype("<u2").tobytes(),
    )


def lease(url: str, promise: float = 0.0, depth: int = 0) -> Lease:
    """The right to visit a URL."""
    return Lease(1, url, urls.fingerprint(url), "a.test", promise, depth)


def told_by(strategy: Reviser) -> dict[int, float]:
    """What a strategy revises: fingerprints and promises."""
    return {new[0]: new[1] for new in strategy.revise()}
