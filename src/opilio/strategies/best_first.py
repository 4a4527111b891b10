"""Best-first: Cho, Garcia-Molina & Page, WWW7, 1998; Menczer et al., TOIT, 2004.

    promise(u) = max over known parents p of score(p)

Symbols: score(p), the verdict on a page that links to u.
We differ: the score comes from the configured judge. The maximum over the parents
is kept by the frontier, which raises a promise and never lowers it.
"""

from __future__ import annotations

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.strategies.shared.options import NoOptions


class BestFirst:
    """Visits links of the most relevant pages first."""

    Options = NoOptions
    reads = Reads()

    def __init__(self, options: NoOptions, knowledge: Knowledge) -> None:
        pass

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[Ranked]:
        """Every link of the page with the page's own score."""
        level = lease.level_after(verdict)
        parts = {"score(p)": verdict.score}
        return [Ranked(link, verdict.score, parts, level) for link in page.links]

    rescore = rank
