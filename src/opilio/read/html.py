"""A response in; its Page out: words counted, links with their anchors and context.

turbohtml does the parsing, in this module alone. It reads hostile markup in linear
time (nesting ends at depth 512, as in browsers); should it fail all the same, what can
be had is found by pattern and the page says that it is degraded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import turbohtml
from turbohtml import Document, Element, PlainText

from opilio import content, urls
from opilio.read.found import Found, clean, language_by_script, language_of_tag
from opilio.read.lexicon import Lexicon
from opilio.read.scan import scan
from opilio.types import Link, Page, Response
from opilio.words import Vocabulary

PRODUCT_TOKEN = "opilio"  # noqa: S105 - how robots rules name us
MAX_LINKS = 5000
MAX_TITLE = 500  # characters
MAX_ANCHOR = 300
CONTEXT = 100  # characters on each side of a link
NO_CONTEXT = ("", "")
SOON = 5.0  # seconds; a slower refresh is not a redirect

UNSEEN = ("noscript", "template", "select", "textarea")  # by who reads the page
OTHER_LINKS = ("area", "iframe", "frame")
ANY_LINK = "a[href], area[href], iframe[src], frame[src]"

# In the text, an <a> is followed by its href in brackets. Each href is replaced by a
# number, so that the text shows where each link ends, whatever it points to.
MARKED = PlainText(links="inline", bullet="", table_cell_separator=" ")
PLAIN = PlainText(bullet="", table_cell_separator=" ")
MARK = " (\x01"
NUMBERS = tuple(f"\x01{number}" for number in range(2 * MAX_LINKS))
DIGITS = tuple(number[1:] for number in NUMBERS)

Parse = Callable[[str], Document]


def parse(markup: str) -> Document:
    """The document that a browser would make of the markup."""
    return turbohtml.parse(markup, positions=False)


class PageReader:
    """Makes pages of responses; counts the terms of one vocabulary on them.

    `context`: links come with the words around them, for strategies that read those.
    """

    def __init__(
        self, vocabulary: Vocabulary, parse: Parse = parse, *, context: bool = True
    ) -> None:
        self.lexicon = Lexicon(vocabulary)
        self.parse = parse
        self.context = context

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
        degraded = ""
        try:
            found = extract(self.parse(markup), url, self.context)
        except Exception as error:  # whatever a young parser may raise
            degraded = type(error).__name__
            found = scan(markup, url)
        noindex, nofollow = content.page_directives(found.robots, robots, PRODUCT_TOKEN)
        vector = self.lexicon.vector(found.text.encode("utf-8", "replace"))
        return Page(
            url=url,
            title=found.title,
            language=found.language,
            charset=charset,
            words=vector.words,
            terms=vector.terms,
            norm=vector.norm,
            # Pages of one template may differ in a few words only, but then they do in
            # their titles: with different ones, they are not near copies.
            simhash=vector.simhash and vector.simhash ^ urls.fingerprint(found.title),
            links=found.links,
            canonical=found.canonical,
            refresh=found.refresh,
            noindex=noindex,
            nofollow=nofollow,
            degraded=degraded,
        )


def extract(document: Document, url: str, with_context: bool = True) -> Found:
    """What we want of a document; it is changed on the way."""
    title = document.select_one("title")
    joiner = urls.Joiner(url, base_of(document))
    canonical = canonical_of(document, joiner, url)
    refresh = refresh_of(document, joiner, url)
    robots = robots_of(document)
    for tag in UNSEEN:
        if document.select_one(tag):
            document.remove(tag)
    others = any(map(document.select_one, OTHER_LINKS))
    elements = document.select(ANY_LINK if others else "a[href]")
    root = document.root
    if with_context:
        hrefs = list(map(take_href, elements, NUMBERS))
        text, ends = split_at_marks(root.to_text(MARKED) if root else "")
    else:
        hrefs = [element.attr("href") or address_of(element) for element in elements]
        text, ends = root.to_text(PLAIN) if root else "", {}
    links = links_of(zip(elements, hrefs, DIGITS, strict=False), joiner, text, ends)
    links.pop(url, None)
    return Found(
        title=clean(title.text, MAX_TITLE) if title else "",
        language=declared_language(root) or language_by_script(text),
        text=text,
        links=list(links.values()),
        robots=robots,
        canonical=canonical,
        refresh=refresh,
    )


def base_of(document: Document) -> str:
    """What <base href> says."""
    base = document.select_one("base")
    return (base.attr("href") or "") if base else ""


def canonical_of(document: Document, joiner: urls.Joiner, url: str) -> str:
    """The page's own idea of its URL, unless that is on another site."""
    for link in document.select("link"):
        if "canonical" in (link.attr("rel") or "").lower().split():
            canonical = joiner[link.attr("href") or ""][0]
            return canonical if canonical and urls.same_site(canonical, url) else ""
    return ""


def refresh_of(document: Document, joiner: urls.Joiner, url: str) -> str:
    """Where a <meta http-equiv=refresh> leads at once, unless that is here."""
    delay, href = document.meta_refresh() or (math.inf, "")
    if delay > SOON or not href:
        return ""
    target = joiner[href][0]
    return "" if target == url else target


def robots_of(document: Document) -> list[str]:
    """What the page says to all robots or to us."""
    return [
        meta.attr("content") or ""
        for meta in document.select("meta")
        if (meta.attr("name") or "").lower() in ("robots", PRODUCT_TOKEN)
    ]


def declared_language(root: Element | None) -> str:
    """The language that <html lang> names."""
    return language_of_tag((root.attr("lang") or "") if root else "")


def address_of(element: Element) -> str:
    """The href of a link, or the src of a frame."""
    href = element.attr("href")
    if href is None:
        element.clear()  # what a frame holds is markup for old browsers
        return element.attr("src") or ""
    return href


def take_href(element: Element, number: str) -> str:
    """The address of a link; the number takes the place of its href."""
    href = address_of(element)
    if element.attr("href") is not None:
        element.attrs["href"] = number
    return href


def split_at_marks(marked: str) -> tuple[str, dict[str, int]]:
    """The text without its marks, and where each number's link ends in it."""
    first, *rest = marked.replace("\n", " ").split(MARK)
    pieces = [first]
    position = len(first)
    ends = {}
    for part in rest:
        digits, _, piece = part.partition(")")
        ends[digits] = position
        position += len(piece)
        pieces.append(piece)
    return "".join(pieces), ends


def links_of(
    numbered: Iterable[tuple[Element, str, str]],
    joiner: urls.Joiner,
    text: str,
    ends: dict[str, int],
) -> dict[str, Link]:
    """Each URL's first link, or the first that has an anchor."""
    links: dict[str, Link] = {}
    for element, href, digits in numbered:
        url, fingerprint = joiner[href]
        if not url:
            continue
        known = links.get(url)
        if known is not None and known.anchor:
            continue
        anchor = " ".join(element.text.split())
        before, after = NO_CONTEXT
        if ends:
            before, after = context(text, ends.get(digits), len(anchor))
        if not anchor.isprintable() or len(anchor) > MAX_ANCHOR:
            anchor = clean(anchor, MAX_ANCHOR)
        if not anchor:
            anchor = name_of(element)
        if known is None or anchor:
            rel = element.attr("rel") or ""
            links[url] = Link(url, fingerprint, anchor, before, after, rel)
            if len(links) == MAX_LINKS:
                break
    return links


def context(text: str, end: int | None, length: int) -> tuple[str, str]:
    """The words before and after a link, given where it ends and its length."""
    if end is None:
        return NO_CONTEXT
    start = end - length
    first = start - CONTEXT
    if first > 0:
        before = text[first:start]
        before = before[before.find(" ") + 1 :]
    else:
        before = text[: max(start, 0)]
    after = text[end : end + CONTEXT]
    if len(after) == CONTEXT:
        after = after[: max(after.rfind(" "), 0) or CONTEXT]
    return before.strip(), after.strip()


def name_of(element: Element) -> str:
    """What stands for the anchor of a link without text: a picture's, or its title."""
    for image in element.select("img"):
        if alt := clean(image.attr("alt") or "", MAX_ANCHOR):
            return alt
    return clean(element.attr("alt") or element.attr("title") or "", MAX_ANCHOR)
