"""Extracts the main text of a page, as plain text and Markdown, and facts about it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import turbohtml

from opilio.read.documents.as_markup import markup_of
from opilio.read.main_content.addresses import LinkAddresses, address
from opilio.read.main_content.authors import authors_of
from opilio.read.main_content.choose import choose
from opilio.read.main_content.declared import Declared, Node, declared_in
from opilio.read.main_content.metadata import Facts
from opilio.read.main_content.outline import PageOutline
from opilio.read.main_content.page_dates import modified, published
from opilio.read.main_content.page_kind import about_page
from opilio.read.main_content.walk import walk
from opilio.read.main_content.write import ChosenText
from opilio.records import Extraction, Headers, Response
from opilio.text import content
from opilio.text.document_kinds import DocumentKind, kind_of
from opilio.text.usage_signals import page_usage

VERSION = 3  # grows when the same page would give another result
_controls = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
).sub
MOST_BOXES = 50_000  # real pages have fewer; then all visible text will do
HIDDEN_TIMES = 5  # more hidden text than visible: the page shows it by script
LITTLE = 200  # characters of a main text that may be missing from the markup
LONGEST = 4 * 2**20  # characters of a text


def extract_content(response: Response) -> Extraction:
    """The main text of a page and the facts about it."""
    when = datetime.fromtimestamp(response.fetched_at, UTC).date()
    if response.rendered:
        markup = response.rendered.decode("utf-8", "replace")
        return extract_markup(markup, response.url, when, response.headers)
    if kind_of(response) is DocumentKind.HTML:
        markup, _ = content.text(response.body, response.header("content-type"))
        return extract_markup(markup, response.url, when, response.headers)
    markup = markup_of(response)[0].decode("utf-8", "replace")
    return extract_markup(markup, response.url, when, response.headers, whole=True)


def extract_markup(
    markup: str,
    url: str,
    latest: date,
    headers: Headers = (),
    *,
    whole: bool = False,
) -> Extraction:
    """The same for decoded markup; dates after `latest` are not believed. `whole`: all
    of it is main text."""
    tidy = turbohtml.parse(
        markup,
        positions=False,
        scripting=True,
        allow_declarative_shadow_roots=False,
    ).html
    declared = declared_in(tidy)
    outline = walk(tidy)
    if outline.unseen > HIDDEN_TIMES * max(outline.seen, LITTLE):
        shown = walk(tidy, hidden=True)
        if outline.seen < LITTLE < shown.seen:
            outline = shown
    facts = Facts(tidy, declared, outline, url, latest)
    base = address(url, base_of(tidy)) or url
    text, markdown = contents(outline, declared, url, base, whole=whole)
    licences = tuple(filter(None, (address(base, one) for one in facts.licences())))
    return Extraction(
        version=VERSION,
        text=harmless(text[:LONGEST]),
        markdown=harmless(markdown[:LONGEST]),
        title=harmless(declared.title if whole else facts.title()),
        authors=tuple(map(harmless, authors_of(facts))),
        published=published(facts),
        modified=modified(facts),
        description=harmless(facts.description()[:2000]),
        site=harmless(facts.site[:200]),
        image=address(base, facts.image()),
        canonical=address(base, next(iter(declared.links.get("canonical", ())), "")),
        licences=licences,
        types=tuple(map(harmless, declared.types()[:10])),
        usage=page_usage(headers, declared.metas, licences),
        pages=int(declared.meta("pages") or 0) if whole else 0,
    )


def harmless(text: str) -> str:
    """A text without characters that control terminals or the direction of writing."""
    if text.replace("\n", "").replace("\t", "").isprintable():  # faster
        return text
    return _controls("", text)


def contents(
    outline: PageOutline, declared: Declared, url: str, base: str, *, whole: bool
) -> tuple[str, str]:
    """The main text as plain text and Markdown."""
    if whole or max(len(outline.boxes), len(outline.blocks)) > MOST_BOXES:
        kept = [True] * len(outline.blocks)
    else:
        about = about_page(url, declared.types(), declared.meta("og:type"))
        kept = choose(outline, declared.title, about).tolist()
    page = ChosenText(outline, kept, LinkAddresses(base).of)
    text = page.text()
    if len(text) < LITTLE:
        told = longest_body(declared.nodes)
        if len(told) > max(LITTLE, 2 * len(text)):
            return told, told.replace("\n", "\n\n")
    return text, page.markdown()


def longest_body(nodes: list[Node]) -> str:
    """The longest text of an article that JSON-LD states."""
    bodies = (
        value
        for node in nodes
        for name in ("articleBody", "reviewBody", "text")
        if isinstance(value := node.get(name), str)
    )
    longest = max(bodies, key=len, default="")
    if "<" in longest:
        root = turbohtml.parse(longest, positions=False).root
        longest = root.to_text() if root else ""
    lines = (" ".join(line.split()) for line in longest.splitlines())
    return "\n".join(filter(None, lines))


def base_of(tidy: str) -> str:
    """The address that links of a page start from, if it declares one."""
    found = re.search(r'<base(?: [^>]*?)? href="([^"]*)"', tidy[:100_000])
    return found[1] if found else ""
