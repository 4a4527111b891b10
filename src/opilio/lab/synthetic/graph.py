"""Computes the host, topic, rank, traits and URL of a synthetic page from its number.

Nothing here grows with the number of pages. Hosts own ranges of page numbers, and
the topics of a host's pages repeat a pattern of twenty, so that both "the k-th page
of topic t" and its inverse are a search in a table of the hosts. The rank of a page
in its topic decides how popular it is; a multiplication modulo the topic's size
spreads the ranks over the hosts.

Page numbers from `pages` on are tunnels. Of each block of a topic's ranks the last
few are hidden: no page links to them but the last page of the block's tunnel, and
they link to each other. The tunnel is entered from the first two pages of the block.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate

import msgspec
import xxhash

from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.hosts import PERIOD, make_hosts, make_patterns
from opilio.lab.synthetic.vocabulary import TopicWords

FOLDERS = ("pages", "articles", "notes", "posts")  # that do not tell the topic
MEMO = 16_384  # nodes remembered
PATHS = 24  # random stream of addresses that do not tell the topic


class Kind(StrEnum):
    """How a page is laid out."""

    ARTICLE = "article"
    HUB = "hub"
    MIXED = "mixed"
    TUNNEL = "tunnel"


class Node(msgspec.Struct, frozen=True):
    """A page as the link graph knows it."""

    number: int
    host: int
    topic: int
    rank: int  # in its topic, 0 the most popular; -1 in a tunnel
    kind: Kind
    draw: int  # 64 random bits of its own
    title: str
    path: str
    hidden: bool = False
    hindi: bool = False
    copied: bool = False
    nearly_copied: bool = False
    moved: int = 0  # redirects between its old address and this one


class Graph:
    """Hosts, topics and pages; every question is answered by arithmetic."""

    def __init__(self, dials: Dials, vocabulary: TopicWords) -> None:
        self.dials = dials
        self.vocabulary = vocabulary
        self.topic_count = len(vocabulary.topics)
        self.patterns = make_patterns(dials, self.topic_count)
        self.hosts = make_hosts(dials, vocabulary.topics)
        self.host_by_name = {host.name: host for host in self.hosts}
        self._starts = array("q", [host.start for host in self.hosts])
        self._before = [self._pages_before(t) for t in range(self.topic_count)]
        self._sizes = [before[-1] for before in self._before]
        self._steps = [coprime_near(size) for size in self._sizes]
        self._inverses = [
            pow(step, -1, size) if size > 1 else 0
            for step, size in zip(self._steps, self._sizes, strict=True)
        ]
        # A small web need not have pages of every topic.
        self.present = [t for t in range(self.topic_count) if self._sizes[t]]
        self.block = 0  # ranks that share a tunnel
        if dials.hidden and len(self.present) > 1:
            spread = round(dials.behind_tunnel / dials.hidden)
            self.block = max(dials.behind_tunnel + 2, spread)
        blocks = [size // self.block if self.block else 0 for size in self._sizes]
        self._tunnels_before = [0, *accumulate(blocks)]
        self.tunnel_pages = self._tunnels_before[-1] * dials.tunnel_length
        self.node = lru_cache(MEMO)(self._node)

    def _pages_before(self, topic: int) -> array[int]:
        counts = (
            self.patterns[host.pattern].count(topic, host.size) for host in self.hosts
        )
        return array("q", accumulate(counts, initial=0))

    # Where a page is, and which page is where.

    def size(self, topic: int) -> int:
        """How many pages are mainly about a topic."""
        return self._sizes[topic]

    def size_on(self, topic: int, host: int) -> int:
        """How many of them are on a host."""
        before = self._before[topic]
        return before[host + 1] - before[host]

    def page_at(self, topic: int, rank: int) -> int:
        """The page of this rank in its topic."""
        place = rank * self._steps[topic] % self._sizes[topic]
        host = bisect_right(self._before[topic], place) - 1
        return self.page_on(topic, host, place - self._before[topic][host])

    def page_on(self, topic: int, host: int, place: int) -> int:
        """The page that is a host's `place`-th about a topic."""
        places = self.patterns[self.hosts[host].pattern].places[topic]
        rounds, slot = divmod(place, len(places))
        return self._starts[host] + rounds * PERIOD + places[slot]

    def locate(self, number: int) -> tuple[int, int, int]:
        """Host, topic and rank of a page; the inverse of `page_at`."""
        host = bisect_right(self._starts, number) - 1
        rounds, slot = divmod(number - self._starts[host], PERIOD)
        pattern = self.patterns[self.hosts[host].pattern]
        topic = pattern.slots[slot]
        places = pattern.places[topic]
        place = self._before[topic][host] + rounds * len(places) + places.index(slot)
        rank = place * self._inverses[topic] % self._sizes[topic]
        return host, topic, rank

    def is_hidden(self, topic: int, rank: int) -> bool:
        """Whether only a tunnel leads to the page of this rank."""
        block = self.block
        if not block or rank >= self._sizes[topic] // block * block:
            return False
        return rank % block >= block - self.dials.behind_tunnel

    def shown(self, topic: int, rank: int) -> int:
        """The page of this rank or, if it is hidden, one of similar popularity."""
        if self.is_hidden(topic, rank):
            block, place = divmod(rank, self.block)
            rank = block * self.block + place % (self.block - self.dials.behind_tunnel)
        return self.page_at(topic, rank)

    # Tunnels.

    def tunnel(self, topic: int, block: int, step: int) -> int:
        """The page number of a step of the tunnel to a block's hidden pages."""
        index = self._tunnels_before[topic] + block
        return self.dials.pages + index * self.dials.tunnel_length + step

    def tunnel_at(self, number: int) -> tuple[int, int, int]:
        """Topic, block and step of a tunnel's page; the inverse of `tunnel`."""
        index, step = divmod(number - self.dials.pages, self.dials.tunnel_length)
        topic = bisect_right(self._tunnels_before, index) - 1
        return topic, index - self._tunnels_before[topic], step

    def entrance(self, node: Node) -> int | None:
        """The tunnel page that this page links to, if it does."""
        if not self.block or node.kind is Kind.TUNNEL:
            return None
        block, place = divmod(node.rank, self.block)
        if place > 1 or block >= self._sizes[node.topic] // self.block:
            return None
        return self.tunnel(node.topic, block, 0)

    def behind(self, topic: int, block: int) -> list[int]:
        """The hidden pages at the end of a tunnel."""
        end = (block + 1) * self.block
        hidden = range(end - self.dials.behind_tunnel, end)
        return [self.page_at(topic, rank) for rank in hidden]

    # What a page is.

    def other_topic(self, topic: int, draw: int) -> int:
        """Another topic that has pages, if any has."""
        present = self.present
        if len(present) == 1:
            return topic
        place = present.index(topic) + 1 + draw % (len(present) - 1)
        return present[place % len(present)]

    def draw(self, number: int, purpose: int = 0) -> int:
        """64 bits that depend on the web's seed, the page and the purpose only."""
        seed = self.dials.seed * 64 + purpose & 0xFFFF_FFFF_FFFF_FFFF
        return xxhash.xxh3_64_intdigest(number.to_bytes(8, "little"), seed)

    def _node(self, number: int) -> Node:
        if number >= self.dials.pages:
            return self._tunnel_node(number)
        dials = self.dials
        host, topic, rank = self.locate(number)
        draw, traits = self.draw(number), self.draw(number, 1)
        kind_draw, hindi, copied, nearly = (
            (traits >> shift & 0xFFFF) / 65536 for shift in (0, 16, 32, 48)
        )
        kind = Kind.ARTICLE
        if kind_draw < dials.hubs:
            kind = Kind.HUB
        elif kind_draw < dials.hubs + dials.mixed and len(self.present) > 1:
            kind = Kind.MIXED
        moved = self.draw(number, 2)
        title = self.vocabulary.title(topic, draw)
        return Node(
            number=number,
            host=host,
            topic=topic,
            rank=rank,
            kind=kind,
            draw=draw,
            title=title,
            path=self._path(host, title, number, draw),
            hidden=self.is_hidden(topic, rank),
            hindi=hindi < dials.hindi,
            copied=copied < dials.copies,
            nearly_copied=nearly < dials.near_copies,
            moved=1 + moved % 3 if moved / 2**64 < dials.moved else 0,
        )

    def _tunnel_node(self, number: int) -> Node:
        target, _, _ = self.tunnel_at(number)
        draw = self.draw(number)
        topic = self.other_topic(target, draw)
        host = self.locate(draw % self.dials.pages)[0]
        title = self.vocabulary.title(topic, draw)
        return Node(
            number=number,
            host=host,
            topic=topic,
            rank=-1,
            kind=Kind.TUNNEL,
            draw=draw,
            title=title,
            path=self._path(host, title, number, draw),
        )

    def _path(self, host: int, title: str, number: int, draw: int) -> str:
        if self.draw(number, PATHS) / 2**64 < self.dials.path_noise:
            title = self.vocabulary.title(-1, draw)
        slug = title.lower().replace(": ", " ").replace(" ", "-")
        return f"/{FOLDERS[host % len(FOLDERS)]}/{slug}-{number}.html"

    def topics_of(self, node: Node) -> tuple[int, ...]:
        """What a page is about, first its main topic."""
        if node.kind is not Kind.MIXED:
            return (node.topic,)
        others = [topic for topic in self.present if topic != node.topic]
        count = min(len(others), 1 + (node.draw >> 20) % 2)
        start = (node.draw >> 24) % len(others)
        return (node.topic, *((others + others)[start : start + count]))


def coprime_near(size: int) -> int:
    """A step that visits each of `size` places once, neighbours far apart."""
    step = max(1, round(size * 0.618))
    while size > 1 and math.gcd(step, size) != 1:
        step += 1
    return step
