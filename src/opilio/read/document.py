"""A parsed document in; all that we want of it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opilio import urls
from opilio.read import kernels
from opilio.read.blocks import NO_OUTLINE, outline_of, told_headings
from opilio.read.found import Found
from opilio.read.head import first_of, head_of
from opilio.read.links import links_of
from opilio.read.plain_walk import Walk

if TYPE_CHECKING:
    from turbohtml import Document


def extract(
    document: Document,
    url: str,
    *,
    context: bool = False,
    blocks: bool = False,
    headings: bool = False,
) -> Found:
    """What the document at this URL says.

    The words around links, the blocks and the headings are only looked for when they
    are asked for.
    """
    text, passages, parts, declared = walk(document)
    joiner = urls.Joiner(url, first_of(declared, "base", "href"))
    head = head_of(document, declared, url, joiner)
    line = text.replace("\n", " ")
    sections, cuts, at_rank = outline_of(line, parts) if blocks else NO_OUTLINE
    links, spots = links_of(line, passages, joiner, url, at_rank, context=context)
    told = told_headings(line, parts) if headings else []
    return Found(head, text, links, spots, sections, cuts, told)


def walk(document: Document) -> Walk:
    """What one meets on the way through a document."""
    return kernels.walk(document.root.html if document.root else "")
