"""Extracts the main text of a page, without menus and footers."""

from __future__ import annotations

import turbohtml
from resiliparse.extract.html2text import extract_plain_text

from opilio.records import Response
from opilio.text import content

MOST_TAGS = 20_000  # real pages have fewer


def main_text(response: Response) -> str:
    """The main text of a page, one line per paragraph."""
    markup, _ = content.text(response.body, response.header("content-type"))
    document = turbohtml.parse(markup, positions=False)
    if markup.count("<") > MOST_TAGS:
        # resiliparse takes quadratic time over so much of it; then all text will do.
        return document.root.to_text().strip() if document.root else ""
    # It also does over deep nesting; turbohtml ends that at depth 512, as browsers do,
    # so what it writes is safe to hand on.
    text: str = extract_plain_text(document.html, main_content=True)
    return text.strip()
