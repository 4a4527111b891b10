"""Works out what a query looks for, and which pages of a segment may match it.

`paper` (Yang, §4.4): the ontology index locates the pages with a feature of what is
meant, the full-text index reduces them to those with all other words, and a query
without a feature of the ontology is refused. `fixed`: any page with a word of the
query, or a feature of what it means, may answer; phrases must be there as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput
from opilio.search.concepts import Concepts
from opilio.search.index import Index
from opilio.search.query import Query
from opilio.search.rank import (
    Flags,
    Meant,
    WantedTerms,
    marked,
    weigh_beginning,
    weigh_concept,
    weigh_words,
)
from opilio.search.segment import Postings, Segment, language_code
from opilio.text.word_sequence import word
from opilio.text.words import stem, stop_words

FEW = 8

Phrase = tuple[int, ...]
"""Words as the index has them."""


@dataclass(frozen=True)
class SoughtTerms:
    """What a query looks for."""

    wanted: WantedTerms
    stems: frozenset[str]  # to highlight in snippets
    meant: dict[str, float]  # concepts
    quoted: tuple[tuple[str, ...], ...] = ()  # phrases as stems, to be shown whole
    words: tuple[int, ...] = ()  # that must be on the page
    features: tuple[frozenset[int], ...] = ()  # of each of these, one must be
    unwanted: tuple[int, ...] = ()
    phrases: tuple[Phrase, ...] = ()  # that must be there in a row
    unwanted_phrases: tuple[Phrase, ...] = ()


def seek(index: Index, concepts: Concepts, query: Query, language: str) -> SoughtTerms:
    """What a query looks for; BadInput if the mode refuses it."""
    stems = stem(query.words, language)
    spotted = concepts.spot(stems)
    meant = concepts.meant(list(spotted))
    paper = concepts.mode == "paper"
    if paper and not spotted:
        raise BadInput(refusal(query, concepts))
    told = [
        (place, key)
        for place, key in telling_words(query, stems, language)
        if paper or query.words[place] not in query.beginnings
    ]
    begun = () if paper else [begin(index, one, language) for one in query.beginnings]
    phrased = [key for phrase in query.phrases for key in stem(phrase, language)]
    phrases, unwanted = (
        [tuple(map(word, stem(words, language))) for words in asked]
        for asked in (query.phrases, query.without)
    )
    inside = {place for start, end in spotted.values() for place in range(start, end)}
    telling = [key for _, key in told]
    others = [key for place, key in told if place not in inside]
    return SoughtTerms(
        wanted=WantedTerms(
            weigh_words(index, map(word, others if paper else telling)),
            [
                weigh_concept(index, sure, by_word(concepts.near(name)))
                for name, sure in meant.items()
            ],
            [beginning for beginning, _ in begun],
        ),
        stems=frozenset((*telling, *phrased, *names_of(concepts, meant))).union(
            *(keys for _, keys in begun)
        ),
        meant=meant,
        quoted=tuple(
            tuple(stem(one, language)) for one in query.phrases if len(one) > 1
        ),
        words=tuple(map(word, others if paper else phrased)),
        features=tuple(own_features(concepts, meant)) if paper else (),
        unwanted=tuple(one[0] for one in unwanted if len(one) == 1),
        phrases=tuple(one for one in phrases if len(one) > 1),
        unwanted_phrases=tuple(one for one in unwanted if len(one) > 1),
    )


def telling_words(
    query: Query, stems: Sequence[str], language: str
) -> list[tuple[int, str]]:
    """The stems of a query by their places, without stop words unless it has no
    others."""
    stop = stop_words(language)
    kept = [
        (place, key)
        for place, (one, key) in enumerate(zip(query.words, stems, strict=True))
        if one not in stop
    ]
    return kept or list(enumerate(stems))


def begin(index: Index, start: str, language: str) -> tuple[Meant, list[str]]:
    """The words with this beginning as one term, and their stems."""
    keys = list(dict.fromkeys(stem(index.words_beginning(start), language)))
    known = dict(zip(map(word, keys), keys, strict=True))
    found = weigh_beginning(index, np.array(list(known), np.uint32))
    return found, [known[int(one)] for one in found.features]


def by_word(features: Mapping[str, float]) -> dict[int, float]:
    """A table of features by their numbers in the index."""
    return {word(key): weight for key, weight in features.items()}


def own_features(concepts: Concepts, meant: Iterable[str]) -> Iterable[frozenset[int]]:
    """The features that name each of the concepts meant."""
    for name in meant:
        yield frozenset(map(word, concepts.words[name].features))


def names_of(concepts: Concepts, meant: Iterable[str]) -> list[str]:
    """The single words that name the concepts meant."""
    return [
        key for name in meant for key in concepts.words[name].features if " " not in key
    ]


def refusal(query: Query, concepts: Concepts) -> str:
    """Why a query is refused."""
    if not concepts.words:
        return (
            "in paper mode a query must name a concept of the topic's ontology, and "
            "the topic has none; set mode = 'fixed' in [search] of crawl.toml"
        )
    some = ", ".join(list(concepts.words)[:5])
    return (
        f"{query.text!r} names no concept of the ontology, which paper mode requires; "
        f"name one ({some}, …), or set mode = 'fixed' in [search] of crawl.toml"
    )


def candidates(
    segment: Segment,
    query: Query,
    sought: SoughtTerms,
    hosts: npt.NDArray[np.int64] | None,
) -> Flags:
    """Which pages of a segment may match."""
    size = len(segment.pages)
    mask = np.ones(size, np.bool_)
    for features in sought.features:
        mask &= any_of(segment.features, features, size)
    for term in sought.words:
        mask &= marked(segment.words, term, size)
    for term in sought.unwanted:
        mask &= ~marked(segment.words, term, size)
        mask &= ~marked(segment.features, term, size)
    if hosts is not None:
        mask &= among(segment.pages["host"], hosts)
    if query.languages:
        codes = np.array(list(map(language_code, query.languages)))
        mask &= among(segment.pages["language"], codes)
    if query.after:
        mask &= segment.pages["fetched_at"] >= query.after
    for phrase in sought.phrases:
        mask &= in_a_row(segment, phrase)
    for phrase in sought.unwanted_phrases:
        mask &= ~in_a_row(segment, phrase)
    return mask


def among(column: npt.NDArray[Any], values: npt.NDArray[np.int64]) -> Flags:
    """Which values of a column are among these."""
    if len(values) > FEW:
        return np.isin(column, values)
    flags = np.zeros(len(column), np.bool_)
    for value in values:
        flags |= column == value
    return flags


def in_a_row(segment: Segment, phrase: Phrase) -> Flags:
    """Which pages of a segment have a phrase."""
    flags = np.zeros(len(segment.pages), np.bool_)
    flags[segment.places.pages_with(phrase)] = True
    return flags


def any_of(postings: Postings, terms: Collection[int], size: int) -> Flags:
    """Which pages have at least one of the terms."""
    found = np.zeros(size, np.bool_)
    for term in terms:
        found |= marked(postings, term, size)
    return found
