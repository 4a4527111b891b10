"""Decides whether a part of a page is navigation, a footer or advertising.

Tags and names are only hints: the amount of text and the number of links decide. A list
of links can be a menu without any such name.
"""

from __future__ import annotations

from opilio.read.plain_walk import Part
from opilio.records import BlockKind

# A list is a menu if it has at least this many links and little else.
MENU_LINKS = 4
MENU_SHARE = 0.8  # of its characters, in links
LARGE = 0.5  # share of the page's text above which a region is the page itself
MOSTLY_LINKS = 0.5


def region_of(part: Part, size: int, *, announced: bool) -> BlockKind | None:
    """The kind of region of a part of a text of this size, if it is a region.

    Wrappers of whole pages may have such names, too. A list right after a heading
    (`announced`) is not a menu.
    """
    length = part.end - part.start
    share = part.linked / length if length else 1.0
    large = length > LARGE * size
    if (
        part.is_list
        and not (announced or large)
        and part.links >= MENU_LINKS
        and share >= MENU_SHARE
    ):
        return BlockKind.NAVIGATION
    told = part.told
    if not told or not (length or part.links):
        return None
    return told.kind if told.sure or not large or share > MOSTLY_LINKS else None
