"""A document in; its links, each URL once, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from opilio import urls
from opilio.read.found import clean
from opilio.types import Link

if TYPE_CHECKING:
    from turbohtml import Document, Element

MAX_LINKS = 5000
MAX_ELEMENTS = 2 * MAX_LINKS  # that are looked at; many may lead to one URL
MAX_ANCHOR = 300  # characters

CODES = tuple(map(str, range(MAX_ELEMENTS)))  # of the marks of link elements
NO_BLOCKS: Mapping[str, int] = {}

FRAMES = ("iframe", "frame")
OTHER_LINKS = ("area", *FRAMES)
ANY_LINK = "a[href], area[href], iframe[src], frame[src]"


class LinkElements:
    """The elements of a document that lead elsewhere, and which of them count.

    Of the elements that lead to one URL, the first counts, or the first that has an
    anchor. Those that lead to `url`, the page's own, do not.
    """

    def __init__(self, document: Document, joiner: urls.Joiner, url: str) -> None:
        others = any(map(document.select_one, OTHER_LINKS))
        every = document.select(ANY_LINK if others else "a[href]")
        self.elements: list[Element] = every[:MAX_ELEMENTS]
        self.targets = joiner.join_all(  # URLs and fingerprints
            [element.attr("href") or address_of(element) for element in self.elements]
        )
        self.anchors = [" ".join(element.text.split()) for element in self.elements]
        self.lengths = list(map(len, self.anchors))  # in the text of the page
        self.chosen = self._choose()  # URL -> number of its element
        self.chosen.pop(url, None)

    def _choose(self) -> dict[str, int]:
        anchors, chosen = self.anchors, dict[str, int]()
        for number, (target, _) in enumerate(self.targets):
            if not target:
                continue
            known = chosen.get(target)
            if known is not None and anchors[known]:
                continue
            if not anchors[number]:
                anchors[number] = name_of(self.elements[number])
            if known is None or anchors[number]:
                chosen[target] = number
                if len(chosen) == MAX_LINKS:
                    break
        return chosen

    def links(self, blocks: Mapping[str, int] = NO_BLOCKS) -> list[Link]:
        """The links that count, in the order of the document, given their blocks."""
        elements, anchors = self.elements, self.anchors
        return [
            Link(
                url,
                self.targets[number][1],
                tidy(anchors[number]),
                rel=elements[number].attr("rel") or "",
                block=blocks.get(CODES[number], 0),
            )
            for url, number in self.chosen.items()
        ]


def address_of(element: Element) -> str:
    """The href of a link; the src of a frame, which loses what old browsers show."""
    if element.tag in FRAMES:
        element.clear()
        return element.attr("src") or ""
    return ""


def name_of(element: Element) -> str:
    """What stands for the anchor of a link without text: a picture's, or its title."""
    for image in element.select("img"):
        if alt := clean(image.attr("alt") or "", MAX_ANCHOR):
            return alt
    return clean(element.attr("alt") or element.attr("title") or "", MAX_ANCHOR)


def tidy(anchor: str) -> str:
    """An anchor, safe to keep."""
    if len(anchor) > MAX_ANCHOR or not anchor.isprintable():
        return clean(anchor, MAX_ANCHOR)
    return anchor
