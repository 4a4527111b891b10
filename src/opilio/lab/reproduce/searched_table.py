"""The static weight table of Meenu et al.'s baseline: tf·df over search results.

    w = tf·df        over the first RESULTS results for the topic's name
    W = w / w_max    (equation 2), of the TERMS best terms

Symbols: tf, how often a term occurs in the results; df, how many of them have it. The
paper asks a web search engine; here the pages of the web itself are searched (BM25).
If no page has the topic's name in it, its first keyword is searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

import msgspec

from opilio.fetch.replay import ReplayFetch
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.web_pages import cache_folder
from opilio.read.visible_text import visible_text
from opilio.text.words import stem, stop_words, tokens
from opilio.topic import Topic
from opilio.topic.file import Keyword

RESULTS = 10
TERMS = 10
SHORTEST = 3  # letters of a term
K1, B = 1.2, 0.75  # of BM25


def texts_of(ground: Ground) -> list[list[str]]:
    """The words of every page of a web."""
    fetch = ReplayFetch(ground.web.warcs, cache_folder())
    try:
        return [
            tokens(visible_text(fetch.read(number, place.offset))[0])
            for number, place in fetch.places.values()
            if not place.same_as
        ]
    finally:
        for file in fetch.files:
            file.close()


def with_searched_table(topic: Topic, texts: Sequence[Sequence[str]]) -> Topic:
    """The topic with the static table in place of its keywords."""
    queries = [topic.name, *topic.weights()]
    results = next(filter(None, (found(query, topic, texts) for query in queries)))
    weights = tf_df(results, topic.language)
    keywords = tuple(
        Keyword(term=term, weight=weight) for term, weight in weights.items()
    )
    return msgspec.structs.replace(topic, keywords=keywords)


def found(
    query: str, topic: Topic, texts: Sequence[Sequence[str]]
) -> list[Sequence[str]]:
    """The first results for a query, by BM25."""
    wanted = set(stem(tokens(query), topic.language))
    counts = [
        Counter(word for word in stem(text, topic.language) if word in wanted)
        for text in texts
    ]
    having = Counter(word for count in counts for word in count)
    mean = sum(map(len, texts)) / len(texts)

    def score(number: int) -> float:
        length = K1 * (1 - B + B * len(texts[number]) / mean)
        return sum(
            log(1 + len(texts) / having[word]) * tf * (K1 + 1) / (tf + length)
            for word, tf in counts[number].items()
        )

    best = sorted(range(len(texts)), key=lambda number: -score(number))
    return [texts[number] for number in best[:RESULTS] if counts[number]]


def tf_df(results: Sequence[Sequence[str]], language: str) -> dict[str, float]:
    """The best terms of some texts, with tf·df as a share of the greatest.

    >>> tf_df([["bee", "hive", "bee"], ["bee", "the"]], "en")
    {'bee': 1.0, 'hive': 0.166...}
    """
    silent = stop_words(language)
    telling = [list(words_in(text, silent)) for text in results]
    tf = Counter(word for text in telling for word in text)
    df = Counter(word for text in telling for word in set(text))
    best = sorted(tf, key=lambda word: (-tf[word] * df[word], word))[:TERMS]
    most = tf[best[0]] * df[best[0]] if best else 1
    return {word: tf[word] * df[word] / most for word in best}


def words_in(text: Sequence[str], silent: frozenset[str] | set[str]) -> Iterator[str]:
    """The words of a text without stop words."""
    for word in text:
        if len(word) >= SHORTEST and word.isalpha() and word not in silent:
            yield word
