"""Scores the pages of a segment for a query, by BM25 with concepts.

    bm25(t, p) = idf(t) · tf·(k₁+1) / (tf + k₁·(1 − b + b·|p|/mean))
    idf(t)     = ln(1 + (N − n(t) + ½) / (n(t) + ½))
    score(p)   = [Σ_w bm25(w, p) + λ · Σ_c meant(c)·bm25(c, p)] · (1 + ρ·s(p))
    tf(c, p)   = Σ_f near(f, c) · tf(f, p)

Symbols: w a word of the query, c a concept that is meant and f a feature that indicates
it (concepts.py), N pages of which n have t, |p| the words of a page, s the verdict of
the crawl's judge. All features of a concept count as one term, so that a concept with
many features does not outweigh the words. BM25 is that of Robertson & Zaragoza, "The
probabilistic relevance framework: BM25 and beyond", 2009; the paper leaves its ranking
to a reference (papers.md C.5-14).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.search.index import Index
from opilio.search.segment import Postings, Segment
from opilio.text.word_sequence import Words

K1 = 1.2
B = 0.75
CONCEPT = 0.3  # λ
RELEVANCE = 0.2  # ρ
MOST_WORDS = 16  # with the same beginning; the most frequent are used

Scores = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


class Meant(NamedTuple):
    """A term with several forms: a concept with its features, or a beginning with its
    words; and the weight of each of these."""

    weight: float
    features: Words
    near: npt.NDArray[np.float32]


@dataclass(frozen=True)
class WantedTerms:
    """The words and concepts by which pages are scored; weights include the idf."""

    words: Mapping[int, float]
    concepts: Sequence[Meant] = ()
    beginnings: Sequence[Meant] = ()


def weigh_words(index: Index, words: Iterable[int]) -> dict[int, float]:
    """The idf of each word; those on no page left out."""
    counted = {term: index.frequency("words", term) for term in words}
    return {term: idf(index, found) for term, found in counted.items() if found}


def weigh_concept(index: Index, sure: float, features: Mapping[int, float]) -> Meant:
    """A concept that is meant with this certainty; its rarity is that of its most
    frequent own feature."""
    own = (term for term, close in features.items() if close == 1.0)
    found = max((index.frequency("features", term) for term in own), default=0)
    return Meant(
        weight=CONCEPT * sure * idf(index, found),
        features=np.array(list(features), np.uint32),
        near=np.array(list(features.values()), np.float32),
    )


def weigh_beginning(index: Index, words: Words) -> Meant:
    """Words with the same beginning, as one term with the most frequent one's
    rarity."""
    counted = index.frequencies("words", words)
    best = np.argsort(-counted, kind="stable")[:MOST_WORDS]
    best = best[counted[best] > 0]
    found = int(counted[best].max(initial=0))
    ones = np.ones(len(best), np.float32)
    return Meant(idf(index, found) if found else 0.0, words[best], ones)


def idf(index: Index, found: int) -> float:
    """The inverse document frequency of a term that `found` pages have."""
    return log(1 + (index.pages - found + 0.5) / (found + 0.5))


def score(segment: Segment, wanted: WantedTerms, mean_length: float) -> Scores:
    """The score of each page of a segment; 0 where nothing is found."""
    length = segment.pages["length"].astype(np.float32)
    slack = np.float32(K1) * (np.float32(1 - B) + np.float32(B / mean_length) * length)
    total: Scores = np.zeros(len(segment.pages), np.float32)
    for term, weight in wanted.words.items():
        pages, counts = segment.words.find(term)
        tf = counts.astype(np.float32)
        total[pages] += np.float32(weight * (K1 + 1)) * tf / (tf + slack[pages])
    for postings, several in (
        (segment.features, wanted.concepts),
        (segment.words, wanted.beginnings),
    ):
        for weight, features, near in several:
            pages, counts, which = postings.find_all(features)
            tf = np.bincount(pages, near[which] * counts, len(total)).astype(np.float32)
            total += np.float32(weight * (K1 + 1)) * tf / (tf + slack)
    total *= 1 + np.float32(RELEVANCE) * segment.pages["score"]
    return total


def marked(postings: Postings, term: int, size: int) -> Flags:
    """Which pages of a segment have a term."""
    flags = np.zeros(size, np.bool_)
    flags[postings.find(term)[0]] = True
    return flags
