"""A judge that needs keywords alone and learns the words that go with them.

    score = a·σ(u) + (1 − a)·k/(k + k₀),   a = b/(b + 5) · n/(n + 200)

Symbols: u how near a page is to the pages with many keywords, and b the evidence that
this was learnt from, in pages (`feedback.py`); n the pages seen by then; k the page's
keyword score; σ and k₀ are in `calibration.py`. The first pages of a crawl are nearly
all relevant; while there is no background, k alone decides. It learns anew whenever it
has seen 1.3 times as many pages as the last time, from pages and keywords only, never
from labels.
"""

from __future__ import annotations

from opilio.errors import BadInput
from opilio.judge.calibration import score_of_height, score_of_keywords, trust
from opilio.judge.feedback import Feedback, Keywords, learn, prepare
from opilio.judge.sample import Sample
from opilio.judge.vectors import Row, row_of
from opilio.types import Page, Subject, Verdict

THRESHOLD = 0.5
EXPERIENCE = 200  # pages; before, what goes with the keywords may be chance


class Bootstrapped:
    """Judges a page by its keywords, and by all words once it knows which matter."""

    reads_blocks = False
    reads_vector = True

    def __init__(self, subject: Subject) -> None:
        if not subject.weights:
            raise BadInput(
                "the judge 'bootstrapped' needs keywords and the topic has none; add "
                "keywords = ['a word', 'a phrase'] to the topic file"
            )
        self.keywords = Keywords(subject)
        self.threshold = THRESHOLD if subject.threshold is None else subject.threshold
        self.sample = Sample()
        self.feedback: Feedback | None = None
        self.trust = 0.0
        self.is_new = False

    def judge(self, page: Page) -> Verdict:
        """The score of a page, as far as it is known by now; then learn from it."""
        keywords = self.keywords.score(page)
        row = row_of(page)
        verdict = self.score(row, keywords)
        if row is not None and self.sample.add(row, keywords, keywords):
            self.learn()
            self.is_new = True
        return verdict

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        return self.score(row_of(page), self.keywords.score(page))

    def score(self, row: Row | None, keywords: float) -> Verdict:
        """The score, its part by keywords and its part by all words."""
        parts = {"keywords": score_of_keywords(keywords)}
        if self.feedback and row is not None:
            height = self.feedback.height(row, keywords)
            parts["keywords"] *= 1 - self.trust
            parts["words"] = self.trust * score_of_height(height)
        score = sum(parts.values())
        return Verdict(score, score >= self.threshold, parts)

    def learn(self) -> None:
        """Learn from the pages of the sample."""
        lesson = prepare(self.sample)
        if lesson is not None:
            self.feedback = learn(lesson)
            pages = self.sample.rarity.pages
            self.trust = trust(lesson.evidence()) * pages / (pages + EXPERIENCE)

    def dump(self) -> bytes | None:
        """The sample as it is, if it was learnt from since the last dump."""
        if not self.is_new:
            return None
        self.is_new = False
        return self.sample.dump()

    def load(self, learnt: bytes) -> None:
        """Take up a sample and learn from it."""
        self.sample.load(learnt)
        self.learn()
