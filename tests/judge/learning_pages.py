"""Pages about one of several made-up subjects, with word vectors, for the tests."""

import random
from collections import Counter
from functools import cache
from math import log, sqrt

import numpy as np

from opilio.records import Counted, Page, Subject

KEYWORDS = ("star", "planet")
OTHERS = {  # what pages of a subject speak of beside all else
    "sky": [*KEYWORDS, *(f"sky{i}" for i in range(20))],
    "sea": [f"sea{i}" for i in range(22)],
    "law": [f"law{i}" for i in range(22)],
    "film": ["star", *(f"film{i}" for i in range(21))],  # film stars
}
COMMON = [f"common{i}" for i in range(60)]


def page_of(words: list[str], title: str = "") -> Page:
    """A page of these words."""
    counts = Counter(words)
    hashed = sorted((hash_of(word), count) for word, count in counts.items())
    terms = {word: counts[word] for word in KEYWORDS if word in counts}
    norm = sqrt(sum((1 + log(count)) ** 2 for count in counts.values()))
    in_title = {word: 1 for word in title.split() if word in KEYWORDS}
    return Page(
        url="http://a.test/",
        title=title,
        language="en",
        charset="utf-8",
        words=len(words),
        terms=terms,
        norm=norm if terms else 0.0,
        simhash=0,
        links=(),
        title_terms=Counted(in_title, sqrt(len(title.split()))),
        stems=np.array([value for value, _ in hashed], "<u8").tobytes(),
        counts=np.array([count for _, count in hashed], "<u2").tobytes(),
    )


@cache
def hash_of(word: str) -> int:
    """Any 64 bits; not the reader's, which judges need not know."""
    return random.Random(word).getrandbits(64)


@cache
def make(subject: str, number: int, silent: bool = False) -> Page:
    """A page about a subject; `silent`: it does not name the topic's keywords."""
    rng = random.Random(f"{subject} {number}")
    own = [word for word in OTHERS[subject] if not (silent and word in KEYWORDS)]
    words = rng.choices(own, k=40) + rng.choices(COMMON, k=60)
    return page_of(words, f"{subject} {number}")


def subject(**changes: object) -> Subject:
    """What is sought: the sky, by its keywords."""
    return Subject(weights=dict.fromkeys(KEYWORDS, 1.0), **changes)


def crawl(count: int, share: float = 0.2) -> list[Page]:
    """Pages in the order of a crawl, that share of them about the sky."""
    rng = random.Random(count)
    rest = [name for name in OTHERS if name != "sky"]
    return [
        make("sky" if rng.random() < share else rng.choice(rest), number)
        for number in range(count)
    ]
