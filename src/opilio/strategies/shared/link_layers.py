"""Tracks how many links each page is away from a relevant one.

    layer(u) = 0 if u is relevant, else min(N, 1 + min over links u → v of layer(v))

When a page turns out to be nearer than known, so do all known pages that lead to it. No
layer is lowered more than N times.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from opilio.records import Fingerprint
from opilio.strategies.shared.hashed_random import chance
from opilio.strategies.shared.notes import Notes

MOST_PARENTS = 8
UNSEEN = -1  # instead of a layer
NO_PLACE = -1


class LayerNode(NamedTuple):
    """The note on a URL."""

    layer: int = UNSEEN
    parents: tuple[Fingerprint, ...] = ()  # pages that link to it, the first ones
    words: bytes = b""  # of a page to learn from
    place: int = NO_PLACE  # among the pages to learn from


class LinkLayers:
    """The pages that were visited, their layers, and a sample to learn from."""

    def __init__(self, layers: int, seed: int, most: int) -> None:
        self.layers = layers  # N
        self.seed = seed
        self.most = most  # pages to learn from
        self.nodes: Notes[LayerNode] = Notes(LayerNode)
        self.visits = 0
        self._sample: dict[int, Fingerprint] = {}

    def visit(
        self,
        fingerprint: Fingerprint,
        links: Iterable[Fingerprint],
        relevant: bool,
        words: bytes,
    ) -> None:
        """Add a page with its links."""
        nodes = self.nodes
        layer = 0 if relevant else self.layers
        for target in links:
            node = nodes.get(target, LayerNode())
            if node.layer != UNSEEN:
                layer = min(layer, node.layer + 1)
            if len(node.parents) < MOST_PARENTS and fingerprint not in node.parents:
                nodes[target] = node._replace(parents=(*node.parents, fingerprint))
        self.visits += 1
        known = nodes.get(fingerprint, LayerNode())
        place = self._place(fingerprint) if words else NO_PLACE
        nodes[fingerprint] = LayerNode(layer, known.parents, words, place)
        self._bring_nearer(fingerprint)

    def _place(self, fingerprint: Fingerprint) -> int:
        """The place of a page in the sample, where it may replace another."""
        place = len(self._sample)
        if place >= self.most:
            place = int(chance(self.seed, self.visits) * self.most)
            out = self._sample[place]
            self.nodes[out] = self.nodes[out]._replace(words=b"", place=NO_PLACE)
        self._sample[place] = fingerprint
        return place

    def _bring_nearer(self, fingerprint: Fingerprint) -> None:
        """Update the layers of the pages that lead to a page."""
        changed = [fingerprint]
        while changed:
            node = self.nodes[changed.pop()]
            for parent in node.parents:
                above = self.nodes[parent]
                if above.layer > node.layer + 1:
                    self.nodes[parent] = above._replace(layer=node.layer + 1)
                    changed.append(parent)

    def sample(self) -> list[LayerNode]:
        """The pages to learn from, always in the same order."""
        return [self.nodes[self._sample[place]] for place in sorted(self._sample)]

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes of earlier runs."""
        self.nodes.recall(notes)
        for fingerprint, node in self.nodes.items():
            self.visits += node.layer != UNSEEN
            if node.place != NO_PLACE:
                self._sample[node.place] = fingerprint
