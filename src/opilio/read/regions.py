"""A part of a page in; whether it is navigation, a footer or advertising out.

What its tag and its authors call it is a hint only: how much text and how many links it
holds decides, and makes a menu of a list that nothing else tells.
"""

from __future__ import annotations

from opilio.read.plain_walk import Part
from opilio.records import BlockKind

# A list is a menu if it holds so many links and little else.
MENU_LINKS = 4
MENU_SHARE = 0.8  # of its characters, in links
LARGE = 0.5  # share of the page's text above which a region is the page itself
MOSTLY_LINKS = 0.5


def region_of(part: Part, size: int, *, announced: bool) -> BlockKind | None:
    """What a part of a text of this size is, if it is more than a part.

    Wrappers of whole pages have such names too. What a heading has announced is no
    menu.
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
