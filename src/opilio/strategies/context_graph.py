"""Context graphs: Diligenti, Coetzee, Lawrence, Giles & Gori, VLDB 2000, 527-534.

Some pages are not relevant but lead to relevant ones, in one or several steps. For each
number of steps, a classifier learns what those pages look like; the links of a page
wait in the queue of its layer, and nearer layers are emptied first:

    layer(u)   = 0 if u is relevant, else argmax_c L(c, u),  c in 1…N
    L(c, u)    = (ln P(c) + Σ_{t in u} ln P(t|c)) / √|u|
    P(t|c)     = (n(t, c) + 1) / (n(c) + V)
    promise(v) = N - layer(u) + exp L(layer, u) / Σ_c exp L(c, u)

Symbols: N layers; the last, N, is `other`: no way to a relevant page is known; n(t, c)
pages of layer c with the word t, n(c) all such pairs, V different words.
Until it has learnt, and of relevant pages, the last part is score(u).

We differ: the layers come from the crawl's own links, followed backwards from every
relevant page, where the paper asks a search engine for the pages that link to its
examples; so it learns as it crawls, at 1.3·n + 5 pages each. Words are not weighted by
tf·idf: of a page, those 300 count whose hashes are the least, the same on all pages.
The sum is divided by √|u|, so that no layer is always certain; there is no threshold,
`other` is a class. The judge decides layer 0.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
import numpy as np

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, State, Verdict
from opilio.settings import Section
from opilio.strategies.shared.linear_model import Floats
from opilio.strategies.shared.link_examples import GROWTH, MORE
from opilio.strategies.shared.link_layers import LinkLayers

MOST_WORDS = 300  # of a page
MOST_PAGES = 3_000  # to learn from
BITS = 16  # of a word's hash


class ContextGraphOptions(
    Section, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The number of layers."""

    layers: Annotated[int, msgspec.Meta(ge=2, le=8)] = 4  # N


class ContextGraph:
    """Learns what pages a few links before relevant ones look like."""

    Options = ContextGraphOptions
    reads = Reads(vector=True)

    def __init__(self, options: ContextGraphOptions, knowledge: Knowledge) -> None:
        self.last = options.layers
        self.graph = LinkLayers(options.layers, knowledge.seed, MOST_PAGES)
        self.prior = np.zeros(self.last + 1, np.float32)  # ln P(c)
        self.words = np.zeros((self.last + 1, 2**BITS), np.float32)  # ln P(t|c)
        self.age = 0  # pages that the last fit knew of
        self._new = False

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of a page by the layer that the page seems to be in."""
        words = words_of(page)
        links = [link.fingerprint for link in page.links]
        self.graph.visit(lease.fingerprint, links, verdict.relevant, words.tobytes())
        if self.graph.visits >= GROWTH * self.age + MORE:
            self.learn()
        layer, sure = self.place(words, verdict)
        promise = self.last - layer + sure
        level = lease.level_after(verdict)
        parts = {"N - layer(u)": float(self.last - layer), "P(layer|u)": sure}
        for link in page.links:
            yield Ranked(link, promise, parts, level)

    def place(
        self, words: np.ndarray[tuple[int], np.dtype[np.uint16]], verdict: Verdict
    ) -> tuple[int, float]:
        """The layer that a page seems to be in, and how sure that is."""
        if verdict.relevant:
            return 0, verdict.score
        if not self.age or not len(words):
            return self.last, verdict.score
        found = self.prior[1:] + self.words[1:, words].sum(axis=1, dtype=np.float64)
        found = found / np.sqrt(len(words))
        chances: Floats = np.exp(found - found.max())
        best = int(chances.argmax())
        return best + 1, float(chances[best] / chances.sum())

    def learn(self) -> None:
        """Count the words of the pages of each layer."""
        sample = self.graph.sample()
        layers = np.array([node.layer for node in sample], np.int64)
        if not len(layers) or layers.min() == self.last:
            return  # no page near a relevant one is known
        sizes = [len(node.words) // 2 for node in sample]
        words = np.frombuffer(b"".join(node.words for node in sample), "<u2")
        size = self.last + 1
        both = np.repeat(layers, sizes) << BITS | words
        counts = np.bincount(both, minlength=size << BITS).reshape(size, -1)
        different = np.count_nonzero(counts.sum(axis=0))
        total = counts.sum(axis=1, keepdims=True) + different
        self.words = (np.log(counts + 1) - np.log(total)).astype(np.float32)
        pages = np.bincount(layers, minlength=size) + 1
        self.prior = np.log(pages / pages.sum()).astype(np.float32)
        self.age, self._new = self.graph.visits, True

    def missed(self, lease: Lease, state: State) -> None:
        """Count a visit without a page as `other`."""
        self.graph.visit(lease.fingerprint, (), False, b"")

    def dump(self) -> bytes | None:
        """What was counted, if that is new."""
        if not self._new:
            return None
        self._new = False
        file = io.BytesIO()
        np.savez_compressed(file, words=self.words, prior=self.prior, age=self.age)
        return file.getvalue()

    def load(self, learnt: bytes) -> None:
        """Restore the counts."""
        with np.load(io.BytesIO(learnt), allow_pickle=False) as found:
            self.words, self.prior = found["words"], found["prior"]
            self.age = int(found["age"])

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on pages and links that changed."""
        return self.graph.nodes.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on them."""
        self.graph.recall(notes)


def words_of(page: Page) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    """A sample of the words of a page, chosen in the same way for all pages."""
    stems = np.frombuffer(page.stems, "<u8")[:MOST_WORDS]
    # The upper bits are alike, since these are the least.
    return (stems & np.uint64(2**BITS - 1)).astype("<u2")
