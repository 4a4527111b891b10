"""Measures how well a page matches the keywords of a topic, in four ways.

    cosine  = Σ w·(1+ln tf) / (|w|·norm)
    bm25    = Σ u·tf·2.2/(tf + 1.2·(¼ + ¾·words/600)) / Σ u
    title   = Σ w over the keywords in the title, at most 2, times 4·(1 − rarity)
    address = Σ w over the keywords in the URL, at most 1
    opening = s(first 60 words),  text = s(first 400 words)

Symbols: u the weight of a keyword as the topic has it, w = u·(0.3 + 0.7·rarity), a
phrase times 0.9; the words of phrases count, too, times 0.4; tf how often a keyword
occurs; s how similar word vectors are to the keywords. Titles matter where keywords are
ordinary words, which name kinds of pages (installation, blog) rather than subjects.

The cosine depends on how long the list is. Where a page has the same share of a longer
list, it grows by √k; where it has no more keywords than before, it shrinks by √k. What
holds is between these, and the pages seen tell: the cosine is multiplied by

    lift = (0.12/q₈₅)^(n/(n + 4)),  from √(7/k) to (k/7)^¼

Symbols: k = (Σw)²/Σw² the number of keywords that count, from 7 to 63; q₈₅ the cosine
that 85 % of the n pages seen are below. So lists of up to 7 keywords are not lifted.
A low q₈₅ may also mean that no page is relevant, so it lifts less than a high one
lowers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.records import Page, Subject
from opilio.text import words
from opilio.text.meaning import Floats, keyword_vectors, unpack_vectors

PHRASE, INSIDE = 0.9, 0.4  # of a phrase, and of a word in it
FEW, MANY = 7.0, 63.0  # keywords
SURE = 0.12  # the 85 % quantile of the cosine in crawls with few keywords
DOUBT = 4  # pages that say as much as what is known before
LENGTH = 600.0  # words of an ordinary page
MOST_TITLE = 2.0
MOST_ADDRESS = 1.0


class Evidence(NamedTuple):
    """The measurements of one page, not yet scaled."""

    cosine: float
    bm25: float
    title: float
    opening: float
    text: float
    address: float = 0.0


class KeywordEvidence:
    """The keywords of a topic, ready to be compared with pages and links."""

    def __init__(self, subject: Subject) -> None:
        self.users = {key: u for key, u in subject.weights.items() if u > 0}
        rarity = subject.rarity
        self.weights = {
            key: u * (PHRASE if " " in key else 1.0) * scaled(rarity.get(key, 1.0))
            for key, u in self.users.items()
        }
        self.inside = {
            words.hash_of(stem): INSIDE * weight
            for key, weight in self.weights.items()
            if " " in key
            for stem in key.split()
            if stem not in self.weights
        }
        every = [*self.weights.values(), *self.inside.values()]
        self.length = sqrt(sum(weight * weight for weight in every))
        self.total = sum(self.users.values())
        mine = list(self.weights.values())
        squares = sum(weight * weight for weight in mine)
        count = min(MANY, sum(mine) ** 2 / squares) if squares else FEW
        self.ratio = max(1.0, count / FEW)  # of a list as long as this to a short one
        common = [rarity.get(key, 1.0) for key in self.users]
        self.ordinary = 4 * (1 - sum(common) / len(common)) if common else 0.0
        self._inside = np.array(sorted(self.inside), np.uint64)
        self.vectors = keyword_vectors(subject)
        self.has_vectors = len(self.vectors) > 0

    def of(self, page: Page, vectors: Floats) -> Evidence:
        """The measurements of a page, given the vectors of its parts."""
        opening = text = 0.0
        if self.has_vectors and vectors.shape[1] == self.vectors.rows.shape[1]:
            _, opening, text = self.vectors.similar(vectors).tolist()
        return Evidence(
            self.cosine(page),
            self.bm25(page),
            self.title(page),
            opening,
            text,
            self.address(page),
        )

    def cosine(self, page: Page) -> float:
        """The cosine of a page with the keywords and the words of phrases."""
        if not page.norm or not self.length:
            return 0.0
        weights = self.weights
        common = sum(
            weights[key] * (1 + log(count))
            for key, count in page.terms.items()
            if key in weights
        )
        if len(self._inside) and page.stems:
            stems = np.frombuffer(page.stems, "<u8")
            places = np.searchsorted(stems, self._inside)
            for place, stem in zip(places.tolist(), self._inside.tolist(), strict=True):
                if place < len(stems) and int(stems[place]) == stem:
                    count = int.from_bytes(
                        page.counts[2 * place : 2 * place + 2], "little"
                    )
                    common += self.inside[stem] * (1 + log(count))
        return common / (self.length * page.norm)

    def lift(self, cosines: Floats) -> float:
        """By what to multiply the cosine, given those of the pages seen."""
        if self.ratio == 1 or not len(cosines):
            return 1.0
        high = max(quantiles(cosines, [0.85])[0], 1e-6)
        found = (SURE / high) ** (len(cosines) / (len(cosines) + DOUBT))
        return float(min(max(found, self.ratio**-0.5), self.ratio**0.25))

    def bm25(self, page: Page) -> float:
        """How saturated a page is with each keyword, on average."""
        length = 1.2 * (0.25 + 0.75 * page.words / LENGTH)
        found = sum(
            self.users[key] * 2.2 * count / (count + length)
            for key, count in page.terms.items()
            if key in self.users
        )
        return found / self.total if self.total else 0.0

    def title(self, page: Page) -> float:
        """How much its title matches keywords that are ordinary words."""
        found = page.title_terms.terms
        weight = sum(self.weights[key] for key in found if key in self.weights)
        return min(MOST_TITLE, weight) * self.ordinary

    def address(self, page: Page) -> float:
        """How much of the keywords is in its URL."""
        found = page.url_terms.terms
        weight = sum(self.weights[key] for key in found if key in self.weights)
        return min(MOST_ADDRESS, weight)


def scaled(rarity: float) -> float:
    """The weight of a keyword by how rare it is."""
    return 0.3 + 0.7 * rarity


def page_vectors(page: Page) -> Floats:
    """The unit vectors of title, opening and text of a page; rows of nothing: none."""
    return unpack_vectors(page.vectors, 3)


def quantiles(numbers: npt.NDArray[Any], shares: Sequence[float]) -> list[float]:
    """The numbers that these shares are below, between two of them in proportion; the
    results of np.quantile, which would import numpy's masked arrays.

    >>> quantiles(np.array([4.0, 1.0, 2.0]), [0.5, 0.75])
    [2.0, 3.0]
    """
    ordered = np.sort(numbers)
    found = []
    for share in shares:
        place = share * (len(ordered) - 1)
        at = int(place)
        low, high = ordered[at], ordered[min(at + 1, len(ordered) - 1)]
        way = place - at
        # From the nearer of the two, as numpy does, so that rounding is the same.
        step = (high - low) * (way if way < 0.5 else 1 - way)
        found.append(float(low + step if way < 0.5 else high - step))
    return found
