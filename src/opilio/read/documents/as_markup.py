"""The HTML of a response, whatever kind of document it is."""

from __future__ import annotations

from opilio.records import Response
from opilio.text import content
from opilio.text.document_kinds import DocumentKind, kind_of


def markup_of(response: Response) -> tuple[bytes, str]:
    """The HTML of a page or document in UTF-8, rendered if it was, and the encoding
    that it had.

    Must be called in a reader process for all but pages; raises Unusable.
    """
    if response.rendered:
        return response.rendered, "utf-8"
    kind = kind_of(response)
    if kind is DocumentKind.HTML:
        return content.utf_8(response.body, response.header("content-type"))
    if kind is DocumentKind.PDF:
        from opilio.read.documents.pdf import pdf_markup  # many crawls meet none

        made = pdf_markup(response.body, response.url)
        return made.encode("utf-8", "replace"), "utf-8"
    text, charset = content.text(response.body, response.header("content-type"))
    if kind is DocumentKind.MARKDOWN:
        from opilio.read.documents.markdown import markdown_markup

        return markdown_markup(text).encode("utf-8", "replace"), charset
    from opilio.read.documents.plain_text import text_markup

    return text_markup(text).encode("utf-8", "replace"), charset
