"""Links and the text of their page in; the same with the words around them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from opilio.read.found import Spot
from opilio.read.links import LinkElements, tidy
from opilio.types import Link

if TYPE_CHECKING:
    from turbohtml import Element

CONTEXT = 200  # characters on each side of a link (papers.md, A.7-9)
MAX_PATH = 400  # characters
MAX_TAG = 20  # of one tag in a path
LONG = 1000  # characters of an anchor; in longer ones, spaces are not looked at
SLACK = 20  # spaces that an anchor may have more in the text
NOWHERE = Spot(0, 0, 0, 0)
NO_BLOCKS: Mapping[str, int] = {}


def paths_of_links(found: LinkElements) -> list[str]:
    """The path of each link that counts."""
    return paths_of(map(found.elements.__getitem__, found.chosen.values()))


def paths_of(elements: Iterable[Element]) -> list[str]:
    """The tags from body to each element, joined by slashes; of deep ones, the last."""
    known: dict[object, str] = {}
    paths = []
    for element in elements:
        parent = element.parent
        above = known.get(parent)
        if above is None:
            above = path_of(parent, known)
        paths.append(f"{above}/{element.tag}" if above else "")
    return paths


def path_of(node: object, known: dict[object, str]) -> str:
    """The path of a node; those of its ancestors are known from now on."""
    unknown: list[object] = []
    while node is not None and node not in known:
        unknown.append(node)
        node = getattr(node, "parent", None)
    path = known.get(node, "")
    for node in reversed(unknown):
        tag = getattr(node, "tag", "")[:MAX_TAG]  # a document has none
        if path or tag == "body":
            path = f"{path}/{tag}"[-MAX_PATH:] if path else tag
        known[node] = path
    return path


def spots_of_links(
    found: LinkElements, line: str, places: Mapping[str, int]
) -> list[Spot]:
    """Where each link that counts is, given where its mark stands in the text."""
    anchors, lengths = found.anchors, found.lengths
    spots = []
    for number in found.chosen.values():
        end = places.get(str(number))
        anchor = anchors[number] if lengths[number] else ""
        spots.append(NOWHERE if end is None else spot_of(line, end, anchor))
    return spots


def spot_of(text: str, end: int, anchor: str) -> Spot:
    """Where a link and its context are in a text, given where its element ends."""
    start = end - len(anchor)
    if text[start:end] != anchor:
        start, end = edges_of(text, end, anchor)
    first, last = max(start - CONTEXT, 0), min(end + CONTEXT, len(text))
    if first > 0 and (space := text.find(" ", first, start)) >= 0:
        first = space + 1
    if last < len(text) and (space := text.rfind(" ", end, last)) > end:
        last = space
    return Spot(first, start, end, last)


def edges_of(text: str, end: int, anchor: str) -> tuple[int, int]:
    """Where an anchor is whose spaces differ from those of the text before `end`."""
    window = text[max(0, end - 2 * len(anchor) - SLACK) : end]
    trimmed = window.rstrip()
    end -= len(window) - len(trimmed)
    if len(anchor) <= LONG:
        letters = len(anchor.replace(" ", ""))
        for back, character in enumerate(reversed(trimmed)):
            if not letters:
                return end - back, end
            letters -= character != " "
    return max(0, end - len(anchor)), end


def placed_links(
    found: LinkElements,
    line: str,
    spots: Sequence[Spot],
    paths: Iterable[str],
    of_link: Mapping[str, int] = NO_BLOCKS,
) -> list[Link]:
    """The links that count, with the words around them, their paths and blocks."""
    elements, hrefs, joiner = found.elements, found.hrefs, found.joiner
    links = []
    every = zip(found.chosen.items(), spots or repeat(NOWHERE), paths, strict=False)
    for (url, number), (first, start, end, last), path in every:
        links.append(
            Link(
                url,
                joiner[hrefs[number]][1],
                tidy(shown(found.anchors[number], line[start:end])),
                line[first:start].strip(),
                line[end:last].strip(),
                elements[number].attr("rel") or "",
                of_link.get(str(number), 0),
                path,
            )
        )
    return links


def shown(anchor: str, text: str) -> str:
    """The anchor as it is seen: with a space where the text has a line break."""
    if anchor == text or not text:
        return anchor
    if anchor.replace(" ", "") != text.replace(" ", ""):
        return anchor
    return " ".join(text.split())
