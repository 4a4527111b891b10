"""Proposes better keywords for a topic from the pages that a crawl judged.

The keyword generator of Aastha's thesis (2.5.2), run again on what the crawl kept:
terms that tell the kept pages from the others are added, keywords that tell less or
more than thought get another weight, and those that hardly a kept page has are dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from opilio.text.words import Vocabulary, stem, tokens
from opilio.topic.keywords import keywords

TOP = 20  # terms that are looked for
CLEAR = 0.2  # a weight changes by no less than this
SELDOM = 0.02  # of the kept pages have a keyword that is dropped
LEAST = 0.1  # weight of a keyword that stays
FEWEST = 10  # kept pages, to tell anything


class KeywordChange(msgspec.Struct, frozen=True, kw_only=True):
    """A keyword with its weight now and then; 0: it is none."""

    term: str
    before: float
    after: float
    pages: int = 0  # kept pages that have it
    of: int = 0  # kept pages that were read

    @property
    def kind(self) -> str:
        """What happens to it: add, drop, raise or lower."""
        if not self.before:
            return "add"
        if not self.after:
            return "drop"
        return "raise" if self.after > self.before else "lower"


def propose_keywords(
    weights: Mapping[str, float],
    kept: Sequence[str],
    others: Sequence[str],
    *,
    language: str,
    top: int = TOP,
    without: Collection[str] = (),
) -> list[KeywordChange]:
    """The changes that the kept texts suggest, the weightiest first; none for the
    terms in `without`, nor before there are enough pages."""
    if len(kept) < FEWEST:
        return []
    key = Vocabulary((), language).key
    refused = set(map(key, without))
    told = {
        key(term): (term, weight)
        for term, weight in keywords(kept, others, language=language, top=top).items()
    }
    pages = [f" {' '.join(stem(tokens(text), language))} " for text in kept]
    known = {key(term): term for term in weights}
    greatest = max(weights.values(), default=1.0)
    changes = []
    for one in dict.fromkeys((*told, *known)):
        having = sum(f" {one} " in page for page in pages)
        before = weights[known[one]] / greatest if one in known else 0.0
        after = told[one][1] if one in told else before
        if one in known:
            after = max(after, LEAST) if having >= SELDOM * len(pages) else 0.0
        changes.append(
            KeywordChange(
                term=known.get(one) or told[one][0],
                before=round(before, 3),
                after=round(after, 3),
                pages=having,
                of=len(pages),
            )
        )
    clear = [one for one in changes if is_clear(one) and key(one.term) not in refused]
    return sorted(clear, key=lambda one: (-max(one.after, one.before), one.term))


def is_clear(change: KeywordChange) -> bool:
    """Does a change matter? New and dropped terms do."""
    if change.kind in ("add", "drop"):
        return change.before != change.after
    return abs(change.after - change.before) >= CLEAR


def changed_weights(
    weights: Mapping[str, float], changes: Sequence[KeywordChange]
) -> dict[str, float]:
    """The keywords after some changes; the greatest weight stays what it was."""
    greatest = max(weights.values(), default=1.0)
    made = dict(weights)
    for change in changes:
        made.pop(change.term, None)
        if change.after:
            made[change.term] = change.after * greatest
    return made or dict(weights)
