"""Pages seen in; the direction from other pages to those of the topic out.

Rocchio's relevance feedback (1971), where pages with many keywords stand for the
relevant ones:

    topic = (Σ k³·x / Σ k³ + e·mean of x over the examples, if any) / (1 + e)
    direction = topic − mean of x over the background
    u = [(x·direction − lo)/(hi − lo) + 0.1·k/k̂] / 1.1

Symbols: k a page's keyword score, its cosine with the topic and a tenth of its title's;
x its words with their rarity; e the number of examples over 5; the sum is over the
surest pages seen; the background are those that speak of the keywords least; lo is the
median of x·direction over them, hi the mean of the 20 largest; k̂ the same of k.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from opilio.judge.calibration import KEYWORD_CUT, Scale, scale, top
from opilio.judge.sample import Sample
from opilio.judge.vectors import Row, Stack, Weights, stack, weigh
from opilio.types import Counted, Page, Subject

TITLE = 0.1  # share of the title in a keyword score
FEW = 0.25  # of k̂: pages with a smaller k are background
LEAST = 10  # background pages to learn from
KEYWORDS = 0.1  # how much k counts beside the words that go with the keywords
ALIKE = 0.9  # cosine; over ordinary webs it is about 0.4
WORTH = 5  # examples that count as much as all that the keywords show


class Keywords:
    """How much a page speaks of the topic's keywords."""

    def __init__(self, subject: Subject) -> None:
        self.weights = subject.weights
        self.length = sqrt(sum(weight * weight for weight in self.weights.values()))

    def score(self, page: Page) -> float:
        """k of a page."""
        text = self.cosine(Counted(page.terms, page.norm))
        return text + TITLE * self.cosine(page.title_terms)

    def cosine(self, text: Counted) -> float:
        """The cosine of a text with the keywords."""
        if not text.norm or not self.length:
            return 0.0
        common = sum(
            self.weights[term] * (1 + log(count))
            for term, count in text.terms.items()
            if term in self.weights
        )
        return min(1.0, common / (self.length * text.norm))


class Lesson(NamedTuple):
    """The pages of a sample, ready to be learnt from."""

    idf: Weights
    surest: Stack
    background: Stack
    keywords: Weights  # k of the surest
    most: float  # k̂

    def evidence(self, examples: int = 0) -> float:
        """Pages surely about the topic, or a fifth of the background if that is less.

        A fifth, since what is not the topic is more varied than what is.
        """
        sure = int(np.count_nonzero(self.keywords >= KEYWORD_CUT))
        return min(len(self.background.starts) / 5, sure + examples)


class Feedback(NamedTuple):
    """What was learnt: u of any page."""

    idf: Weights
    direction: Weights
    scale: Scale
    most: float  # k̂

    def height(self, row: Row, keywords: float) -> float:
        """u of a page."""
        along = float(weigh(row, self.idf) @ self.direction[row.places])
        share = keywords / self.most if self.most else 0.0
        return (self.scale.of(along) + KEYWORDS * share) / (1 + KEYWORDS)


def prepare(sample: Sample) -> Lesson | None:
    """What there is to learn from; None: there is no background yet."""
    keywords = np.array([seen.keywords for seen in sample.surest], np.float32)
    most = top(keywords)
    least = [seen.row for seen in sample.any if seen.keywords <= FEW * most]
    if len(least) < LEAST:
        return None
    idf = sample.rarity.idf()
    surest = stack([seen.row for seen in sample.surest], idf)
    return Lesson(idf, surest, stack(least, idf), keywords, most)


def learn(lesson: Lesson, examples: Sequence[Row] = ()) -> Feedback | None:
    """The direction to the topic; None: nothing shows one.

    A background that is like the topic is none: it is pages about the topic which lack
    its keywords by chance, in a crawl that has met no others yet.
    """
    cubes = lesson.keywords.astype(np.float64) ** 3
    shown = 1.0 if cubes.sum() else 0.0
    given = len(examples) / WORTH
    if not shown + given:
        return None
    topic = np.zeros_like(lesson.idf)
    if shown:
        topic += lesson.surest.sum(cubes / cubes.sum())
    if given:
        topic += given * mean(stack(examples, lesson.idf))
    topic /= shown + given
    background = mean(lesson.background)
    if cosine(topic, background) > ALIKE:
        return None
    direction = topic - background
    heights = scale(lesson.background.dot(direction), lesson.surest.dot(direction))
    return Feedback(lesson.idf, direction, heights, lesson.most)


def mean(rows: Stack) -> Weights:
    """The mean of rows."""
    count = len(rows.starts)
    return rows.sum(np.full(count, 1 / count))


def cosine(one: Weights, other: Weights) -> float:
    """The cosine of two vectors."""
    lengths = float(one @ one) * float(other @ other)
    return float(one @ other) / sqrt(lengths) if lengths else 0.0
