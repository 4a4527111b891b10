"""MCORE: Kumar & Vig, Multilingual Context Ontology Rule Enhanced Focused Web Crawler.

For a link, and T over every row of the importance table:

    OBRS = Σ_T count(T in context) · importance(T)
    LARS = max over n ≤ hops of Σ_k Pr(k | page) · Pⁿ(k → target)

and it is visited if OBRS > Min_OntRel, or else if LARS > Min_LaRel.

Symbols: context, the anchor, the words around it and the headings above it, words of
other languages by what they mean; Pr(k | page), how likely the page that holds the
link is of class k; Pⁿ, the class rules applied n times; target, the class sought.

    paper   promise = OBRS + 10⁻⁷·LARS, with LARS on a scale of ten;
            a link that fails both tests is unwanted
    fixed   promise = 1 − exp(−OBRS/2)·(1 − LARS): one of two signs is right;
            with classes, how far either is right is learnt from the links of the
            example pages and from visits (shared/learnt_blend.py)

We differ: `paper` has LARS as the second key of the queue, since by OBRS alone the
second test comes in no order at all. In `fixed` both scores are evidence for every
link: OBRS what its own words say, LARS what the pages behind such a page are. P is
shrunk to the share of the target among all links, so that rules which tell classes
apart by chance change nothing. The importance of terms is from the ontology, or without
one from the weight table, its greatest weight 1. Without classes LARS is 0. No term is
seen that is part anchor and part surroundings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np

from opilio.records import (
    CONTEXT_LENGTH,
    ExampleLink,
    Knowledge,
    Lease,
    Link,
    Mode,
    Page,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.learnt_blend import LearntBlend, Row, noisy_or
from opilio.strategies.shared.linear_model import Floats

SCALE = 10.0  # of LARS in the paper: train-1 pages per class
SECOND = 1e-6  # what the second key of the queue counts beside the first
UNWANTED = "low_score"

Least = Annotated[float, msgspec.Meta(ge=0)]


class McoreOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options to switch off parts of MCORE, to measure their effect."""

    mode: Mode = "fixed"
    min_ontrel: Least = 5.0  # Min_OntRel and Min_LaRel, in mode paper
    min_larel: Least = 3.0
    transcription: bool = True  # read other languages by the topic's dictionaries
    context: bool = True  # False: the anchor alone
    context_length: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = CONTEXT_LENGTH
    look_ahead: bool = True
    hops: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1  # rules in a row, at most
    matching: Literal["longest", "literal"] = "longest"  # literal: terms in terms too


class Mcore:
    """Sums the importance of terms around a link; looks ahead by rules of classes."""

    Options = McoreOptions

    def __init__(self, options: McoreOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.seek(knowledge.subject)
        self.look_ahead = knowledge.look_ahead if options.look_ahead else None
        self.literal = options.mode == "paper"
        self.blend: LearntBlend | None = None
        if self.look_ahead and not self.literal:
            self.blend = LearntBlend(knowledge.seed, self.rows(knowledge.class_links))
        self.reads = Reads(
            context=True,
            blocks=options.context,
            vector=self.look_ahead is not None,
            longest=options.matching == "longest",
            transcribe=options.transcription,
            look_ahead=options.look_ahead,
            context_length=options.context_length,
        )

    def rows(self, links: Sequence[ExampleLink]) -> list[Row]:
        """OBRS and LARS of links of example pages, and where they lead."""
        found = [(*self.scores(one.page)[one.place], one.leads_there) for one in links]
        return [(float(obrs), float(lars), there) for obrs, lars, there in found]

    def seek(self, subject: Subject) -> None:
        """Score by the tables of this subject from now on."""
        self.importance = importance_of(subject)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Each link by its own context, and by the class of the page."""
        scores = self.scores(page)
        if self.blend:
            self.blend.settle(lease.fingerprint, verdict.relevant)
            self.blend.expect(page.links, scores)
        return self.ranked(page, scores, lease.level_after(verdict))

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The same for a page that was ranked before."""
        scores = self.scores(page)
        if self.blend:
            self.blend.replace(page.links, scores)
        return self.ranked(page, scores, lease.level_after(verdict))

    def scores(self, page: Page) -> Floats:
        """OBRS and LARS of each link."""
        lars = 0.0
        if self.look_ahead:
            lars = self.look_ahead(page, self.options.hops, self.literal)
        above = self.headings(page)
        rows = [
            (self.obrs(link) + above.get(link.block, 0.0), lars) for link in page.links
        ]
        return np.array(rows, np.float64).reshape(-1, 2)

    def ranked(self, page: Page, scores: Floats, level: int) -> Iterator[Ranked]:
        """Each link with its promise."""
        if self.blend:
            promises = self.blend.promises(scores).tolist()
            parts = self.blend.parts(scores)
            for link, promise, told in zip(page.links, promises, parts, strict=True):
                yield Ranked(link, promise, told, level)
            return
        for link, (obrs, lars) in zip(page.links, scores.tolist(), strict=True):
            if self.literal:
                yield self.paper(link, obrs, lars, level)
            else:
                own = noisy_or(obrs, 0.0)
                yield Ranked(link, own, {"OBRS": own, "LARS": 0.0}, level)

    def paper(self, link: Link, obrs: float, lars: float, level: int) -> Ranked:
        """One queue in the order of OBRS; links that fail both tests are unwanted."""
        scaled = SCALE * lars
        wanted = obrs > self.options.min_ontrel or scaled > self.options.min_larel
        parts = {"OBRS": obrs, "LARS": scaled}
        promise = obrs + SECOND * lars
        return Ranked(link, promise, parts, level, "" if wanted else UNWANTED)

    def obrs(self, link: Link) -> float:
        """OBRS of a link without the headings above it."""
        if link.terms is None:
            return 0.0
        score = self.sum(link.terms.anchor.terms)
        return (
            score + self.sum(link.terms.around.terms) if self.options.context else score
        )

    def headings(self, page: Page) -> dict[int, float]:
        """OBRS of the headings above each block that has any to count."""
        found: dict[int, float] = {}
        for number, block in enumerate(page.blocks):  # what is above comes first
            own = self.sum(block.heading_terms.terms)
            if score := own + found.get(block.parent, 0.0):
                found[number] = score
        return found

    def revise(self) -> Iterable[Revision]:
        """The promises of waiting links, each time something was learnt."""
        return self.blend.revise() if self.blend else ()

    def missed(self, lease: Lease, state: State) -> None:
        """A visit without a page says nothing about words and rules."""
        if self.blend:
            self.blend.settle(lease.fingerprint, False, teaches=False)

    def dump(self) -> bytes | None:
        """How far words and rules are trusted, if that is new."""
        return self.blend.dump() if self.blend else None

    def load(self, learnt: bytes) -> None:
        """Restore how far words and rules are trusted."""
        if self.blend:
            self.blend.load(learnt)

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on links that changed."""
        return self.blend.changes() if self.blend else ()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on links."""
        if self.blend:
            self.blend.recall(notes)

    def sum(self, terms: Mapping[str, int]) -> float:
        """Σ count(T) · importance(T)."""
        known = self.importance
        return sum(count * known.get(term, 0.0) for term, count in terms.items())


def importance_of(subject: Subject) -> Mapping[str, float]:
    """The importance table, or else importances from the weight table."""
    if subject.importance:
        return subject.importance
    most = max(subject.weights.values(), default=1.0)
    return {term: weight / most for term, weight in subject.weights.items()}
