"""Extracts weighted keywords from example pages.

    w_i = tf_i · df_i                                            mode paper
    w_i = Σ_p (1 + ln tf_ip)/|p| · ½[ordinary] · ln((n+1)/(b_i+½))   mode fixed
    W_i = w_i / w_max                                            equation 2

Symbols: tf times a term occurs on all pages, df pages it occurs on, tf_ip times on page
p, |p| the length of p's vector, n irrelevant pages, b_i of them those with term i. The
product of the paper is the static table that Meenu et al. compare with, and the keyword
generator of the thesis (2.5.2: tf, df, weight, the top N < 50; its block table, 4.5.1,
has ten).

We differ, in fixed: one long page does not outweigh the others; common words count
half, since tf·df puts time and form beside star and orbit; words of a single page, and
of the frame around all pages, are left out, unless there is little else; irrelevant
pages, if there are any, show which words are not typical of the topic.

The frame (menus and the like) is recognised by its text: its words occur once on nearly
all pages, with the same words around them. A word that all pages have in different
sentences belongs to the topic.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from opilio.errors import BadInput
from opilio.text.words import DEFAULT_LANGUAGE, LONGEST, stem, stop_words, tokens
from opilio.topic.common_words import ordinary
from opilio.topic.weight_table import heaviest, normalised

TOP = 10  # terms, as in the table of the thesis
BELOW = 50  # the limit of the thesis
ENOUGH = 4  # pages needed to recognise the frame
FRAMED = 0.75  # share of the pages that have a word of the frame
SELDOM = 1.5  # its average count on these pages, at most
RUN = 4  # consecutive words that these pages share; few phrases of a topic are as long

Text = str | Sequence[str]
"""A page as a text, or as its tokens."""


def keywords(
    pages: Iterable[Text],
    irrelevant: Iterable[Text] = (),
    *,
    language: str = DEFAULT_LANGUAGE,
    top: int = TOP,
    mode: str = "fixed",
) -> dict[str, float]:
    """The terms most typical of the pages, with the greatest weights first."""
    if not 0 < top < BELOW:
        raise BadInput(
            f"{top} keywords are too few or too many; ask for 1 to {BELOW - 1}"
        )
    written: Counter[tuple[str, str]] = Counter()
    texts = [tokens(page) if isinstance(page, str) else page for page in pages]
    counts = [count_words(words, language, written) for words in texts]
    if mode == "paper":
        weights = tf_df(counts)
    else:
        others = [count_words(page, language, Counter()) for page in irrelevant]
        weights = telling(counts, language)
        if len(texts) >= ENOUGH:
            stems = [stem(words, language) for words in texts]
            weights = without_accidents(weights, counts, stems)
        weights = {key: weights[key] * rarity(others, key) for key in weights}
    best = dict(sorted(weights.items(), key=heaviest)[:top])
    forms = {key: form for (key, form), _ in reversed(written.most_common())}
    return {forms[key]: weight for key, weight in normalised(best).items()}


def static_table(
    pages: Iterable[Text], language: str = DEFAULT_LANGUAGE, top: int = TOP
) -> dict[str, float]:
    """Equation 2 over the first pages found for a topic: tf·df, the greatest is 1."""
    return keywords(pages, language=language, top=top, mode="paper")


def count_words(
    page: Text, language: str, written: Counter[tuple[str, str]]
) -> Counter[str]:
    """The count of each term on a page; `written` counts its spellings."""
    words = tokens(page) if isinstance(page, str) else page
    stop = stop_stems(language)
    found = [
        (key, word)
        for key, word in zip(stem(words, language), words, strict=True)
        if 1 < len(word) <= LONGEST and key not in stop and not word.isdigit()
    ]
    written.update(found)
    return Counter(key for key, _ in found)


@cache
def stop_stems(language: str) -> frozenset[str]:
    """The stems of stop words."""
    return frozenset(stem(stop_words(language), language))


def tf_df(pages: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """tf·df of each term."""
    tf: Counter[str] = Counter()
    df: Counter[str] = Counter()
    for page in pages:
        tf.update(page)
        df.update(page.keys())
    return {key: float(times * df[key]) for key, times in tf.items()}


def telling(pages: Sequence[Mapping[str, int]], language: str) -> dict[str, float]:
    """How typical each term is of the pages; common words count half."""
    common = ordinary(language)
    weights: dict[str, float] = {}
    for page in pages:
        logarithms = {key: 1 + math.log(times) for key, times in page.items()}
        length = math.hypot(*logarithms.values())
        for key, value in logarithms.items():
            share = value / length * (0.5 if key in common else 1.0)
            weights[key] = weights.get(key, 0.0) + share
    return weights


def without_accidents(
    weights: Mapping[str, float],
    counts: Sequence[Mapping[str, int]],
    texts: Sequence[Sequence[str]],
) -> dict[str, float]:
    """The weights without terms of a single page and those of the frame.

    Pages without common words keep all of them; and text that makes up most of the
    pages is not a frame: the pages are copies of each other.
    """
    pages = Counter(key for page in counts for key in page)
    shared = {key: weight for key, weight in weights.items() if pages[key] > 1}
    shared = shared or dict(weights)
    frame = framed(shared, counts, texts)
    if 2 * len(frame) >= len(shared):
        return shared
    return {key: weight for key, weight in shared.items() if key not in frame}


def framed(
    terms: Iterable[str],
    counts: Sequence[Mapping[str, int]],
    texts: Sequence[Sequence[str]],
) -> set[str]:
    """The terms of the frame, by the stems of each page in their order."""
    most = FRAMED * len(texts)
    once = set()
    for key in terms:
        times = [page[key] for page in counts if key in page]
        if len(times) > most and sum(times) < SELDOM * len(times):
            once.add(key)
    runs = Counter(run for stems in texts for run in set(runs_around(once, stems)))
    return {key for (key, _), pages in runs.items() if pages > most}


def runs_around(
    terms: Collection[str], stems: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each of the terms on a page, with the runs of words that it is in."""
    bounded = ["", *stems, ""]  # a frame begins or ends many a page
    for place, key in enumerate(bounded):
        if key in terms:
            last = min(place, len(bounded) - RUN)
            for start in range(max(place - RUN + 1, 0), last + 1):
                yield key, tuple(bounded[start : start + RUN])


def rarity(pages: Sequence[Mapping[str, int]], key: str) -> float:
    """How rare a term is on irrelevant pages; 1 if there are none."""
    if not pages:
        return 1.0
    return math.log((len(pages) + 1) / (sum(key in page for page in pages) + 0.5))
