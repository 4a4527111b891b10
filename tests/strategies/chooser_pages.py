"""Links and pages with word vectors of three dimensions, for tests of the chooser."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from opilio.read.term_tree import hash_of
from opilio.records import (
    Counted,
    Knowledge,
    Lease,
    Link,
    LinkPart,
    LinkTerms,
    Page,
    Subject,
    Verdict,
)
from opilio.strategies.opilio import Opilio, OpilioOptions
from opilio.text import urls, words

STAR, SEA = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
KEYWORDS = {"star": STAR, "planet": (0.8, 0.0, 0.6)}


def floats(vector: Sequence[float]) -> bytes:
    return np.array(vector, "<f4").tobytes()


def subject(vectors: bool = True, **changes: object) -> Subject:
    """What is sought: stars and planets."""
    known = {key: floats(vector) for key, vector in KEYWORDS.items()}
    return Subject(
        weights=dict.fromkeys(KEYWORDS, 1.0),
        vectors=known if vectors else {},
        **changes,
    )


def chooser(sought: Subject | None = None, explore: float = 2.0) -> Opilio:
    """The strategy, for stars and planets unless told."""
    knowledge = Knowledge(subject=subject() if sought is None else sought)
    return Opilio(OpilioOptions(explore=explore), knowledge)


def link(
    url: str,
    anchor: str = "",
    vector: Sequence[float] | None = (0.0, 0.0, 0.0),
    path: str = "body/a",
    terms: Mapping[str, int] | None = None,
) -> Link:
    """A link with the words of its anchor, terms in it, and a vector."""
    stems = words.stem(words.tokens(anchor))
    codes = [LinkPart.ANCHOR << 29 | hash_of(stem) >> 35 for stem in stems]
    packed = b"" if vector is None else np.rint(np.array(vector) * 127).astype(np.int8)
    return Link(
        url,
        urls.fingerprint(url),
        anchor,
        path=path,
        words=np.array(codes, "<u4").tobytes(),
        terms=LinkTerms(anchor=Counted(terms, 1.0)) if terms else None,
        vector=bytes(packed),
    )


def page(links: Sequence[Link], text: str = "") -> Page:
    """A page with links and the words of a text."""
    hashes = [hash_of(stem) for stem in words.stem(words.tokens(text))]
    stems, counts = np.unique(np.array(hashes, np.uint64), return_counts=True)
    return Page(
        url="http://web.test/",
        title="",
        language="en",
        charset="utf-8",
        words=len(hashes),
        terms={},
        norm=1.0,
        simhash=0,
        links=links,
        stems=stems.astype("<u8").tobytes(),
        counts=counts.astype("<u2").tobytes(),
    )


def lease(url: str) -> Lease:
    """The right to visit a URL."""
    return Lease(1, url, urls.fingerprint(url), urls.host(url), 0.5)


def verdict(score: float) -> Verdict:
    return Verdict(score, score >= 0.5)


class Crawl:
    """A made-up web of two subjects in which the best link is always visited next."""

    def __init__(self, strategy: Opilio, seed: int = 1) -> None:
        self.strategy = strategy
        self.rng = random.Random(seed)
        self.found = 1
        first = self.url(0)
        self.waiting = {urls.fingerprint(first): (first, 9.0)}
        self.order: list[tuple[str, float]] = []
        self.notes: list[tuple[int, bytes]] = []

    def url(self, number: int) -> str:
        return f"http://host{number % 7}.test/{number}"

    def link(self, number: int) -> Link:
        """Two in five links lead to stars; their anchors and vectors say so mostly."""
        rng = random.Random(number)
        towards = STAR if number % 5 < 2 else SEA
        noise = [rng.gauss(0, 0.3) for _ in range(3)]
        vector = np.array(towards) + noise
        anchor = "bright stars" if number % 5 < 2 else "deep sea"
        has = self.strategy.waiting.dimensions
        return link(
            self.url(number),
            anchor,
            vector / np.linalg.norm(vector) if has else None,
            rng.choice(("body/a", "body/nav/a", "body/ul/li/a")),
            {"star": 1} if number % 5 == 0 else None,
        )

    def step(self) -> None:
        """Visit the best link."""
        best = max(self.waiting, key=lambda each: (self.waiting[each][1], each))
        url, promise = self.waiting.pop(best)
        self.order.append((url, promise))
        number = int(url.rpartition("/")[2])
        rng = random.Random(f"page {number}")
        if number % 22 == 10:
            self.strategy.dead(lease(url))
        elif number % 11 == 10:
            self.strategy.missed(lease(url), "unusable")
        else:
            numbers = [self.found + each for each in range(12)]
            numbers += [rng.randrange(self.found) for _ in range(4)]
            self.found += 12
            links = [self.link(each) for each in dict.fromkeys(numbers)]
            text = "stars shine bright" if number % 5 < 2 else "fish swim in the sea"
            score = verdict(0.9 if number % 5 < 2 else 0.1)
            done = {urls.fingerprint(each) for each, _ in self.order}
            for ranked in self.strategy.rank(page(links, text), score, lease(url)):
                each = ranked.link.fingerprint
                if each not in done:
                    known = self.waiting.get(each, ("", -1.0))[1]
                    best_known = max(known, ranked.promise)
                    self.waiting[each] = (ranked.link.url, best_known)
        for each, promise, *_ in self.strategy.revise():
            if each in self.waiting:
                self.waiting[each] = (self.waiting[each][0], promise)
        self.notes += self.strategy.changes()
