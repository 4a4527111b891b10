"""Links and the text of their page in; the same with the words around them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from opilio.read.found import Spot
from opilio.read.links import CODES, LinkElements, tidy
from opilio.types import Link

if TYPE_CHECKING:
    from turbohtml import Element

CONTEXT = 200  # characters on each side of a link (papers.md, A.7-9)
MAX_PATH = 400  # characters
MAX_TAG = 20  # of one tag in a path
LONG = 1000  # characters of an anchor; in longer ones, spaces are not looked at
SLACK = 20  # spaces that an anchor may have more in the text


def paths_of_links(found: LinkElements) -> list[str]:
    """The path of each link that counts."""
    return paths_of(map(found.elements.__getitem__, found.chosen.values()))


def paths_of(elements: Iterable[Element]) -> list[str]:
    """The tags from body to each element, joined by slashes; of deep ones, the last."""
    known: dict[object, str] = {None: ""}
    paths = []
    for element in elements:
        parent = element.parent
        above = known.get(parent)
        if above is None:
            above = path_of(parent, known)
        paths.append(f"{above}/{element.tag}" if above else "")
    return paths


def path_of(node: Any, known: dict[object, str]) -> str:
    """The path of a node; those of its ancestors are known from now on."""
    unknown = []
    while (path := known.get(node)) is None:
        unknown.append(node)
        node = node.parent
    for node in reversed(unknown):
        if path:
            path = f"{path}/{node.tag[:MAX_TAG]}"[-MAX_PATH:]
        elif getattr(node, "tag", "") == "body":  # a document has no tag
            path = "body"
        known[node] = path
    return path


def links_in_context(
    found: LinkElements,
    paths: Iterable[str],
    line: str,
    places: Mapping[str, int],
    blocks: Mapping[str, int],
) -> tuple[list[Link], list[Spot]]:
    """The links that count with the words around them, and where each of them is.

    Given their paths, the text on one line, where the marks of links stand in it, and
    in which blocks they do.
    """
    elements, anchors, lengths = found.elements, found.anchors, found.lengths
    links, spots = [], []
    for (url, number), path in zip(found.chosen.items(), paths, strict=True):
        code, anchor, length = CODES[number], anchors[number], lengths[number]
        end = places.get(code)
        if end is None:
            first = start = end = last = 0
        else:
            start = end - length
            if length and line[start:end] != anchor:
                start, end = edges_of(line, end, anchor)
                anchor = shown(anchor, line[start:end])
            first, last = reach_of(line, start, end)
        links.append(
            Link(
                url,
                found.targets[number][1],
                tidy(anchor),
                line[first:start].strip(),
                line[end:last].strip(),
                elements[number].attr("rel") or "",
                blocks.get(code, 0),
                path,
            )
        )
        spots.append((first, start, end, last))
    return links, spots


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


def shown(anchor: str, text: str) -> str:
    """The anchor as it is seen: with a space where the text has a line break."""
    same = text and anchor.replace(" ", "") == text.replace(" ", "")
    return " ".join(text.split()) if same else anchor
