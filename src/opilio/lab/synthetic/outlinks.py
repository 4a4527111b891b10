"""Chooses the sections of a synthetic page, each with a topic and its links."""

from __future__ import annotations

import random
from typing import NamedTuple

from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.addresses import Addresses
from opilio.lab.synthetic.graph import Graph, Kind, Node
from opilio.lab.synthetic.hosts import SyntheticHost

BY_ANOTHER_NAME = 0.3  # share of links to a page that use its other address
REDRAWS = 3  # attempts to find a page that is not linked yet
LONGEST = 12  # times the mean: what the power law of links is cut at


class Outlink(NamedTuple):
    """A link in the text of a page."""

    url: str
    anchor: str
    target: int  # the page it leads to, or would lead to if it were not dead
    dead: bool = False


class LinkSection(NamedTuple):
    """A part of a page about one topic."""

    topic: int
    links: list[Outlink]


class Outlinks:
    """Chooses what the pages of a graph link to."""

    def __init__(self, graph: Graph, addresses: Addresses) -> None:
        self.graph = graph
        self.addresses = addresses
        self.dials = graph.dials
        # Drawing rank r with density (r+1)^(1/a - 1) gives the links to a page a power
        # law of exponent 1 + a/(a-1).
        exponent = self.dials.in_exponent
        self._skew = (exponent - 1) / (exponent - 2)

    def news(self, node: Node, rng: random.Random) -> list[Outlink]:
        """A link that a page has for a while."""
        return [self._link(node, node.topic, rng, {node.number})]

    def of(self, node: Node) -> list[LinkSection]:
        """The sections of a page."""
        rng = random.Random(self.graph.draw(node.number, 5))
        topics = self.graph.topics_of(node)
        count = self._degree(rng)
        if node.kind is Kind.HUB:
            count = round(count * self.dials.hub_links)
        seen = {node.number}
        sections = [
            LinkSection(
                topic,
                [
                    self._link(node, topic, rng, seen)
                    for _ in range(part, count, len(topics))
                ],
            )
            for part, topic in enumerate(topics)
        ]
        for number, anchor in self._passages(node):
            target = self.graph.node(number)
            link = Outlink(
                self._address(target), anchor or self._title(node, target), number
            )
            links = sections[0].links
            links.insert(rng.randrange(len(links) + 1), link)
        return sections

    def of_host(self, host: SyntheticHost, topic: int, count: int) -> list[Outlink]:
        """Links to the pages of a host about a topic, the most popular first."""
        links = []
        for place in range(min(count, self.graph.size_on(topic, host.number))):
            node = self.graph.node(self.graph.page_on(topic, host.number, place))
            if not node.hidden:
                links.append(
                    Outlink(self.addresses.page(node), node.title, node.number)
                )
        return links

    def _degree(self, rng: random.Random) -> int:
        exponent, mean = self.dials.out_exponent, self.dials.links
        least = mean * (exponent - 2) / (exponent - 1)
        degree = least * (1 - rng.random()) ** (-1 / (exponent - 1))
        return int(min(degree, LONGEST * mean) + rng.random())

    def _link(
        self, node: Node, topic: int, rng: random.Random, seen: set[int]
    ) -> Outlink:
        chance = rng.random()
        topic = self._topic(topic, rng)
        target = self._target(node, topic, rng)
        for _ in range(REDRAWS):
            if target.number not in seen:
                break
            target = self._target(node, topic, rng)
        seen.add(target.number)
        anchor = self._anchor(node, target, rng)
        if chance < self.dials.dead_links:
            url = self.addresses.dead(target, node.number)
            return Outlink(url, anchor, target.number, dead=True)
        if chance < self.dials.dead_links + self.dials.decoys:
            return Outlink(self.addresses.decoy(target), anchor, target.number)
        url = self._address(target, rng)
        if target.host == node.host and self.graph.hosts[node.host].sessions:
            url += f"?PHPSESSID={self.graph.draw(node.number, 6):016x}"
        return Outlink(url, anchor, target.number)

    def _topic(self, topic: int, rng: random.Random) -> int:
        """The topic of a link in a section about this topic."""
        if rng.random() < self.dials.locality:
            return topic
        if self.dials.next_topic and rng.random() < self.dials.next_topic:
            return (topic + 1) % self.graph.topic_count
        return self.graph.other_topic(topic, rng.getrandbits(32))

    def _target(self, node: Node, topic: int, rng: random.Random) -> Node:
        graph = self.graph
        local = graph.size_on(topic, node.host)
        staying = self.dials.same_host
        if node.kind is Kind.HUB:
            staying *= 1 - self.dials.hubs_abroad
        if local > 1 and rng.random() < staying:
            place = self._rank(local, rng)
            target = graph.node(graph.page_on(topic, node.host, place))
            if not target.hidden:
                return target
        return graph.node(graph.shown(topic, self._rank(graph.size(topic), rng)))

    def _rank(self, size: int, rng: random.Random) -> int:
        end = (size + 1) ** (1 / self._skew)
        return min(int((1 + rng.random() * (end - 1)) ** self._skew) - 1, size - 1)

    def _address(self, target: Node, rng: random.Random | None = None) -> str:
        others = []
        if target.copied:
            others.append(self.addresses.copy)
        if target.nearly_copied:
            others.append(self.addresses.near_copy)
        if target.moved:
            others.append(self.addresses.old)
        if rng is None or not others or rng.random() >= BY_ANOTHER_NAME:
            return self.addresses.page(target)
        return rng.choice(others)(target)

    def _anchor(self, node: Node, target: Node, rng: random.Random) -> str:
        if rng.random() >= self.dials.anchor_noise:
            return self._title(node, target)
        if rng.random() < 0.5:
            return rng.choice(lexicon.VAGUE)
        topic = rng.randrange(self.graph.topic_count)
        return self.graph.vocabulary.title(topic, rng.getrandbits(64), node.hindi)

    def _title(self, node: Node, target: Node) -> str:
        """The target's title in the language of the page that links to it."""
        if not node.hindi:
            return target.title
        return self.graph.vocabulary.title(target.topic, target.draw, hindi=True)

    def _passages(self, node: Node) -> list[tuple[int, str]]:
        """The pages that this one links to as part of a tunnel, with uninformative
        anchors."""
        graph = self.graph
        vague = lexicon.VAGUE[node.draw % len(lexicon.VAGUE)]
        if node.kind is Kind.TUNNEL:
            topic, block, step = graph.tunnel_at(node.number)
            if step + 1 < self.dials.tunnel_length:
                return [(graph.tunnel(topic, block, step + 1), "")]
            return [(graph.behind(topic, block)[0], vague)]
        if node.hidden:
            hidden = graph.behind(node.topic, node.rank // graph.block)
            return [(number, "") for number in hidden if number != node.number]
        entrance = graph.entrance(node)
        return [] if entrance is None else [(entrance, "")]
