"""A synthetic web that answers every URL, always in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.utils import formatdate
from functools import lru_cache
from itertools import islice
from urllib.parse import parse_qs, urlsplit

import msgspec
import tomli_w
import xxhash

from opilio.errors import BadInput
from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.addresses import Addresses, PagePlace
from opilio.lab.synthetic.changes import Changes
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.graph import Graph, Node
from opilio.lab.synthetic.hosts import SyntheticHost
from opilio.lab.synthetic.outlinks import Outlinks
from opilio.lab.synthetic.pages import Pages
from opilio.lab.synthetic.vocabulary import TopicWords
from opilio.records import Clock, Headers

MEMO = 256  # pages remembered
BEGINNING = 1_767_225_600  # start of the web's calendar: the first of January 2026
SMALL_PAGES = ("imprint", "contact", "privacy")
HTML = ("content-type", "text/html; charset=utf-8")
PDF = ("content-type", "application/pdf")
PLAIN = ("content-type", "text/plain; charset=utf-8")
KEYWORDS = 8  # of a topic's terms that its topic file names


class SyntheticAnswer(msgspec.Struct, frozen=True):
    """The web's answer to one request."""

    status: int
    headers: Headers = (HTML,)
    body: bytes = b""
    delay: float = 0.0  # seconds before it is sent


class SyntheticWeb:
    """A seeded web; pages are generated on request, and nothing is stored.

    The clock returns the seconds since the web began, for pages that change.
    """

    def __init__(self, dials: Dials, clock: Clock = lambda: 0.0) -> None:
        self.dials = dials
        self.graph = Graph(dials, TopicWords(dials.seed, dials.topics, dials.english))
        self.addresses = Addresses(self.graph)
        self.outlinks = Outlinks(self.graph, self.addresses)
        self.pages = Pages(self.graph, self.outlinks)
        self.changes = Changes(self.graph)
        self.clock = clock
        self.topics = self.graph.vocabulary.topics
        self.hosts = tuple(host.name for host in self.graph.hosts)
        self.title = f"Synthetic web of {dials.pages} pages, seed {dials.seed}"
        self._numbered = lru_cache(MEMO)(self._make_numbered)

    def host(self, name: str) -> SyntheticHost:
        """A host by its name; KeyError if there is none."""
        return self.graph.host_by_name[name]

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        """The answer to a request that was made `attempt` times before."""
        parts = urlsplit(url)
        host = self.graph.host_by_name.get(parts.hostname or "")
        if host is None or parts.port not in (None, 80):
            return SyntheticAnswer(502, (PLAIN,), b"no such host\n")
        path = parts.path or "/"
        delay = self.dials.slow_delay if host.slow else 0.0
        if path == "/robots.txt":
            answer = self._robots(host)
        elif host.failing and self._fails(url, attempt):
            headers = (PLAIN, ("retry-after", "1"))
            answer = SyntheticAnswer(500, headers, b"something went wrong\n")
        else:
            answer = self._page(host, path, parts.query)
        return msgspec.structs.replace(answer, delay=delay) if delay else answer

    def labels(self, url: str) -> tuple[str, ...]:
        """The topics that a page is about, its main one first."""
        parts = urlsplit(url)
        host = self.graph.host_by_name.get(parts.hostname or "")
        if host is None:
            return ()
        if parts.path in ("", "/"):
            return (self.topics[self.graph.patterns[host.pattern].main],)
        section = self._section(host, parts.path)
        if section is not None:
            return (self.topics[section],)
        place = self.addresses.find(host, parts.path)
        if place is None or place.form in ("old", "private"):
            return ()
        return tuple(self.topics[topic] for topic in self.graph.topics_of(place.node))

    def nodes(self) -> Iterator[Node]:
        """Every numbered page, tunnels last."""
        for number in range(self.dials.pages + self.graph.tunnel_pages):
            yield self.graph.node(number)

    def urls(self) -> Iterator[str]:
        """The URL of every page: those of the hosts, numbered ones and their copies."""
        for host in self.graph.hosts:
            yield f"http://{host.name}/"
            for topic in self.pages.sections(host):
                yield f"http://{host.name}/{self.topics[topic]}/"
            for name in SMALL_PAGES:
                yield f"http://{host.name}/{name}.html"
        for node in self.nodes():
            yield self.addresses.page(node)
            if node.copied:
                yield self.addresses.copy(node)
            if node.nearly_copied:
                yield self.addresses.near_copy(node)

    def detours(self) -> Iterator[str]:
        """The URLs that are linked but give no page: redirects and dead links."""
        for node in self.nodes():
            for hop in range(node.moved, 0, -1):
                yield self.addresses.old(node, hop)
            dead = (
                link.url
                for section in self.outlinks.of(node)
                for link in section.links
                if link.dead
            )
            yield from dict.fromkeys(dead)

    def seeds(self, topic: str, n: int, far: bool = False) -> tuple[str, ...]:
        """Pages to start from: popular ones of the topic, or far from all of them.

        A far seed is about something else, and so is every page that it links to.
        """
        index = self._topic(topic)
        found = self._far_from(index) if far else self._popular(index)
        return tuple(self.addresses.page(node) for node in islice(found, n))

    def topic_file(self, topic: str, seeds: int = 3) -> str:
        """A topic file in TOML, with the table that only the lab reads."""
        self._topic(topic)
        return topic_text(topic, self.seeds(topic, seeds))

    def _topic(self, name: str) -> int:
        if name not in self.topics:
            known = ", ".join(self.topics)
            raise BadInput(f"this web has no topic {name!r}; it has {known}")
        return self.topics.index(name)

    def _popular(self, topic: int) -> Iterator[Node]:
        for rank in range(self.graph.size(topic)):
            node = self.graph.node(self.graph.page_at(topic, rank))
            if not node.hidden and self._is_easy(node):
                yield node

    def _far_from(self, topic: int) -> Iterator[Node]:
        for rank in range(self.dials.pages):
            for other in range(len(self.topics)):
                if other == topic or rank >= self.graph.size(other):
                    continue
                node = self.graph.node(self.graph.page_at(other, rank))
                if self._is_easy(node) and not self._leads_to(node, topic):
                    yield node

    def _is_easy(self, node: Node) -> bool:
        host = self.graph.hosts[node.host]
        return host.robots == "rules" and not host.failing

    def _leads_to(self, node: Node, topic: int) -> bool:
        if topic in self.pages.sections(self.graph.hosts[node.host]):
            return True
        targets = (
            self.graph.node(link.target)
            for section in self.outlinks.of(node)
            for link in section.links
        )
        return any(topic in self.graph.topics_of(page) for page in (node, *targets))

    def _fails(self, url: str, attempt: int) -> bool:
        if attempt < self.dials.first_failures:
            return True
        draw = xxhash.xxh3_64_intdigest(f"{attempt} {url}".encode(), self.dials.seed)
        return draw / 2**64 < self.dials.failure_rate

    def _robots(self, host: SyntheticHost) -> SyntheticAnswer:
        if host.robots == "missing":
            return SyntheticAnswer(404, (PLAIN,), b"not found\n")
        if host.robots == "failing":
            return SyntheticAnswer(503, (PLAIN,), b"try later\n")
        lines = ["User-agent: *", "Disallow: /private/"]
        if host.crawl_delay:
            lines.append(f"Crawl-delay: {host.crawl_delay:g}")
        return SyntheticAnswer(200, (PLAIN,), "\n".join([*lines, ""]).encode())

    def _page(self, host: SyntheticHost, path: str, query: str) -> SyntheticAnswer:
        place = self.addresses.find(host, path)
        if place is not None:
            return self._place(place)
        if path == "/":
            return SyntheticAnswer(200, body=self.pages.home(host))
        section = self._section(host, path)
        if section is not None:
            return SyntheticAnswer(200, body=self.pages.section(host, section))
        name = path.removeprefix("/").removesuffix(".html")
        if name in SMALL_PAGES:
            text = f"This is the {name} page of {host.name}."
            return SyntheticAnswer(
                200, body=self.pages.notice(host, name.capitalize(), text)
            )
        if host.calendar and path.startswith("/calendar/"):
            return self._calendar(host, path, query)
        return self._not_found(host)

    def _place(self, place: PagePlace) -> SyntheticAnswer:
        node = place.node
        if place.form == "old":
            left = place.hop - 1
            url = self.addresses.old(node, left) if left else self.addresses.page(node)
            status = 301 if node.draw % 2 else 302
            return SyntheticAnswer(status, (HTML, ("location", url)))
        altered = place.form == "print"
        if not self.dials.changing:
            kind = PDF if self.pages.is_pdf(node) else HTML
            body = self._numbered(node.number, altered, 0)
            return SyntheticAnswer(200, (kind,), body)
        now = self.clock()
        version = self.changes.version(node, now)
        date = formatdate(BEGINNING + self.changes.since(node, now), usegmt=True)
        headers = (
            HTML,
            ("etag", f'"{node.number}-{version}"'),
            ("last-modified", date),
        )
        body = self._numbered(node.number, altered, version)
        return SyntheticAnswer(200, headers, body)

    def _make_numbered(self, number: int, altered: bool, version: int) -> bytes:
        node = self.graph.node(number)
        return self.pages.numbered(node, altered=altered, version=version)

    def _section(self, host: SyntheticHost, path: str) -> int | None:
        name = path.strip("/")
        if path != f"/{name}/" or name not in self.topics:
            return None
        topic = self.topics.index(name)
        return topic if topic in self.pages.sections(host) else None

    def _calendar(self, host: SyntheticHost, path: str, query: str) -> SyntheticAnswer:
        try:
            year, month = map(int, path.removeprefix("/calendar/").split("/"))
            day = int(parse_qs(query).get("day", ["0"])[0])
        except ValueError:
            return self._not_found(host)
        if not 1 <= month <= 12:
            return self._not_found(host)
        return SyntheticAnswer(200, body=self.pages.calendar(host, year, month, day))

    def _not_found(self, host: SyntheticHost) -> SyntheticAnswer:
        text = "There is nothing at this address."
        return SyntheticAnswer(404, body=self.pages.notice(host, "Not found", text))


def topic_text(topic: str, seeds: Sequence[str]) -> str:
    """A topic file in TOML, with the table that only the lab reads."""
    return tomli_w.dumps(
        {
            "name": topic,
            "keywords": list(lexicon.TOPICS[topic])[:KEYWORDS],
            "seeds": list(seeds),
            "evaluation": {"relevant_labels": [topic]},
        }
    )
