"""Selects the links of a page that count, each URL once."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.read import kernels
from opilio.read.parsed_markup import Spot
from opilio.read.plain_walk import Passage
from opilio.read.settled_links import SettledLinks
from opilio.records import Fingerprint, Link
from opilio.text.link_joiner import Joiner


def links_of(
    line: str,
    passages: Sequence[Passage | Fingerprint],
    joiner: Joiner,
    url: str,
    at_rank: Sequence[int],
    settled: SettledLinks,
    hrefs: kernels.Hrefs | None = None,
    *,
    context: int,
) -> tuple[list[Link], list[Spot], list[Fingerprint]]:
    """The links that count, and where each is, if the words around them are asked for;
    of those that are settled, the fingerprints.

    `line` is the text on one line; blocks are given if they are known. `hrefs`
    remembers what is settled for the next page.
    """
    told = [passage.href for passage in passages if not isinstance(passage, int)]
    targets = joiner.join_all(told)
    return kernels.find_links(
        line, passages, targets, url, at_rank, context, settled.places, hrefs
    )
