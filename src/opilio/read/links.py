"""The links in a text in; those that count, each URL once, out."""

from __future__ import annotations

from collections.abc import Sequence

from opilio import urls
from opilio.read.found import Spot, clean
from opilio.read.plain_walk import Passage
from opilio.types import Link

MAX_LINKS = 5000
MAX_ANCHOR = 300  # characters
CONTEXT = 200  # characters on each side of a link (papers.md, A.7-9)


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
    blocks, if they are known. Of all that lead to one URL, the first counts, or the
    first that has an anchor. Those that lead to the page itself do not.
    """
    chosen: dict[str, int] = {}
    anchors: dict[int, str] = {}
    targets = joiner.join_all([passage.href for passage in passages])
    for number, (target, _) in enumerate(targets):
        known = chosen.get(target)
        if not target or (known is not None and anchors[known]):
            continue
        passage = passages[number]
        anchor = line[passage.start : passage.end] or clean(passage.name)
        if known is None or anchor:
            chosen[target] = number
            anchors[number] = tidy(anchor)
            if len(chosen) > MAX_LINKS:
                break
    chosen.pop(url, None)
    links, spots = [], []
    before = after = path = ""
    for target, number in list(chosen.items())[:MAX_LINKS]:
        passage = passages[number]
        if context:
            start, end, path = passage.start, passage.end, passage.path
            first, last = reach_of(line, start, end)
            before, after = line[first:start].strip(), line[end:last].strip()
            spots.append((first, start, end, last))
        links.append(
            Link(
                target,
                targets[number][1],
                anchors[number],
                before,
                after,
                passage.rel,
                at_rank[passage.rank] if at_rank else 0,
                path,
            )
        )
    return links, spots


def tidy(anchor: str) -> str:
    """An anchor, safe to keep."""
    if len(anchor) > MAX_ANCHOR or not anchor.isprintable():
        return clean(anchor, MAX_ANCHOR)
    return anchor


def reach_of(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the words around a link begin and end."""
    first, last = start - CONTEXT, end + CONTEXT
    if first <= 0:
        first = 0
    elif (space := text.find(" ", first, start)) >= 0:
        first = space + 1
    if last >= len(text):
        last = len(text)
    elif (space := text.rfind(" ", end, last)) > end:
        last = space
    return first, last
