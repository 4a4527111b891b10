"""Names the parts of a verdict by the topic's words instead of their stems."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from opilio.protocols import Judge, Teachable
from opilio.records import Page, Verdict


class InWords:
    """A judge whose verdicts name terms as the topic writes them, not by their keys."""

    def __init__(self, judge: Judge, words: Mapping[str, str]) -> None:
        self.inner = judge
        self.words = words
        if isinstance(judge, Teachable):
            self.teach = judge.teach

    def judge(self, page: Page) -> Verdict:
        """The verdict of the judge, its parts named by words."""
        return self.named(self.inner.judge(page))

    def look(self, page: Page) -> Verdict:
        """The same, without learning from the page."""
        return self.named(getattr(self.inner, "look", self.inner.judge)(page))

    def named(self, verdict: Verdict) -> Verdict:
        """A verdict with its parts named by words."""
        words = self.words
        named = {words.get(name, name): value for name, value in verdict.parts.items()}
        return msgspec.structs.replace(verdict, parts=named)
