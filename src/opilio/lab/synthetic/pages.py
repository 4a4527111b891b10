"""Writes the HTML of a synthetic page."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.graph import Graph, Kind, Node
from opilio.lab.synthetic.hosts import SyntheticHost
from opilio.lab.synthetic.outlinks import Outlink, Outlinks
from opilio.lab.synthetic.pdf_writer import blocks_of, write_pdf

NAV_SECTIONS = 7
LINK_BYTES = 165  # approximate size of a link with its markup
SENTENCE_BYTES = 70
FRAME_BYTES = 2_000  # approximate size of head, navigation and footer
SCRIPT_SHARE = 0.25  # share of a page's bytes that are styles and scripts
PDF_CHANCE = 25  # the purpose of chance
NEWS, NEWS_SENTENCES = 23, 12  # the purpose of chance; of what a change adds
PUBLISHED = ("January", "March", "April", "June", "August", "October", "December")


class Pages:
    """Writes the pages of a graph."""

    def __init__(self, graph: Graph, outlinks: Outlinks) -> None:
        self.graph = graph
        self.outlinks = outlinks
        self.dials = graph.dials
        self.style = stylesheet(round(self.dials.page_bytes * SCRIPT_SHARE))
        self._frame = lru_cache(1024)(self._make_frame)

    def numbered(self, node: Node, *, altered: bool = False, version: int = 0) -> bytes:
        """A numbered page. `altered` makes its near copy; each version adds some
        text."""
        rng = random.Random(self.graph.draw(node.number, 7))
        host = self.graph.hosts[node.host]
        sections = self.outlinks.of(node)
        count = sum(len(section.links) for section in sections)
        length = self._sentence_count(rng, count)
        if node.kind is Kind.HUB:
            length = max(length, count // 2)
        title = self._title(node)
        # A copied page is served on several hosts, so its links must be absolute.
        base = "" if node.copied else f"http://{host.name}"
        parts = [f"<h1>{title}</h1>", byline(node)]
        for section in sections:
            sentences = self.graph.vocabulary.sentences(
                section.topic,
                max(4, length // len(sections)),
                rng,
                noise=self.dials.word_noise,
                hindi=node.hindi,
                altered=altered,
            )
            if len(sections) > 1:
                heading = self.graph.vocabulary.title(
                    section.topic, node.draw + 1, node.hindi
                )
                parts.append(f"<h2>{heading}</h2>")
            if node.kind is Kind.HUB:
                parts.append(listing(sentences, section.links, base))
            else:
                parts.append(article(sentences, section.links, base, rng))
        if self.is_pdf(node):
            blocks = blocks_of("\n".join(parts), f"http://{host.name}")
            return write_pdf(title, blocks)
        if version:
            parts.append(self._news(node, version, base))
        return self._page(host, title, "\n".join(parts), absolute=node.copied)

    def is_pdf(self, node: Node) -> bool:
        """Whether a page is a PDF file; none that changes or is in Hindi is."""
        if not self.dials.pdfs or node.kind is not Kind.ARTICLE or node.hindi:
            return False
        if self.dials.changing:
            return False
        return self.graph.draw(node.number, PDF_CHANCE) / 2**64 < self.dials.pdfs

    def _news(self, node: Node, version: int, base: str) -> str:
        """The text that a page has gained after a number of changes."""
        rng = random.Random(self.graph.draw(node.number, NEWS) ^ version)
        sentences = self.graph.vocabulary.sentences(node.topic, NEWS_SENTENCES, rng)
        links = self.outlinks.news(node, rng)
        return f"<h2>News {version}</h2>\n{article(sentences, links, base, rng)}"

    def home(self, host: SyntheticHost) -> bytes:
        """The page at / of a host."""
        pattern = self.graph.patterns[host.pattern]
        links = self.outlinks.of_host(host, pattern.main, 12)
        for topic in self.sections(host)[1:]:
            links += self.outlinks.of_host(host, topic, 3)
        title = f"Welcome to {host.name.split('.')[1]}"
        return self._index(host, pattern.main, title, links, purpose=8)

    def section(self, host: SyntheticHost, topic: int) -> bytes:
        """The list of a host's best pages about a topic."""
        name = self.graph.vocabulary.topics[topic].capitalize()
        links = self.outlinks.of_host(host, topic, 25)
        return self._index(host, topic, f"{name}: all our pages", links, purpose=9)

    def notice(self, host: SyntheticHost, title: str, text: str) -> bytes:
        """A page about nothing: imprint, contact, an error."""
        content = f"<h1>{title}</h1>\n<p>{text}</p>"
        return self._page(host, title, content)

    def calendar(self, host: SyntheticHost, year: int, month: int, day: int) -> bytes:
        """A page of the endless calendar."""
        later, earlier = (
            divmod(year * 12 + month, 12),
            divmod(year * 12 + month - 2, 12),
        )
        base = f"/calendar/{year}/{month}"
        days = " ".join(
            f'<td><a href="{base}?day={d}&amp;view=week">{d}</a></td>'
            for d in range(1, 29)
        )
        title = f"Events of {day}/{month}/{year}" if day else f"Events {month}/{year}"
        content = (
            f"<h1>{title}</h1>\n<table><tr>{days}</tr></table>\n"
            f'<p><a href="/calendar/{earlier[0]}/{earlier[1] + 1}">previous month</a> '
            f'<a href="/calendar/{later[0]}/{later[1] + 1}">next month</a></p>'
        )
        return self._page(host, title, content)

    def sections(self, host: SyntheticHost) -> list[int]:
        """The topics in a host's navigation, its main one first."""
        pattern = self.graph.patterns[host.pattern]
        others = [topic for topic in pattern.places if topic != pattern.main]
        return [
            topic
            for topic in (pattern.main, *others)
            if self.graph.size_on(topic, host.number)
        ][:NAV_SECTIONS]

    def _index(
        self,
        host: SyntheticHost,
        topic: int,
        title: str,
        links: list[Outlink],
        purpose: int,
    ) -> bytes:
        rng = random.Random(self.graph.draw(host.number, purpose))
        sentences = self.graph.vocabulary.sentences(topic, len(links) + 4, rng)
        content = listing(sentences, links, f"http://{host.name}")
        return self._page(host, title, f"<h1>{title}</h1>\n{content}")

    def _title(self, node: Node) -> str:
        if not node.hindi:
            return node.title
        return self.graph.vocabulary.title(node.topic, node.draw, hindi=True)

    def _sentence_count(self, rng: random.Random, links: int) -> int:
        dials = self.dials
        # The mean of a lognormal is exp(µ + σ²/2).
        spread = rng.gauss(-(dials.size_spread**2) / 2, dials.size_spread)
        size = dials.page_bytes * math.exp(spread)
        rest = size - len(self.style) - FRAME_BYTES - links * LINK_BYTES
        return max(6, round(rest / SENTENCE_BYTES))

    def _page(
        self, host: SyntheticHost, title: str, content: str, absolute: bool = False
    ) -> bytes:
        top, bottom = self._frame(host.number, absolute)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{title} – {host.name}</title>\n{top}\n"
            f'<main class="content" id="content">\n{content}\n</main>\n{bottom}'
        ).encode()

    def _make_frame(self, number: int, absolute: bool) -> tuple[str, str]:
        """The header and footer of every page of a host."""
        host = self.graph.hosts[number]
        base = f"http://{host.name}" if absolute else ""
        topics = [self.graph.vocabulary.topics[topic] for topic in self.sections(host)]
        entries = [("/", "Home"), *((f"/{t}/", t.capitalize()) for t in topics)]
        if host.calendar:
            entries.append(("/calendar/2026/11", "Calendar"))
        nav = "\n".join(
            f'<li class="nav-item"><a href="{base}{path}">{name}</a></li>'
            for path, name in entries
        )
        small = " | ".join(
            f'<a href="{base}/{name}.html">{name.capitalize()}</a>'
            for name in ("imprint", "contact", "privacy")
        )
        top = (
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<style>\n{self.style}</style>\n</head>\n<body class="site">\n'
            f'<header class="top"><a class="logo" href="{base}/">{host.name}</a>\n'
            f'<nav class="menu" aria-label="Main">\n<ul>\n{nav}\n</ul>\n</nav>\n'
            "</header>"
        )
        bottom = (
            '<footer class="bottom">\n'
            f"<p>© 2026 {host.name}. All rights reserved.</p>\n"
            f'<p class="small">{small}</p>\n</footer>\n</body>\n</html>\n'
        )
        return top, bottom


def article(
    sentences: list[str], links: list[Outlink], base: str, rng: random.Random
) -> str:
    """Paragraphs with links in them, and a list of related pages."""
    inside = len(links) * 3 // 5
    every = max(1, len(sentences) // (inside + 1))
    shapes = rng.randbytes(len(sentences) + inside)
    paragraphs, text, placed = [], [], 0
    for number, sentence in enumerate(sentences, 1):
        text.append(sentence)
        if placed < inside and number % every == 0:
            shape = lexicon.WITH_LINK[shapes[placed] % len(lexicon.WITH_LINK)]
            text.append(shape.format(anchor(links[placed], base)))
            placed += 1
        if len(text) > 4 + shapes[number - 1] % 4:
            paragraphs.append(" ".join(text))
            text = []
    if text:
        paragraphs.append(" ".join(text))
    body = "</p>\n<p>".join(paragraphs)
    related = "\n".join(
        f'<li class="related-item">{anchor(link, base)}</li>' for link in links[placed:]
    )
    if related:
        related = f'\n<h3>Related</h3>\n<ul class="related">\n{related}\n</ul>'
    return f"<p>{body}</p>{related}"


def listing(sentences: list[str], links: list[Outlink], base: str) -> str:
    """A list of links, each with a sentence, after a short introduction."""
    introduction = " ".join(sentences[:3])
    rest = sentences[3:] or sentences
    entries = "\n".join(
        f'<li class="entry">{anchor(link, base)} '
        f'<span class="about">{rest[i % len(rest)]}</span></li>'
        for i, link in enumerate(links)
    )
    return f'<p>{introduction}</p>\n<ul class="entries">\n{entries}\n</ul>'


def anchor(link: Outlink, base: str) -> str:
    """A link in HTML, relative if it stays on the host."""
    url = link.url
    if base and url.startswith(base + "/"):
        url = url[len(base) :]
    return f'<a href="{url}">{link.anchor}</a>'


def byline(node: Node) -> str:
    """The publication date that a page shows."""
    month = PUBLISHED[node.draw % len(PUBLISHED)]
    return f'<p class="byline">Published in {month} {1998 + node.draw % 28}</p>'


def stylesheet(size: int) -> str:
    """Styles of about this many bytes, the same on every page, as on a real site."""
    rules = ["body{margin:0 auto;max-width:60em;font-family:sans-serif}"]
    length = len(rules[0])
    while length < size:
        n = len(rules)
        rules.append(
            f".block-{n} .item-{n % 7}>a:hover{{padding:{n % 9}px {n % 5}em;"
            f"color:#{n * 2654435761 % 0x1000000:06x};border-radius:{n % 4}px}}"
        )
        length += len(rules[-1]) + 1
    return "\n".join(rules) + "\n"
