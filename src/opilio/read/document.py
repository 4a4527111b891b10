"""Extracts everything that a page needs from its markup.

Most pages only need a little tidying before they are walked through; the others are
parsed by turbohtml, and walked through as the parser serialises them. turbohtml takes
linear time even for hostile markup (nesting ends at depth 512, as in browsers).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from opilio.read import kernels
from opilio.read.blocks import NO_OUTLINE, outline_of, told_headings
from opilio.read.head import first_of, head_of
from opilio.read.links import links_of
from opilio.read.parsed_markup import ParsedMarkup
from opilio.read.plain_walk import Walk
from opilio.read.settled_links import SettledLinks
from opilio.text import urls
from opilio.text.link_joiner import Joiner

if TYPE_CHECKING:
    from turbohtml import Document

Parse = Callable[[str], "Document"]


def parse_document(markup: str) -> Document:
    """The document that a browser would make of the markup."""
    import turbohtml  # many readers never need it

    # With scripts, so that <noscript> stays hidden. The walk handles shadow roots.
    return turbohtml.parse(
        markup,
        positions=False,
        scripting=True,
        allow_declarative_shadow_roots=False,
    )


class MarkupSource:
    """The markup of a page in UTF-8, parsed only if necessary."""

    def __init__(self, markup: bytes, parse: Parse = parse_document) -> None:
        self.markup = markup
        self.parse = parse

    @cached_property
    def document(self) -> Document:
        """The document as a browser would parse it; invalid UTF-8 becomes U+FFFD."""
        return self.parse(self.markup.decode("utf-8", "replace"))

    @cached_property
    def tidied(self) -> str | bytes:
        """The markup as it is walked through."""
        tidied = kernels.tidied(self.markup)
        return self.document.html if tidied is None else tidied

    def walk(self, settled: SettledLinks | None = None) -> Walk:
        """The text, links and parts found by walking through it; links that are known
        to be settled are told by their fingerprints."""
        if settled is None:
            return kernels.walk(self.tidied)
        return kernels.walk(self.tidied, settled.hrefs, settled.places)


def extract(
    source: MarkupSource,
    url: str,
    settled: SettledLinks,
    *,
    agent: str,
    context: int = 0,
    blocks: bool = False,
    headings: bool = False,
) -> ParsedMarkup:
    """Extract the content of the page at this URL.

    The words around links, the blocks and the headings are only looked for when they
    are asked for. `agent` is the name that the page may call us by. Of links that are
    settled, nothing is found but that they are there.
    """
    settled.hrefs.enter(urls.folder(url))
    text, passages, parts, declared = source.walk(settled)
    hrefs: kernels.Hrefs | None = settled.hrefs
    if base := first_of(declared, "base", "href"):  # hrefs mean something else here
        hrefs, passages = None, source.walk().links
    joiner = Joiner(url, base)
    head = head_of(source, declared, url, joiner, agent)
    line = text.replace("\n", " ")
    sections, cuts, at_rank = outline_of(line, parts) if blocks else NO_OUTLINE
    links, spots, known = links_of(
        line, passages, joiner, url, at_rank, settled, hrefs, context=context
    )
    told = told_headings(line, parts) if headings else []
    ids = settled.packed(known)
    return ParsedMarkup(head, text, links, spots, sections, cuts, told, ids)
