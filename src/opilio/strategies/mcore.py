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
    fixed   promise = stage + key, with O = 1 − exp(−OBRS):
            stage 2, key O       if O > min_ontrel
            stage 1, key LARS    else if LARS > min_larel
            stage 0, key (1 − 10⁻⁶)·O + 10⁻⁶·LARS    else

We differ: `paper` has LARS as the second key of the queue, since OBRS alone gives no
order to links that pass only the second test. In `fixed` the tests are stages, each
ordered by the value that it tests, and links that fail both wait below them. The
importance of terms is from the ontology, or without one from the weight table, its
greatest weight 1. Without classes LARS is 0. Terms that are partly in the anchor and
partly around it are not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp
from typing import Annotated, Literal

import msgspec

from opilio.records import (
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
LEAST = {"paper": (5.0, 3.0), "fixed": (0.5, 0.3)}  # Min_OntRel and Min_LaRel
UNWANTED = "low_score"

Least = Annotated[float, msgspec.Meta(ge=0)]


class McoreOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options to switch off parts of MCORE, to measure their effect."""

    mode: Mode = "fixed"
    min_ontrel: Least | None = None  # None: the mode's own
    min_larel: Least | None = None
    transcription: bool = True  # read other languages by the topic's dictionaries
    context: bool = True  # False: the anchor alone
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
        ontrel, larel = LEAST[options.mode]
        self.min_ontrel = ontrel if options.min_ontrel is None else options.min_ontrel
        self.min_larel = larel if options.min_larel is None else options.min_larel
        self.ranked = self.paper if options.mode == "paper" else self.fixed
        self.reads = Reads(
            context=True,
            blocks=options.context,
            vector=self.look_ahead is not None,
            longest=options.matching == "longest",
            transcribe=options.transcription,
            look_ahead=options.look_ahead,
        )

    def seek(self, subject: Subject) -> None:
        """Score by the tables of this subject from now on."""
        self.importance = importance_of(subject)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Each link by its own context, and by the class of the page."""
        level = lease.level_after(verdict)
        lars = self.look_ahead(page, self.options.hops) if self.look_ahead else 0.0
        above = self.headings(page)
        for link in page.links:
            obrs = self.obrs(link) + above.get(link.block, 0.0)
            yield self.ranked(link, obrs, lars, level)

    rescore = rank

    def paper(self, link: Link, obrs: float, lars: float, level: int) -> Ranked:
        """One queue in the order of OBRS; links that fail both tests are unwanted."""
        scaled = SCALE * lars
        wanted = obrs > self.min_ontrel or scaled > self.min_larel
        parts = {"OBRS": obrs, "LARS": scaled}
        promise = obrs + SECOND * lars
        return Ranked(link, promise, parts, level, "" if wanted else UNWANTED)

    def fixed(self, link: Link, obrs: float, lars: float, level: int) -> Ranked:
        """Two stages, and below them the rest."""
        near = 1 - exp(-obrs)
        if near > self.min_ontrel:
            stage, key = 2.0, near
        elif lars > self.min_larel:
            stage, key = 1.0, lars
        else:
            stage, key = 0.0, near * (1 - SECOND) + lars * SECOND
        parts = {"stage": stage, "OBRS": obrs, "LARS": lars}
        return Ranked(link, stage + key, parts, level)

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
