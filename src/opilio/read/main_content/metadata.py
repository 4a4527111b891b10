"""Finds title, description, licences and other facts about a page."""

from __future__ import annotations

import re
from datetime import date

from opilio.read.main_content.declared import Declared, Node, text_in, types_of
from opilio.read.main_content.names import KINDS
from opilio.read.main_content.outline import PageOutline, TextBlock
from opilio.read.main_content.titles import (
    is_site,
    names_of_host,
    parts_of_title,
    separators,
    squeezed,
    without_name,
)

MAX_TITLE = 500  # characters
MOST_LICENCES = 10
NEAR = 20  # blocks from the title in which author and date are looked for
UP = 8  # boxes around a block that are looked at

CONTENT = re.compile(
    r"Article|Posting|Report|Review|Recipe|HowTo|Product|Question|Event|Course|Book|"
    r"VideoObject|Podcast|Dataset|JobPosting|SoftwareApplication|CreativeWork"
).search
PAGES = re.compile(r"WebPage|AboutPage|ItemPage|CollectionPage|FAQPage|QAPage").search
TITLES = ("og:title", "twitter:title", "dc.title", "citation_title")
DESCRIPTIONS = ("description", "og:description", "twitter:description")
IMAGES = ("og:image", "og:image:url", "twitter:image")
ASIDE = sum(
    1 << KINDS.index(kind)
    for kind in ("comment", "related", "popular", "sidebar", "footer", "aside", "nav")
)

_words = re.compile(r"\w+").findall
_licence = re.compile(
    r"creativecommons\.org/(?:licenses|publicdomain)/[\w./-]+", re.IGNORECASE
).findall
_anchors = re.compile(
    r'<a((?: [^ =]+="[^"]*")* rel="[^"]*\blicense\b[^"]*"[^>]*)>'
).findall
_href = re.compile(r' href="([^"]+)"').search


class Facts:
    """Looks up facts about one page in all the places where pages state them."""

    def __init__(
        self,
        markup: str,
        declared: Declared,
        outline: PageOutline,
        url: str,
        latest: date,
    ) -> None:
        self.markup = markup
        self.declared = declared
        self.outline = outline
        self.url = url
        self.latest = latest  # no date after it is believed
        self.items = [node for node in declared.nodes if is_content(node)]
        self.pages = [
            node for node in declared.nodes if any(map(PAGES, types_of(node)))
        ]
        self.site = self.site_name()
        self.heading, self.heading_place = self.main_heading()

    def site_name(self) -> str:
        """The name of the site."""
        said = self.declared.meta("og:site_name", "application-name", "al:ios:app_name")
        if said:
            return said
        for node in self.declared.nodes:
            if "WebSite" in types_of(node) and (name := text_in(node.get("name"))):
                return name
        publishers = (text_in(node.get("publisher")) for node in self.items)
        return next(filter(None, publishers), "")

    def main_heading(self) -> tuple[str, int]:
        """The heading of the page and the number of its block; "", -1: none."""
        titles = (self.declared.title, self.declared.meta("og:title", "twitter:title"))
        said = " ".join(titles).casefold()
        names = {squeezed(self.site), *names_of_host(self.url)} - {""}
        first = ("", -1)
        for number, block in enumerate(self.outline.blocks):
            tag = self.outline.boxes[block.box].tag
            if tag not in ("h1", "h2") or len(block.text) > MAX_TITLE:
                continue
            text = " ".join(block.text.split())
            if is_site(text, names):
                continue
            if len(text) > 3 and text.casefold() in said:
                return text, number
            if tag == "h1" and first[1] < 0:
                first = text, number
        return first if first[1] >= 0 else self.titled_line()

    def titled_line(self) -> tuple[str, int]:
        """The first line that is the title of the page, where no heading is."""
        titles = {self.declared.meta(*TITLES), self.without_site(self.declared.title)}
        wanted = {squeezed(title) for title in titles} - {""}
        for number, block in enumerate(self.outline.blocks):
            if len(block.text) <= MAX_TITLE and squeezed(block.text) in wanted:
                return " ".join(block.text.split()), number
        return "", -1

    def title(self) -> str:
        """The title of the page, without the name of the site."""
        headlines = (text_in(node.get("headline")) for node in self.items)
        headline = next(filter(None, headlines), "")
        said, whole = self.declared.meta(*TITLES), self.declared.title
        heading = self.heading
        if heading and self.is_title(heading, said, whole):
            return heading[:MAX_TITLE]
        shortened = self.without_site(said or whole or headline)
        return (shortened or headline or heading)[:MAX_TITLE]

    def is_title(self, heading: str, said: str, whole: str) -> bool:
        """Whether a heading is the title, by what is declared: it is a part of that and
        not one word among others, or little is declared and shares words with it."""
        same, words = heading.casefold(), set(_words(heading.casefold()))
        declared = f"{said} {whole}".casefold()
        if len(words) == 1 and len(said.split()) > 2:
            return any(
                squeezed(part) == squeezed(same) for part in parts_of_title(said)
            )
        if said and same not in said.casefold():
            return whole.casefold().startswith(same)
        shares = bool(words & set(_words(declared))) or not declared.strip()
        return same in declared or (shares and not said)

    def without_site(self, title: str) -> str:
        """A title without the name of the site at its end or beginning."""
        names = {squeezed(self.site), *names_of_host(self.url)} - {""}
        shortened = without_name(title, names)
        cuts = list(separators(title))
        if shortened != title or not cuts:
            return shortened
        last = cuts[-1]
        rest, tail = title[: last.start()].strip(), title[last.end() :]
        apart = last[0].strip() in ("|", "»", "•") or len(tail.split()) <= 3
        return rest if apart and len(rest) > len(tail) else title

    def description(self) -> str:
        """What the page is about, in its own words."""
        told = (text_in(node.get("description")) for node in self.items)
        return self.declared.meta(*DESCRIPTIONS) or next(filter(None, told), "")

    def image(self) -> str:
        """The URL of the picture that stands for the page."""
        if said := self.declared.meta(*IMAGES):
            return said
        for node in self.items:
            value = node.get("image")
            value = value[0] if isinstance(value, list) and value else value
            value = value.get("url") if isinstance(value, dict) else value
            if said := text_in(value):
                return said
        return ""

    def licences(self) -> list[str]:
        """The addresses of the licences that the page names."""
        found = [*self.declared.links.get("license", ())]
        found += (text_in(node.get("license")) for node in (*self.items, *self.pages))
        # Few pages have any; looking for the words first is far faster.
        if "license" in self.markup:
            links = (_href(given) for given in _anchors(self.markup))
            found += (link[1] for link in links if link)
        coded = self.markup.encode("utf-8", "replace")  # much faster in lower case
        if b"creativecommons" in coded.lower():
            named = _licence(self.markup)[:MOST_LICENCES]
            found += (f"https://{match}" for match in named)
        return list(dict.fromkeys(filter(None, map(str.strip, found))))[:MOST_LICENCES]

    def kinds(self, block: TextBlock) -> int:
        """The kinds of a block and of its box, as bits."""
        return block.kinds | self.outline.boxes[block.box].kinds

    def is_aside(self, block: TextBlock) -> bool:
        """Whether a block stands among comments, related links or the like."""
        number = block.box
        half = len(self.outline.blocks) / 2  # boxes with more are the page itself
        for _ in range(UP):
            box = self.outline.boxes[number]
            if box.kinds & ASIDE and box.last - box.first < half:
                return True
            number = box.parent
            if number <= 0:
                return False
        return False

    def near_title(self) -> list[TextBlock]:
        """The blocks around the title."""
        start = max(0, self.heading_place)
        return self.outline.blocks[max(0, start - 4) : start + NEAR]


def is_content(node: Node) -> bool:
    """Whether a node of JSON-LD describes what the page is about."""
    return any(map(CONTENT, types_of(node)))
