"""A response in; the text that its visitors see out, as it was when it was counted."""

from __future__ import annotations

from opilio import content
from opilio.read import marks
from opilio.read.document import UNSEEN
from opilio.read.html import parse
from opilio.types import Response


def visible_text(response: Response) -> str:
    """The text of a page, menus and all."""
    markup, _ = content.text(response.body, response.header("content-type"))
    document = parse(markup.replace(marks.NUL, ""))
    for tag in UNSEEN:
        document.remove(tag)
    marks.flatten(document)
    return marks.render(document)
