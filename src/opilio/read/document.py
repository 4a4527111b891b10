"""A parsed document in; all that we want of it out.

The words around links and the blocks are only looked for when they are asked for. The
document is changed on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opilio import urls
from opilio.read import marks
from opilio.read.blocks import (
    CLOSES,
    HEADING,
    NO_OUTLINE,
    OPENS,
    Heading,
    Marks,
    Region,
    outline_of,
)
from opilio.read.context import links_in_context, paths_of_links
from opilio.read.found import Found, clean
from opilio.read.head import base_of, head_of
from opilio.read.links import LinkElements
from opilio.read.regions import find_regions

if TYPE_CHECKING:
    from turbohtml import Document, Element

UNSEEN = ("noscript", "template", "select", "textarea")  # by who reads the page
MAX_HEADINGS = 1000  # of one level
MAX_HEADING = 300  # characters
MOST_TOLD = 100  # headings that a page tells of itself


def extract(
    document: Document,
    url: str,
    *,
    context: bool = False,
    blocks: bool = False,
    headings: bool = False,
) -> Found:
    """What the document at this URL says."""
    joiner = urls.Joiner(url, base_of(document))
    head = head_of(document, url, joiner)
    # At once: the parser makes its index of tags anew after a change.
    if unseen := list(filter(document.select_one, UNSEEN)):
        document.remove(", ".join(unseen))
    links = LinkElements(document, joiner, url)
    headed = find_headings(document) if blocks or headings else []
    told = [text for _, (_, text) in headed if text][:MOST_TOLD] if headings else []
    if not context and not blocks:
        marks.flatten(document)
        return Found(head, marks.render(document), links.links(), headings=told)
    headed = headed if blocks else []
    regions = find_regions(document) if blocks else []
    paths = paths_of_links(links) if context else []
    text, places = marked_text(document, links, headed, regions)
    line = text.replace("\n", " ")
    outline = NO_OUTLINE
    if blocks:
        marked = [heading for _, heading in headed], [region for _, region in regions]
        outline = outline_of(line, Marks(places, *marked, links.lengths))
    sections, cuts, of_link = outline
    if not context:
        return Found(head, text, links.links(of_link), (), sections, cuts, told)
    placed, spots = links_in_context(links, paths, line, places, of_link)
    return Found(head, text, placed, spots, sections, cuts, told)


def find_headings(document: Document) -> list[tuple[Element, Heading]]:
    """The headings, one level after the other."""
    return [
        (element, (level, clean(element.text, MAX_HEADING)))
        for level in range(1, 7)
        for element in document.select(f"h{level}")[:MAX_HEADINGS]
    ]


def marked_text(
    document: Document,
    links: LinkElements,
    headings: list[tuple[Element, Heading]],
    regions: list[tuple[Element, Region]],
) -> tuple[str, dict[str, int]]:
    """The text of a document, and where links, headings and regions are in it."""
    marks.flatten(document)
    marks.mark_ends(links.elements)
    marks.mark_starts((element for element, _ in headings), HEADING)
    marks.mark_starts((element for element, _ in regions), OPENS)
    marks.mark_ends((element for element, _ in regions), CLOSES)
    return marks.split(marks.render(document))
