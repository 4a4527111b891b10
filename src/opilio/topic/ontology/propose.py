"""Proposes words from crawled pages that an ontology lacks.

Koundal's ontology cycle (§5.A): additions are proposed from crawled pages to the user,
who decides. A proposal is a word that often occurs near the words for a concept, rarely
elsewhere, and is in no label yet:

    score(w, c) = pages with w near c · (pages with w near c / pages with w)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from opilio.text.words import stem, stop_words, tokens
from opilio.topic.ontology.model import Ontology

NEAR = 5  # words to either side
LONGEST_TEXT = 20_000  # words of a page that are looked at


@dataclass(frozen=True)
class Proposal:
    """A word that may belong to a concept."""

    term: str
    concept: str  # the preferred label of the one that it occurs near most often
    pages: int  # on which it does
    score: float


def propose(
    ontology: Ontology,
    texts: Iterable[str],
    *,
    language: str = "",
    most: int = 20,
    least_pages: int = 2,
) -> list[Proposal]:
    """The words that most likely belong to some concept, the likeliest first."""
    ontology = ontology.populated
    language = language or ontology.language
    known = set(stem(stop_words(language), language)) | ontology.names.stems
    everywhere: Counter[str] = Counter()
    beside: Counter[tuple[str, int]] = Counter()
    forms: dict[str, Counter[str]] = {}
    for text in texts:
        words = tokens(text)[:LONGEST_TEXT]
        stems = stem(words, language)
        everywhere.update(set(stems))
        pairs: set[tuple[str, int]] = set()
        for found in ontology.names.spot(words, language):
            for place in range(max(found.start - NEAR, 0), found.end + NEAR):
                if place < len(stems) and _may_be_term(stems[place], known):
                    pairs.add((stems[place], found.places[0]))
                    forms.setdefault(stems[place], Counter())[words[place]] += 1
        beside.update(pairs)
    best: dict[str, Proposal] = {}
    for (word, place), pages in beside.items():
        score = pages * pages / everywhere[word]
        if pages >= least_pages and (word not in best or score > best[word].score):
            written = min(forms[word], key=lambda form: (-forms[word][form], form))
            label = ontology.concepts[place].label
            best[word] = Proposal(written, label, pages, score)
    return sorted(best.values(), key=lambda p: (-p.score, p.term))[:most]


def _may_be_term(word: str, known: set[str]) -> bool:
    return len(word) > 2 and not word.isdigit() and word not in known
