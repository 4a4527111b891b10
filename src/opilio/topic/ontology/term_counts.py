"""Counts the words and phrases of crawled pages that may be terms of an ontology.

A candidate is a run of up to three words, none of which is a stop word (but for "of" in
the middle), that stands on two pages or more. Beside how often it occurs, the counts
say where: alone in an anchor, a heading or a title, and near the terms of the ontology.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from opilio.equations.thesaurus import spot_longest
from opilio.text.words import stem, stop_words, tokens
from opilio.topic.ontology.model import Ontology
from opilio.topic.ontology.names import unqualified

NEAR = 5  # words to either side
LONGEST_TEXT = 20_000  # words of a page that are looked at
LONGEST_TERM = 3  # words
INSIDE = ("of",)  # stop words that a term may have in its middle

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PHRASE = re.compile(r"[^\w\s'’-]+")


class CrawledText(NamedTuple):
    """What is read of a page to propose terms."""

    url: str
    text: str
    title: str = ""
    headings: Sequence[str] = ()
    anchors: Sequence[str] = ()


@dataclass
class TermCounts:
    """How often and where each candidate occurs, by its key (see `term_key`)."""

    pages: Counter[str] = field(default_factory=Counter)  # with it
    times: Counter[str] = field(default_factory=Counter)  # it occurs
    capital: Counter[str] = field(default_factory=Counter)  # inside a phrase
    first: Counter[str] = field(default_factory=Counter)  # no content word before it
    last: Counter[str] = field(default_factory=Counter)  # no content word after it
    near: Counter[str] = field(default_factory=Counter)  # pages, near any concept
    beside: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Pages on which a candidate is near a concept, by that concept's place."""
    anchors: Counter[str] = field(default_factory=Counter)  # pages with it as a whole
    headings: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    forms: dict[str, Counter[str]] = field(default_factory=dict)  # how it is written

    def written(self, key: str) -> str:
        """A candidate in its most frequent form."""
        forms = self.forms[key]
        return min(forms, key=lambda form: (-forms[form], form))


def term_key(text: str, language: str) -> str:
    """What the forms of a term have in common, its words joined by spaces."""
    return " ".join(same_form(tokens(text), language))


def same_form(words: Sequence[str], language: str) -> list[str]:
    """Words in the singular; in languages other than English, their stems.

    Stems of English go too far here: they make humans of humanism.
    """
    return list(map(singular, words)) if language == "en" else stem(words, language)


@lru_cache(2**16)
def singular(word: str) -> str:
    """An English noun in the singular, by rule.

    >>> [singular(word) for word in ("galaxies", "boxes", "stars", "physics", "gas")]
    ['galaxy', 'box', 'star', 'physics', 'gas']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if len(word) > 3 and word[-1] == "s" and word[-2:] not in ("ss", "us", "is", "cs"):
        return word[:-1]
    return word


class Phrase(NamedTuple):
    """Words without punctuation between them."""

    words: Sequence[str]  # in lower case
    forms: Sequence[str]  # in the singular: see `same_form`
    raw: Sequence[str]  # as written; the words, if they were split otherwise


Labels = Mapping[str, int]
"""The key of each label -> the place of the concept that it names."""


def labels_in(ontology: Ontology, language: str) -> dict[str, int]:
    """The labels of an ontology in a language; preferred ones before others."""
    silent = stop_words(language)
    found: dict[str, int] = {}
    for most in (1, None):
        for place, concept in enumerate(ontology.concepts):
            for text in concept.surfaces([language])[:most]:
                key = term_key(text, language)
                if key and key not in silent:
                    found.setdefault(key, place)
    return found


def count_terms(
    labels: Labels, texts: Sequence[CrawledText], language: str, least: int = 2
) -> TermCounts:
    """Count the candidates on pages; those on fewer than `least` pages are left out."""
    counts = TermCounts()
    silent = stop_words(language)
    read = [list(phrases(text.text, language)) for text in texts]
    words = Counter(w for page in read for w in {w for p in page for w in p.forms})
    wanted = {word for word, pages in words.items() if pages >= least}
    for page in read:
        found = (candidates(phrase, silent, wanted) for phrase in page)
        counts.pages.update({key for some in found for key, _, _ in some})
    for key in [key for key, pages in counts.pages.items() if pages < least]:
        del counts.pages[key]
    for text, page in zip(texts, read, strict=True):
        count_page(counts, labels, page, silent, wanted)
        parts = (
            (counts.anchors, text.anchors),
            (counts.headings, text.headings),
            (counts.titles, [unqualified(text.title)]),
        )
        for counter, names in parts:
            counter.update({term_key(one, language) for one in names})
    return counts


def count_page(
    counts: TermCounts,
    labels: Labels,
    page: Iterable[Phrase],
    silent: frozenset[str],
    wanted: set[str],
) -> None:
    """Add where the candidates of one page stand."""
    near: set[tuple[str, int]] = set()
    for phrase in page:
        words = phrase.words
        spotted = [
            (start, end, labels[" ".join(phrase.forms[start:end])])
            for start, end in spot_longest(phrase.forms, labels)
        ]
        for key, start, end in candidates(phrase, silent, wanted):
            if key not in counts.pages:
                continue
            near.update((key, place) for place in beside(start, end, spotted))
            counts.times[key] += 1
            if start and phrase.raw[start][:1].isupper():
                counts.capital[key] += 1
            counts.first[key] += not start or words[start - 1] in silent
            counts.last[key] += end == len(words) or words[end] in silent
            form = " ".join(words[start:end])
            counts.forms.setdefault(key, Counter())[form] += 1
    counts.near.update({key for key, _ in near})
    counts.beside.update(near)


def phrases(text: str, language: str) -> Iterator[Phrase]:
    """The phrases of a text, until it has been read for long enough."""
    left = LONGEST_TEXT
    for sentence in sentences(text):
        for piece in _PHRASE.split(sentence):
            words = tokens(piece)[:left]
            if words:
                raw = piece.replace("'", " ").replace("’", " ").replace("-", " ")
                written = raw.split()
                if len(written) != len(words):
                    written = words
                yield Phrase(words, same_form(words, language), written)
            left -= len(words)
        if left <= 0:
            return


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a line of its own is one."""
    return filter(None, map(str.strip, _SENTENCE.split(text)))


def candidates(
    phrase: Phrase, silent: frozenset[str], wanted: set[str]
) -> Iterator[tuple[str, int, int]]:
    """The keys of the candidates in a phrase, and from where to where they stand."""
    words, forms = phrase.words, phrase.forms
    telling = [
        len(word) > 2 and word not in silent and not word.isdigit() and one in wanted
        for word, one in zip(words, forms, strict=True)
    ]
    for start, begins in enumerate(telling):
        if not begins:
            continue
        for end in range(start + 1, min(start + LONGEST_TERM, len(words)) + 1):
            if not telling[end - 1]:
                if words[end - 1] in INSIDE:
                    continue
                break
            yield " ".join(forms[start:end]), start, end


def beside(
    start: int, end: int, spotted: Iterable[tuple[int, int, int]]
) -> Iterator[int]:
    """The places of concepts that are named near these words, but not by them."""
    for begins, ends, place in spotted:
        apart = ends <= start or end <= begins
        if apart and start - ends < NEAR and begins - end < NEAR:
            yield place
