"""Pages in; verdicts of a judge that learns from the pages it sees out.

    s = α·k + β·(x·d − lo),   score = s/(s + cut)

Symbols: k a page's keyword score (`keywords.py`), x its words with their rarity, d the
direction that was learnt, lo how far other pages go in it; α and β say how much either
counts, and `cut` is the s of a page as likely relevant as not. Before anything was
learnt s = k. How d, lo, α and β are learnt is each judge's own affair; it does so anew
whenever it has seen 1.3 times as many pages as the last time, and never from labels.

Everything is durable with the page that it was learnt from: see `journal.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from math import exp
from typing import Self

import msgspec

from opilio.judge.journal import Journal
from opilio.judge.keywords import CUT, Keywords
from opilio.judge.model import WordModel
from opilio.judge.sample import Sample
from opilio.judge.vectors import WordRow, row_of
from opilio.protocols import Learner
from opilio.records import Page, Reads, Subject, Verdict

THRESHOLD = 0.5
LEAST = 0.01  # of a score: from there on down it falls slowly, and never to nothing


class Learning(ABC):
    """Judges a page by its keywords, and by all words once it knows which matter."""

    reads = Reads(vector=True)
    cut: float
    learnt_part: str  # its name in verdicts
    is_learning = True  # False: it judges by what it knows, and takes no note of pages

    def __init__(self, subject: Subject) -> None:
        self.keywords = Keywords(subject)
        self.threshold = THRESHOLD if subject.threshold is None else subject.threshold
        self.sample = Sample()
        self.model: WordModel | None = None
        self.journal = Journal(self.sample)

    @abstractmethod
    def learn(self) -> WordModel | None:
        """What the sample shows; None: nothing yet."""

    def judge(self, page: Page) -> Verdict:
        """The score of a page, as far as it is known by now; then learn from it."""
        keywords = self.keywords.score(page)
        row = row_of(page)
        verdict = self.score(row, keywords)
        if row is not None and self.is_learning:
            worth = self.worth(keywords, verdict.score)
            if self.journal.add(row, keywords, worth):
                self.model = self.learn() or self.model
        return verdict

    def worth(self, keywords: float, score: float) -> float:
        """What a page is kept for, to learn from the surest ones."""
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
        """s/(s + cut); where that is next to nothing, an order all the same."""
        least = self.cut * LEAST / (1 - LEAST)
        if raw >= least:
            return raw / (raw + self.cut)
        return LEAST * exp((raw - least) / self.cut)

    def learners(self) -> Mapping[str, Learner]:
        """What is kept of it, part by part; in this order it is taken up again."""
        return {"judge": self, **self.journal.chunks()}

    def dump(self) -> bytes | None:
        """All that it knows, now and then; what is new since is in the journal."""
        return self.journal.snapshot(self.model)

    def load(self, learnt: bytes) -> None:
        """Take up what `dump` gave; what an older version gave tells nothing."""
        with suppress(msgspec.DecodeError):
            self.model = self.journal.restore(learnt)

    def follow(self, before: Self) -> None:
        """Take up what another of the kind learnt, whose topic was a little other."""
        self.journal.restore(before.journal.taken(before.model))
        self.model = self.learn()
        self.journal.diary.is_due = True
