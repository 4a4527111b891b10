"""A response in; the text a reader came for, without menus and footers, out."""

from __future__ import annotations

from resiliparse.extract.html2text import extract_plain_text

from opilio import content
from opilio.types import Response


def main_text(response: Response) -> str:
    """The main text of a page, paragraphs on lines of their own."""
    html, _ = content.text(response.body, response.header("content-type"))
    text: str = extract_plain_text(html, main_content=True)
    return text.strip()
