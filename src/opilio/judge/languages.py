"""Wraps a judge so that only pages in the wanted languages are relevant."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from opilio.protocols import Doubting, Judge, Teachable
from opilio.records import Page, Verdict


class InLanguages:
    """A judge that also refuses pages known to be in another language."""

    def __init__(self, judge: Judge, languages: Sequence[str]) -> None:
        self.inner = judge
        if isinstance(judge, Teachable):
            self.teach = judge.teach  # labels are independent of languages
        self.languages = {language.lower().partition("-")[0] for language in languages}

    def judge(self, page: Page) -> Verdict:
        """The inner verdict; relevant only if the language is wanted or unknown."""
        return self.limited(self.inner.judge(page), page)

    def look(self, page: Page) -> Verdict:
        """The same, without learning from the page."""
        return self.limited(getattr(self.inner, "look", self.inner.judge)(page), page)

    def doubts(self, page: Page) -> bool:
        """Whether an opinion is wanted; not on pages in other languages."""
        if not isinstance(self.inner, Doubting) or not self.is_wanted(page):
            return False
        return self.inner.doubts(page)

    def limited(self, verdict: Verdict, page: Page) -> Verdict:
        """A verdict, not relevant if the language of the page is not wanted."""
        if self.is_wanted(page):
            return verdict
        return msgspec.structs.replace(verdict, relevant=False)

    def is_wanted(self, page: Page) -> bool:
        """Whether the language of a page is wanted or unknown."""
        return page.language in self.languages or not page.language
