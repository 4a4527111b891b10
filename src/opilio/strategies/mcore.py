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
    fixed   promise = 1 − exp(−OBRS/2)·(1 − LARS): one of two signs is right

We differ: `paper` has LARS as the second key of the queue, since by OBRS alone the
second test comes in no order at all. In `fixed` both scores are evidence for every
link: OBRS what its own words say, LARS what the pages behind such a page are. They
are two signs that may each be wrong (noisy-or), so LARS decides where the words say
little, and hardly matters where they say much; P is shrunk to the share of the target
among all links, so that rules which tell classes apart by chance change nothing. The
importance of terms is from the ontology, or without one from the weight table, its
greatest weight 1. Without classes LARS is 0. No term is seen that is part anchor and
part surroundings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp
from typing import Annotated, Literal

import msgspec

from opilio.records import (
    CONTEXT_LENGTH,
    Knowledge,
    Lease,
    Link,
    Mode,
    Page,
    Ranked,
    Reads,
    Subject,
    Verdict,
)
from opilio.settings import Section

SCALE = 10.0  # of LARS in the paper: train-1 pages per class
SECOND = 1e-6  # what the second key of the queue counts beside the first
UNWANTED = "low_score"
FULL = 2.0  # OBRS of a link whose words alone make it likely (63 %)

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
        self.ranked = self.paper if self.literal else self.fixed
        self.reads = Reads(
            context=True,
            blocks=options.context,
            vector=self.look_ahead is not None,
            longest=options.matching == "longest",
            transcribe=options.transcription,
            look_ahead=options.look_ahead,
            context_length=options.context_length,
        )

    def seek(self, subject: Subject) -> None:
        """Score by the tables of this subject from now on."""
        self.importance = importance_of(subject)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Each link by its own context, and by the class of the page."""
        level = lease.level_after(verdict)
        lars = 0.0
        if self.look_ahead:
            lars = self.look_ahead(page, self.options.hops, self.literal)
        above = self.headings(page)
        for link in page.links:
            obrs = self.obrs(link) + above.get(link.block, 0.0)
            yield self.ranked(link, obrs, lars, level)

    rescore = rank

    def paper(self, link: Link, obrs: float, lars: float, level: int) -> Ranked:
        """One queue in the order of OBRS; links that fail both tests are unwanted."""
        scaled = SCALE * lars
        wanted = obrs > self.options.min_ontrel or scaled > self.options.min_larel
        parts = {"OBRS": obrs, "LARS": scaled}
        promise = obrs + SECOND * lars
        return Ranked(link, promise, parts, level, "" if wanted else UNWANTED)

    def fixed(self, link: Link, obrs: float, lars: float, level: int) -> Ranked:
        """Both scores together: the chance that one of them is right."""
        own = 1 - exp(-obrs / FULL)
        ahead = (1 - own) * lars
        return Ranked(link, own + ahead, {"OBRS": own, "LARS": ahead}, level)

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
