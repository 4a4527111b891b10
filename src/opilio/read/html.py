"""A response in; its Page out: words counted, links with their anchors and context.

turbohtml does the parsing. It reads hostile markup in linear time (nesting ends at
depth 512, as in browsers); should it fail all the same, what can be had is found by
pattern and the page says that it is degraded.
"""

from __future__ import annotations

from collections.abc import Callable

import turbohtml
from turbohtml import Document

from opilio import content, urls
from opilio.read.count import count
from opilio.read.document import extract
from opilio.read.found import Found, Section
from opilio.read.head import PRODUCT_TOKEN
from opilio.read.language import language_of
from opilio.read.lexicon import Lexicon, Transcribe
from opilio.read.scan import scan
from opilio.types import Page, ReaderSetup, Response
from opilio.words import Vocabulary

WHOLE = (Section(),)  # a page that is one block

Parse = Callable[[str], Document]


def parse(markup: str) -> Document:
    """The document that a browser would make of the markup."""
    # With scripts, so that nobody sees what is in <noscript>. The walk sees to shadows.
    return turbohtml.parse(
        markup,
        positions=False,
        scripting=True,
        allow_declarative_shadow_roots=False,
    )


class PageReader:
    """Makes pages of responses, with all that the set-up asks for.

    Words that the transcriptor reads count as what they mean in the topic's language.
    """

    def __init__(
        self,
        setup: ReaderSetup,
        transcriptor: Transcribe | None = None,
        parse: Parse = parse,
    ) -> None:
        self.setup = setup
        self.parse = parse
        self.lexicon = Lexicon(
            Vocabulary(setup.terms, setup.language),
            transcriptor,
            overlapping=setup.overlapping,
        )

    def read(self, response: Response) -> Page:
        """What the response says, as a page."""
        content_type, robots = "", []
        for name, value in response.headers:
            if name == "content-type":
                content_type = value
            elif name == "x-robots-tag":
                robots.append(value)
        markup, charset = content.text(response.body, content_type)
        url = urls.page(response.url)
        found, degraded = self.find(markup, url)
        head = found.head
        language = language_of(head.declared, found.text)
        counted = count(
            self.lexicon,
            found,
            url,
            language,
            vector=self.setup.vector,
            link_words=self.setup.words,
            sequence=self.setup.sequence,
        )
        vector = counted.vector
        noindex, nofollow = content.page_directives(head.robots, robots, PRODUCT_TOKEN)
        return Page(
            url=url,
            title=head.title,
            language=language,
            charset=charset,
            words=vector.words,
            terms=vector.terms,
            norm=vector.norm,
            # Pages of one template may differ in a few words only, but then they do in
            # their titles: with different ones, they are not near copies.
            simhash=vector.simhash and vector.simhash ^ urls.fingerprint(head.title),
            links=counted.links,
            canonical=head.canonical,
            refresh=head.refresh,
            noindex=noindex,
            nofollow=nofollow,
            degraded=degraded,
            title_terms=counted.title,
            url_terms=counted.url,
            blocks=counted.blocks,
            stems=vector.stems,
            counts=vector.counts,
            alternates=head.alternates,
            headings=found.headings,
            sequence=counted.sequence,
        )

    def find(self, markup: str, url: str) -> tuple[Found, str]:
        """What is in the markup, and why that is not all, if so."""
        setup = self.setup
        try:
            document = self.parse(markup)
            context = setup.context or setup.words
            found = extract(
                document,
                url,
                context=context,
                blocks=setup.blocks,
                headings=setup.headings or setup.sequence,
            )
        except Exception as error:  # whatever a young parser may raise
            found, degraded = scan(markup, url), type(error).__name__
            return found._replace(sections=WHOLE if setup.blocks else ()), degraded
        return found, ""
