"""The links in a text in; those that count, each URL once, out."""

from __future__ import annotations

from collections.abc import Sequence

from opilio import urls
from opilio.read import kernels
from opilio.read.found import Spot, clean
from opilio.read.plain_walk import Chosen, Passage
from opilio.types import Link

MAX_LINKS = 5000
MAX_ANCHOR = 300  # characters
MUCH = 4 * MAX_ANCHOR  # characters that are looked at for these


def links_of(
    line: str,
    passages: Sequence[Passage],
    joiner: urls.Joiner,
    url: str,
    at_rank: Sequence[int],
    *,
    context: bool,
) -> tuple[list[Link], list[Spot]]:
    """The links that count, and where each is, if the words around them are asked for.

    Given the text on one line, what leads elsewhere in it, the page's own URL, and its
    blocks, if they are known.
    """
    chosen = choose(line, passages, joiner, url)
    if context:
        return kernels.in_context(line, chosen, at_rank)
    links = [
        Link(
            target,
            fingerprint,
            anchor,
            rel=passage.rel,
            block=at_rank[passage.rank] if at_rank else 0,
        )
        for target, fingerprint, anchor, passage in chosen
    ]
    return links, []


def choose(
    line: str, passages: Sequence[Passage], joiner: urls.Joiner, url: str
) -> list[Chosen]:
    """The links that count.

    Of all that lead to one URL, the first counts, or the first that has an anchor.
    Those that lead to the page itself do not.
    """
    chosen: dict[str, Chosen] = {}
    targets = joiner.join_all([passage.href for passage in passages])
    for passage, (target, fingerprint) in zip(passages, targets, strict=True):
        if not target or target == url:
            continue
        known = chosen.get(target)
        if known is None or not known[2]:
            start = passage.start  # what is too long is not copied
            anchor = line[start : min(passage.end, start + MUCH)] or clean(passage.name)
            if known is None or anchor:
                chosen[target] = target, fingerprint, tidy(anchor), passage
                if len(chosen) == MAX_LINKS:
                    break
    return list(chosen.values())


def tidy(anchor: str) -> str:
    """An anchor, safe to keep."""
    if len(anchor) > MAX_ANCHOR or not anchor.isprintable():
        return clean(anchor, MAX_ANCHOR)
    return anchor
