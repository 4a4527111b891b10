"""The base class of judges that learn from the pages they see.

    s = α·k + β·(x·d − lo),   score = s/(s + cut)

Symbols: k a page's keyword score (`keyword_score.py`), x its words with their rarity, d
the direction that was learnt, lo how far other pages go in it; α and β say how much
either counts, and `cut` is the s of a page as likely relevant as not. Before anything
was learnt s = k. Each judge learns d, lo, α and β in its own way; it does so again
whenever it has seen 1.3 times as many pages as the last time, and never from labels.

What was learnt is committed with the page that it was learnt from (`learnt_state.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from math import exp
from typing import Self

import msgspec

from opilio.judge.hashed_words import WordRow, row_of
from opilio.judge.keyword_score import CUT, Keywords
from opilio.judge.learnt_state import Journal
from opilio.judge.page_sample import Sample
from opilio.judge.word_model import WordModel
from opilio.protocols import Learner
from opilio.records import Page, Reads, Subject, Verdict

THRESHOLD = 0.5
LEAST = 0.01  # below this score, scores fall slowly and never reach 0


class Learning(ABC):
    """Judges a page by its keywords, and by all words once it knows which matter."""

    reads = Reads(vector=True)
    cut: float
    learnt_part: str  # its name in verdicts
    is_learning = True  # False: it no longer learns from pages

    def __init__(self, subject: Subject) -> None:
        self.keywords = Keywords(subject)
        self.threshold = THRESHOLD if subject.threshold is None else subject.threshold
        self.sample = Sample()
        self.model: WordModel | None = None
        self.journal = Journal(self.sample)

    @abstractmethod
    def learn(self) -> WordModel | None:
        """Learn from the sample; None: not enough pages yet."""

    def judge(self, page: Page) -> Verdict:
        """Score a page by what is known so far, then learn from it."""
        keywords = self.keywords.score(page)
        row = row_of(page)
        verdict = self.score(row, keywords)
        if row is not None and self.is_learning:
            worth = self.worth(keywords, verdict.score)
            if self.journal.add(row, keywords, worth):
                self.model = self.learn() or self.model
        return verdict

    def worth(self, keywords: float, score: float) -> float:
        """The rank of a page in the sample, which holds the surest pages."""
        return keywords

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        return self.score(row_of(page), self.keywords.score(page))

    def score(self, row: WordRow | None, keywords: float) -> Verdict:
        """The score, its part by keywords and its part by all words."""
        if self.model is None or row is None:
            score = keywords / (keywords + CUT)
            return Verdict(score, score >= self.threshold, {"keywords": score})
        by_words = self.model.by_words(row)
        by_keywords = self.model.keywords * keywords
        raw = by_keywords + by_words
        score = self.scaled(raw)
        share = score / raw if raw > 0 else 0.0
        parts = {"keywords": share * by_keywords}
        parts[self.learnt_part] = score - parts["keywords"]
        return Verdict(score, score >= self.threshold, parts)

    def scaled(self, raw: float) -> float:
        """s/(s + cut), changed near 0 so that scores still differ."""
        least = self.cut * LEAST / (1 - LEAST)
        if raw >= least:
            return raw / (raw + self.cut)
        return LEAST * exp((raw - least) / self.cut)

    def learners(self) -> Mapping[str, Learner]:
        """The parts whose state is stored, in the order in which they are restored."""
        return {"judge": self, **self.journal.chunks()}

    def dump(self) -> bytes | None:
        """The whole state, now and then; the journal has the pages since."""
        return self.journal.snapshot(self.model)

    def load(self, learnt: bytes) -> None:
        """Restore what `dump` returned; dumps of older versions are ignored."""
        with suppress(msgspec.DecodeError):
            self.model = self.journal.restore(learnt)

    def publish(self) -> bytes:
        """All that it has learnt, for others of its kind."""
        return self.journal.taken(self.model)

    def adopt(self, model: bytes) -> None:
        """Replace what was learnt by what another has published."""
        self.model = self.journal.restore(model)
        self.journal.diary.is_due = True

    def follow(self, before: Self) -> None:
        """Take over what a judge of the same kind learnt before the topic changed."""
        self.journal.restore(before.journal.taken(before.model))
        self.model = self.learn()
        self.journal.diary.is_due = True
