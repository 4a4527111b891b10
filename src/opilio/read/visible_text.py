"""A response in; the text that its visitors see out, as it was when it was counted."""

from __future__ import annotations

from opilio import content
from opilio.read import marks
from opilio.read.blocks import CLOSES, LARGE, OPENS
from opilio.read.document import UNSEEN
from opilio.read.html import parse
from opilio.read.regions import find_regions
from opilio.types import Response


def visible_text(response: Response) -> tuple[str, list[tuple[int, int]]]:
    """The text of a page, and from where to where it is menu, footer or advertising.

    Links are not looked at, so a list of nothing but links is text like any other.
    """
    markup, _ = content.text(response.body, response.header("content-type"))
    document = parse(markup.replace(marks.NUL, ""))
    for tag in UNSEEN:
        document.remove(tag)
    regions = [found for found in find_regions(document) if not found[1].a_list]
    marks.flatten(document)
    marks.mark_starts((element for element, _ in regions), OPENS)
    marks.mark_ends((element for element, _ in regions), CLOSES)
    text, places = marks.split(marks.render(document))
    beside = []
    for number, (_, region) in enumerate(regions):
        start = places.get(f"{OPENS}{number}", 0)
        end = places.get(f"{CLOSES}{number}", 0)
        # Wrappers of whole pages have such names, too.
        if start < end and (region.sure or end - start <= LARGE * len(text)):
            beside.append((start, end))
    return text, beside
