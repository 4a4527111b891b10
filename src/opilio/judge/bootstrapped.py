"""A judge that needs keywords alone and learns the words that go with them.

Rocchio's relevance feedback (1971), with pages that have many keywords in place of
pages known to be relevant:

    d = Σ k⁴·x / Σ k⁴ − mean of x over the background
    s = [w·k + k̂·(x·d − lo)/(hi − lo)] / (1 + w)
    w = 0.05 + 7·(1 − r)² + 5/(5 + b)

Symbols: k, x and s as in `learning_judge.py`; the sums are over the surest pages seen;
lo is the median of x·d over the background, hi the mean of its 20 largest values, and k̂
the same of k, so that words are measured in units of keywords: a score means the same
early and late, when k̂ has grown. w is how much keywords count: the more, the less the
words agree with them (r, the correlation of x·d with k over the surest pages) and the
fewer pages d comes from (b = 1/Σ share²).

Once there are 500 pages, those with the largest s teach as much as those with the
largest k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput
from opilio.judge.hashed_words import Stack, Weights
from opilio.judge.learning_judge import Learning
from opilio.judge.lesson import Lesson, mean, prepare_lesson, top
from opilio.judge.word_model import WordModel
from opilio.records import Subject

POWER = 4
ALIKE = 0.9  # cosine; over ordinary webs it is about 0.4
MANY = 500  # pages
FLOOR, DISAGREEMENT, FEW = 0.05, 7.0, 5.0  # the numbers of w
MOST = 3.0  # of w

Shares = npt.NDArray[np.float64]


class Feedback(NamedTuple):
    """Scores pages by the learnt direction, scaled from background to surest pages."""

    direction: Weights
    low: float
    high: float

    def of(self, rows: Stack) -> Weights:
        """(x·d − lo)/(hi − lo) of rows."""
        heights: Weights = (rows.dot(self.direction) - self.low) / self.span
        return heights

    @property
    def span(self) -> float:
        """hi − lo, which may be 0."""
        return max(self.high - self.low, 1e-9)


class Bootstrapped(Learning):
    """Judges a page by its keywords, and by all words once it knows which matter."""

    cut = 0.06
    learnt_part = "words"

    def __init__(self, subject: Subject) -> None:
        if not subject.weights:
            raise BadInput(
                "the judge 'bootstrapped' needs keywords and the topic has none; add "
                "keywords = ['a word', 'a phrase'] to the topic file"
            )
        super().__init__(subject)

    def learn(self) -> WordModel | None:
        """The direction to the topic; None: there is none yet.

        A background that is like the topic cannot be used: it consists of pages about
        the topic that lack its keywords by chance, in a crawl that has seen no others
        yet.
        """
        lesson = prepare_lesson(self.sample)
        if lesson is None or not lesson.most:
            return None
        shares = powers(lesson.keywords)
        topic = lesson.surest.sum(shares)
        background = mean(lesson.background)
        if cosine(topic, background) > ALIKE:
            return None
        found = feedback(topic - background, lesson)
        counts = weight(found.of(lesson.surest), lesson.keywords, shares)
        if lesson.pages > MANY:
            heights = counts * lesson.keywords / lesson.most + found.of(lesson.surest)
            topic = 0.5 * (topic + lesson.surest.sum(powers(heights)))
            found = feedback(topic - background, lesson)
        return WordModel(
            lesson.idf,
            found.direction,
            found.low,
            counts / (1 + counts),
            lesson.most / found.span / (1 + counts),
        )


def powers(values: Weights) -> Shares:
    """The share of each page in what is learnt."""
    raised = np.maximum(values.astype(np.float64), 0.0) ** POWER
    shares: Shares = raised / max(raised.sum(), 1e-30)
    return shares


def feedback(direction: Weights, lesson: Lesson) -> Feedback:
    """A direction with its scale."""
    low = float(np.median(lesson.background.dot(direction)))
    return Feedback(direction, low, top(lesson.surest.dot(direction)))


def weight(heights: Weights, keywords: Weights, shares: Shares) -> float:
    """w: how much keywords count beside words."""
    spread = float(heights.std() * keywords.std())
    agreement = float(np.cov(heights, keywords, bias=True)[0, 1]) / (spread or 1.0)
    evidence = 1 / float(shares @ shares)
    doubt = DISAGREEMENT * (1 - agreement) ** 2
    return min(MOST, FLOOR + doubt + FEW / (FEW + evidence))


def cosine(one: Weights, other: Weights) -> float:
    """The cosine of two vectors."""
    lengths = float(one @ one) * float(other @ other)
    return float(one @ other) / lengths**0.5 if lengths else 0.0
