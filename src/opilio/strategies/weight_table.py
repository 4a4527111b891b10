"""Weight table: Meenu, Singla & Batra, section 3.2.6, equation 5.

For a link k of page p, if Relevancy(t,p) is above the page's threshold:

    LinkScore(k) = α + β + γ + ω

Symbols: t the topic's weight table; α URLScore, β AnchorScore, ω SurroundingScore: the
cosine (equation 4) of t with the words of the link's address, of its anchor, and around
it; γ ParentScore, Relevancy(t,p), the verdict on p. Each is in [0, 1].

`paper`: links of pages that are not relevant are not wanted (reason `page`), nor are
links whose LinkScore is not above `link_threshold` (reason `link_score`).

We differ (`fixed`): nothing is dropped, or no page that is reached only across an
irrelevant one would be found. Such links wait behind all others: promise =
LinkScore - 4.
In both modes Relevancy(t,p) and its threshold are the configured judge's (`cosine` is
equation 4) unless `page_threshold` is set; the paper gives no thresholds. Of several
parents the best counts: the frontier keeps the larger promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from opilio.records import (
    TIER,
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
from opilio.strategies.shared.similarity import Similarity

MOST = 4.0  # the largest LinkScore

LinkScore = Annotated[float, Meta(ge=0, le=MOST)]


class WeightTableOptions(
    Section, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The two thresholds, neither of which the paper gives."""

    mode: Mode = "fixed"
    page_threshold: Annotated[float, Meta(ge=0, le=1)] | None = None  # None: judge's
    link_threshold: LinkScore = 0.1


class WeightTable:
    """Adds up how well address, anchor, page and surroundings fit the topic."""

    Options = WeightTableOptions
    reads = Reads(context=True)

    def __init__(self, options: WeightTableOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.seek(knowledge.subject)

    def seek(self, subject: Subject) -> None:
        """Score by this weight table from now on: it is that of a query log."""
        self.similarity = Similarity(subject.weights)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with its four scores."""
        relevant = self.is_relevant(verdict)
        level = lease.level_after(verdict)
        for link in page.links:
            parts = self.scores(link, verdict.score)
            score = sum(parts.values())
            if relevant and score > self.options.link_threshold:
                yield Ranked(link, score, parts, level)
            elif self.options.mode == "fixed":
                yield Ranked(
                    link, score - MOST, {**parts, f"{TIER}behind": -MOST}, level
                )
            else:
                reason = "link_score" if relevant else "page"
                yield Ranked(link, score, parts, level, reason)

    rescore = rank

    def is_relevant(self, verdict: Verdict) -> bool:
        """Whether the page is relevant enough for its links to be followed."""
        threshold = self.options.page_threshold
        return verdict.relevant if threshold is None else verdict.score > threshold

    def scores(self, link: Link, parent: float) -> dict[str, float]:
        """The parts of the LinkScore that are not 0, by their names in the paper."""
        if link.terms is None:
            return {"γ parent": parent}
        cos = self.similarity.cos
        parts = {
            "α url": cos(link.terms.url),
            "β anchor": cos(link.terms.anchor),
            "γ parent": parent,
            "ω surrounding": cos(link.terms.around),
        }
        return {name: score for name, score in parts.items() if score}
