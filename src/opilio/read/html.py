"""Turns a response into a Page: words counted, links with their anchors and context.

PDF files and texts are made HTML first (`documents/`).
If the parser fails, the page is scanned by patterns instead and marked as degraded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from opilio.read.document import MarkupSource, Parse, extract, parse_document
from opilio.read.documents.as_markup import markup_of
from opilio.read.language import language_of
from opilio.read.lexicon import Lexicon, Transcribe
from opilio.read.page_terms import count
from opilio.read.parsed_markup import MarkupSection, PageHead, ParsedMarkup
from opilio.read.pattern_scan import scan
from opilio.read.robots_directives import page_directives
from opilio.read.settled_links import SettledLinks
from opilio.read.word_vector_cache import WordRows
from opilio.records import Extraction, Page, ReaderSetup, Response
from opilio.text import urls
from opilio.text.words import Vocabulary
from opilio.vectors.words import Vectors

WHOLE = (MarkupSection(),)  # a page that is one block
_code = re.compile(r"(?ms)^```.*?^```").sub  # in Markdown
_headings = re.compile(r"(?m)^#{1,6} (.+)$").findall


class PageReader:
    """Turns responses into pages, with all parts that the setup asks for.

    Words that the transcriptor can translate count as their meanings in the topic's
    language. With word vectors, pages and their links have vectors, too.
    """

    def __init__(
        self,
        setup: ReaderSetup,
        transcriptor: Transcribe | None = None,
        parse: Parse = parse_document,
        vectors: Vectors | None = None,
    ) -> None:
        self.setup = setup
        self.known = WordRows(vectors) if vectors else None
        self.parse = parse
        self.settled = SettledLinks()
        self.lexicon = Lexicon(
            Vocabulary(setup.terms, setup.language),
            transcriptor,
            overlapping=setup.overlapping,
        )

    def read(self, response: Response) -> Page:
        """The page of a response."""
        robots = [value for name, value in response.headers if name == "x-robots-tag"]
        markup, charset = markup_of(response)
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
            blocks=self.setup.blocks,
            known=self.known,
        )
        vector = counted.vector
        noindex, nofollow = page_directives(head.robots, robots, self.setup.agent)
        return Page(
            url=url,
            title=head.title,
            language=language,
            charset=charset,
            words=vector.words,
            terms=vector.terms,
            norm=vector.norm,
            # Pages of one template may differ in a few words only. If their titles
            # differ, they are not near copies.
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
            vectors=counted.vectors,
            text=self.text_of(response, found) if self.setup.text else "",
            settled=found.settled[0],
            settled_ids=found.settled[1],
        )

    def main_words(
        self, found: Extraction, url: str
    ) -> tuple[bytes, Mapping[str, int]]:
        """The words of a main text for the search index, and the terms in it; none if
        there is no index, or no text."""
        if not self.setup.sequence or not found.text:
            return b"", {}
        language = language_of("", found.text) if self.lexicon.lattice else ""
        headings = _headings(_code("", found.markdown))
        parts = ParsedMarkup(PageHead(found.title), found.text, [], headings=headings)
        counted = count(self.lexicon, parts, url, language, sequence=True, blocks=False)
        return counted.sequence, counted.vector.terms

    def text_of(self, response: Response, found: ParsedMarkup) -> str:
        """The main text of a page; all of its text if there is none."""
        from opilio.read.main_content.extract import extract_content  # rarely needed

        try:
            return extract_content(response).text or found.text
        except Exception:  # whatever a young parser may raise
            return found.text

    def find(self, markup: bytes, url: str) -> tuple[ParsedMarkup, str]:
        """The content of the markup, and why it is incomplete, if it is."""
        setup = self.setup
        has_context = setup.context or setup.words or self.known is not None
        try:
            found = extract(
                MarkupSource(markup, self.parse),
                url,
                self.settled,
                context=setup.context_length if has_context else 0,
                blocks=setup.blocks or self.known is not None,
                headings=setup.headings or setup.sequence,
                agent=setup.agent,
            )
        except Exception as error:  # whatever a young parser may raise
            found = scan(markup.decode("utf-8", "replace"), url)
            degraded = type(error).__name__
            return found._replace(sections=WHOLE if setup.blocks else ()), degraded
        return found, ""
