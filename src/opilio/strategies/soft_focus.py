"""Soft and hard focus: Chakrabarti, van den Berg & Dom, WWW8, 1999.

    soft: promise(u) = R(p)
    hard: the same, but links of a page that is not relevant are not wanted

Symbols: p, a page that links to u; R(p) = Pr(topic | p), the relevance of p. Of several
parents the best counts.
We differ: R(p) is the score of the configured judge, which should give a probability;
the paper's is naive Bayes over a taxonomy, and its hard rule asks whether the likeliest
class of p is below a good one, where we ask whether the judge calls p relevant. An
unwanted link (reason `page`) waits once it is found on a relevant page. Retries and
load of servers are the frontier's, and there is no distiller: links of hubs do not move
up.
With `focus=soft` this is best-first, whose score need not be a probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.settings import Section


class SoftFocusOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choice between the two rules."""

    focus: Literal["soft", "hard"] = "soft"


class SoftFocus:
    """Visits links of pages that are likely on topic; can refuse all others."""

    Options = SoftFocusOptions
    reads = Reads()

    def __init__(self, options: SoftFocusOptions, knowledge: Knowledge) -> None:
        self.is_hard = options.focus == "hard"

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with the probability that the page is on topic."""
        level = lease.level_after(verdict)
        reason = "page" if self.is_hard and not verdict.relevant else ""
        parts = {"R(p)": verdict.score}
        for link in page.links:
            yield Ranked(link, verdict.score, parts, level, reason)

    rescore = rank
