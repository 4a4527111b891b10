"""Shark-Search: Hersovici et al., WWW7, 1998, figure 2.

For a link u on page p:

    inherited(u) = δ·score(p)  if score(p) > 0, else δ·inherited(p)
    context      = 1           if sim(anchor) > 0, else sim(words around)
    near         = β·sim(anchor) + (1-β)·context
    promise      = γ·inherited(u) + (1-γ)·near

Symbols: sim the cosine with the topic's weight table; δ `decay`, β `anchor_weight`, γ
`inherited_weight`. The explanation shows γ·inherited and (1-γ)·near.
We differ: score(p) comes from the configured judge. Neither width nor depth is limited:
what is inherited fades by itself, and the crawl has a budget. Of several parents the
best counts, for the promise as in the paper and likewise for what is inherited. A seed
has inherited nothing. Where δ is near 1, a page without a single term of the topic
passes on more than one with a few; that is the paper's own rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Meta

from opilio.records import (
    Knowledge,
    Lease,
    Link,
    Page,
    Ranked,
    Reads,
    Subject,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.notes import Notes
from opilio.strategies.shared.similarity import Similarity

Share = Annotated[float, Meta(ge=0, le=1)]


class SharkSearchOptions(
    Section, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The three constants."""

    decay: Share = 0.5  # δ
    anchor_weight: Share = 0.8  # β
    inherited_weight: Share = 0.5  # γ


class SharkSearch:
    """Blends what a link inherits with how well its anchor and surroundings fit."""

    Options = SharkSearchOptions
    reads = Reads(context=True)

    def __init__(self, options: SharkSearchOptions, knowledge: Knowledge) -> None:
        self.decay = options.decay
        self.anchor_weight = options.anchor_weight
        self.inherited_weight = options.inherited_weight
        self.seek(knowledge.subject)
        self.inherited: Notes[float] = Notes(float)
        self.changes = self.inherited.changes

    def seek(self, subject: Subject) -> None:
        """Compare with this weight table from now on."""
        self.similarity = Similarity(subject.weights)

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the inherited scores of links of earlier runs."""
        self.inherited.recall(notes)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with what it inherits and what is near it."""
        inherited = self.decay * self.own(verdict, lease)
        for link in page.links:
            if inherited > self.inherited.get(link.fingerprint, 0.0):
                self.inherited[link.fingerprint] = inherited
        return self.ranked(page, inherited, lease.level_after(verdict))

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The same by another weight table: what was inherited by the old one is
        forgotten."""
        inherited = self.decay * self.own(verdict, lease)
        for link in page.links:
            self.inherited[link.fingerprint] = inherited
        return self.ranked(page, inherited, lease.level_after(verdict))

    def own(self, verdict: Verdict, lease: Lease) -> float:
        """What a page hands on: its score, or else what it inherited itself."""
        return verdict.score or self.inherited.get(lease.fingerprint, 0.0)

    def ranked(self, page: Page, inherited: float, level: int) -> Iterator[Ranked]:
        """Every link with both parts of its promise."""
        share = self.inherited_weight
        for link in page.links:
            near = (1 - share) * self.near(link)
            parts = {"γ·inherited": share * inherited, "(1-γ)·near": near}
            yield Ranked(link, share * inherited + near, parts, level)

    def near(self, link: Link) -> float:
        """How well the link itself and its surroundings fit the topic."""
        if link.terms is None:
            return 0.0
        anchor = self.similarity.cos(link.terms.anchor)
        context = 1.0 if anchor > 0 else self.similarity.cos(link.terms.around)
        return self.anchor_weight * anchor + (1 - self.anchor_weight) * context
