"""A judge that knows the true labels, to measure strategies without judging errors.

It separates judging pages from choosing links: what a strategy loses with this judge is
due to its choice of links alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from opilio.records import Page, Verdict

PERFECT = "perfect"  # its name among the judges


class Perfect:
    """Knows which pages are relevant; for the lab only."""

    def __init__(self, relevant: Iterable[str]) -> None:
        self.relevant = frozenset(relevant)

    def judge(self, page: Page) -> Verdict:
        """1 for a relevant page, 0 for any other."""
        known = page.url in self.relevant
        return Verdict(float(known), known, {"label": float(known)})
