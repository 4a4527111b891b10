"""Answers requests to a synthetic web of lists; a page is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from urllib.parse import urlsplit

from opilio.lab.synthetic.lists.addresses import (
    ARCHIVED,
    SMALL_PAGES,
    ListAddresses,
    ListPagePlace,
)
from opilio.lab.synthetic.lists.dials import ListDials
from opilio.lab.synthetic.lists.pages import ListPages
from opilio.lab.synthetic.lists.sections import Item, ListSection, Sections
from opilio.lab.synthetic.vocabulary import TopicWords
from opilio.lab.synthetic.web import HTML, PLAIN, SyntheticAnswer, topic_text

SEEDS = 2  # of a topic


class ListWeb:
    """A seeded web of lists: only sections are kept in memory."""

    def __init__(self, dials: ListDials) -> None:
        self.dials = dials
        self.sections = Sections(dials, TopicWords(dials.seed, dials.topics))
        self.addresses = ListAddresses(self.sections)
        self.pages = ListPages(self.sections, self.addresses)
        self.topics = self.sections.vocabulary.topics
        self.hosts = self.sections.hosts
        self.title = f"Synthetic web of lists: {dials.pages} items, seed {dials.seed}"
        self._numbers = {name: number for number, name in enumerate(self.hosts)}

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        """The answer to a request; this web never fails."""
        parts = urlsplit(url)
        host = self._numbers.get(parts.hostname or "")
        if host is None or parts.port not in (None, 80):
            return SyntheticAnswer(502, (PLAIN,), b"no such host\n")
        if parts.path == "/robots.txt":
            return SyntheticAnswer(200, (PLAIN,), b"User-agent: *\nDisallow:\n")
        place = self.addresses.find(host, url)
        if place is None:
            text = "There is nothing at this address."
            return SyntheticAnswer(404, body=self.pages.notice(host, "Not found", text))
        return SyntheticAnswer(200, (HTML,), self._body(host, place))

    def labels(self, url: str) -> tuple[str, ...]:
        """The topic of an item; lists have none."""
        host = self._numbers.get(urlsplit(url).hostname or "")
        place = None if host is None else self.addresses.find(host, url)
        if place is None or place.kind != "item":
            return ()
        return (self.topics[self.sections.item(place.number).topic],)

    def urls(self) -> Iterator[str]:
        """The URL of every page."""
        for host in range(len(self.hosts)):
            for path in self._paths(host):
                yield self.addresses.url(host, path)
        for number in range(self.dials.pages):
            yield self.addresses.item_url(self.sections.item(number))

    def detours(self) -> Iterator[str]:
        """The URLs that are linked but give no page."""
        for number in range(self.dials.pages):
            item = self.sections.item(number)
            if item.withdrawn:
                host = self.sections.all[item.section].host
                yield self.addresses.url(host, self.addresses.withdrawn(item))

    def seeds(self, topic: str, n: int) -> tuple[str, ...]:
        """Items about a topic to start from, from different sections if possible."""
        if topic not in self.topics:
            return ()
        index = self.topics.index(topic)
        own = sorted(
            self.sections.of_topic.get(index, ()),
            key=lambda each: self.sections.draw(each.number, 13),
        )
        rounds = [list(islice(self._about(section, index), n)) for section in own]
        turns = (item for turn in zip_longest(*rounds) for item in turn if item)
        return tuple(self.addresses.item_url(item) for item in islice(turns, n))

    def topic_file(self, topic: str) -> str:
        """A topic file in TOML, with the table that only the lab reads."""
        return topic_text(topic, self.seeds(topic, SEEDS))

    def _about(self, section: ListSection, topic: int) -> Iterator[Item]:
        """The items of a section about a topic, from a random place on."""
        start = self.sections.draw(section.number, 12) % section.size
        for step in range(section.size):
            item = self.sections.item(section.start + (start + step) % section.size)
            if item.topic == topic:
                yield item

    def _paths(self, host: int) -> Iterator[str]:
        """The paths of all pages of a host except its items."""
        yield from ("/", "/browse/", "/archive/")
        for name in SMALL_PAGES:
            yield f"/{name}.html"
        for year in self.sections.years(host):
            count = len(self.sections.items_of_year(host, year))
            for page in range(1, max(1, -(-count // ARCHIVED)) + 1):
                yield self.addresses.archive(year, page)
        for section in self.sections.of_host[host]:
            for page in range(1, section.lists + 1):
                yield self.addresses.list(section, page)

    def _body(self, host: int, place: ListPagePlace) -> bytes:
        """The page at a place."""
        pages = self.pages
        match place.kind:
            case "home":
                return pages.home(host)
            case "browse":
                return pages.browse(host)
            case "years":
                return pages.years(host)
            case "archive":
                return pages.archive(host, place.number, place.page)
            case "small":
                text = f"This is the {place.name} page of {self.hosts[host]}."
                return pages.notice(host, place.name.capitalize(), text)
        if place.section and place.kind == "list":
            return pages.listing(place.section, place.page)
        return pages.item(self.sections.item(place.number))
