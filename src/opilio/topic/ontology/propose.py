"""Proposes terms, labels and relations that an ontology lacks, from crawled pages.

Koundal's ontology cycle (§5.A): from what was crawled, enhancements are proposed to the
user, who decides. A new term is put beside the concept that it stands near most often,
seldom elsewhere:

    score(w, c) = pages with w near c · (pages with w near c / pages with w)

Terms are ranked by their chance (`termhood.py`). If the pages name too few concepts to
learn it from, the n pages on which w stands near that concept take its place:

    n / pages with w · n/(n + 2)

Labels and relations are read from sentences (`text_patterns.py`) and ranked by the n
pages that say so, n/(n + 2). Concepts that stand near each other on n pages are
proposed to be related, by n/(n + 2) of the share that this is of the pages with either.

The paper proposes terms only, and does not say how.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opilio.topic.ontology.model import Ontology, Relation
from opilio.topic.ontology.names import unqualified
from opilio.topic.ontology.term_counts import (
    INSIDE,
    CrawledText,
    TermCounts,
    count_terms,
    labels_in,
    same_form,
    sentences,
    term_key,
)
from opilio.topic.ontology.termhood import Termhood
from opilio.topic.ontology.text_patterns import LABEL, Said, said_in

SUPPORTS = 3  # sentences that are shown for a proposal
LONGEST_SENTENCE = 300  # characters
SURE = 2  # pages that must say what a new term is
DOUBT = 2  # pages; so many count half
TOGETHER = 3  # pages on which two concepts must stand together, to be related

TERM, RELATION = "term", "relation"  # and LABEL: kinds of proposals


@dataclass(frozen=True)
class Support:
    """A sentence that supports a proposal, and its page."""

    url: str
    sentence: str


@dataclass(frozen=True)
class Proposal:
    """A term, label or relation that an ontology may lack."""

    kind: str  # term, label or relation
    term: str  # a new one, or the label of a concept
    relation: str  # its relation to `concept`: is-a, part-of, related; or label
    concept: str  # a preferred label
    concept_id: str
    pages: int  # that support it
    score: float  # the greater the better, up to 1
    support: tuple[Support, ...] = ()
    term_id: str = ""  # of a relation: the concept that `term` names
    file: str = ""  # the ontology file that lacks it

    @property
    def key(self) -> tuple[str, str, str]:
        """The key by which it is remembered; a term is the same beside any concept."""
        term = self.term.casefold()
        beside = "" if self.kind == TERM else f"{self.relation} {self.concept_id}"
        return (self.kind, term, beside)


def propose(
    ontology: Ontology,
    texts: Iterable[CrawledText],
    *,
    language: str = "",
    most: int = 50,
    least_pages: int = 0,
    without: Collection[tuple[str, str, str]] = (),
) -> list[Proposal]:
    """The best proposals of each kind, terms first; none that is in `without`.

    Terms must stand on `least_pages`; without it on two, and one more for 250 pages.
    """
    read = list(texts)
    pages = SupportingPages(ontology.populated, language or ontology.language, read)
    counts = count_terms(
        pages.labels, read, pages.language, least_pages or 2 + len(read) // 250
    )
    said = pages.statements(counts)
    found = [
        *pages.new_terms(counts, said),
        *pages.new_labels(said),
        *pages.new_relations(counts, said),
    ]
    kinds = Counter[str]()
    kept: list[Proposal] = []
    for one in sorted(found, key=lambda p: (-p.score, -p.pages, p.term, p.concept)):
        if one.key not in without and kinds[one.kind] < most:
            kinds[one.kind] += 1
            kept.append(one)
    order = (TERM, LABEL, RELATION)
    kept.sort(key=lambda one: order.index(one.kind))
    return add_support(kept, read)


def score(near: int, pages: int) -> float:
    """How much a word belongs to a concept: see above."""
    return near * near / pages


def confidence(pages: int) -> float:
    """The weight of a number of pages."""
    return pages / (pages + DOUBT)


class SupportingPages:
    """The pages of a crawl, with the labels of an ontology found on them."""

    def __init__(
        self, ontology: Ontology, language: str, texts: Sequence[CrawledText]
    ) -> None:
        self.ontology = ontology
        self.language = language
        self.texts = texts
        self.labels = labels_in(ontology, language)

    def key(self, text: str) -> str:
        """The key of a term, the same in singular and plural."""
        return term_key(text, self.language)

    def place(self, text: str) -> int | None:
        """The concept that a text names, if any."""
        return self.labels.get(self.key(text))

    def statements(self, counts: TermCounts) -> Counter[Said]:
        """What sentences state about concepts and candidates, with their pages."""

        def is_name(words: Sequence[str]) -> bool:
            key = " ".join(same_form(words, self.language))
            return key in self.labels or key in counts.pages

        found: Counter[Said] = Counter()
        for text in self.texts:
            there = (
                said_in(sentence, is_name, self.language)
                for sentence in sentences(text.text)
            )
            found.update({said for some in there for said in some})
        return found

    def chances(self, counts: TermCounts) -> dict[str, float]:
        """The candidates that are no label, each with its chance, or what stands for
        that while too little can be learnt."""
        learnt = Termhood(counts, self.labels.keys(), self.language).chances()
        if learnt:
            return learnt
        inside = {word for key in self.labels for word in key.split()}
        best = self.best_places(counts)
        return {
            key: near / counts.pages[key] * confidence(near)
            for key, (_, near, _) in best.items()
            if inside.isdisjoint(key.split())
        }

    def best_places(self, counts: TermCounts) -> dict[str, tuple[float, int, int]]:
        """Each candidate with its best score, the pages near that concept, and minus
        the place of the concept: of equal ones the first is taken."""
        best: dict[str, tuple[float, int, int]] = {}
        for (key, place), near in counts.beside.items():
            value = (score(near, counts.pages[key]), near, -place)
            best[key] = max(value, best.get(key, value))
        return best

    def new_terms(
        self, counts: TermCounts, said: Mapping[Said, int]
    ) -> Iterator[Proposal]:
        """A proposal for each candidate that is near some concept."""
        chances, parents = self.chances(counts), self.parents(said)
        for key, (_, near, place) in self.best_places(counts).items():
            if key not in chances:
                continue
            relation, found = str(Relation.RELATED), -place
            if parent := parents.get(key) or self.head(key):
                relation, found = parent
            concept = self.ontology.concepts[found]
            yield Proposal(
                kind=TERM,
                term=counts.written(key),
                relation=relation,
                concept=concept.label,
                concept_id=concept.id,
                pages=counts.pages[key] if parent else near,
                score=chances[key],
            )

    def head(self, key: str) -> tuple[str, int] | None:
        """The concept that the last words of a term name: a steam engine is an
        engine."""
        words = key.split()
        for start in range(1, len(words)):
            place = self.labels.get(" ".join(words[start:]))
            if place is not None and words[start - 1] not in INSIDE:
                return str(Relation.IS_A), place
        return None

    def parents(self, said: Mapping[Said, int]) -> dict[str, tuple[str, int]]:
        """Key of a term -> what most pages say that it is, or is part of."""
        most: dict[str, tuple[int, str, int]] = {}
        for one, pages in said.items():
            place = self.place(one.other)
            if one.relation != LABEL and place is not None:
                key, value = self.key(one.one), (pages, one.relation, -place)
                most[key] = max(value, most.get(key, value))
        return {
            key: (relation, -place)
            for key, (pages, relation, place) in most.items()
            if pages >= SURE
        }

    def new_labels(self, said: Mapping[Said, int]) -> Iterator[Proposal]:
        """Names that sentences give to a concept, and that it does not have."""
        for one, pages in said.items():
            if one.relation != LABEL:
                continue
            for new, known in ((one.one, one.other), (one.other, one.one)):
                place = self.place(known)
                if place is None or self.place(new) is not None:
                    continue
                if pages < SURE and not new.isupper():  # an abbreviation is sure
                    continue
                concept = self.ontology.concepts[place]
                chance = confidence(pages)
                yield Proposal(
                    LABEL, new, LABEL, concept.label, concept.id, pages, chance
                )

    def new_relations(
        self, counts: TermCounts, said: Mapping[Said, int]
    ) -> Iterator[Proposal]:
        """Relations that the ontology lacks between concepts: those that sentences
        state, and between concepts that often stand near each other."""
        stated = Counter[tuple[int, str, int]]()
        for one, pages in said.items():
            source, target = self.place(one.one), self.place(one.other)
            if one.relation != LABEL and source is not None and target is not None:
                stated[source, one.relation, target] += pages
        found = {key: confidence(pages) for key, pages in stated.items()}
        pages_of = {key: pages for key, pages in stated.items() if pages >= SURE}
        said_of = {(source, target) for source, _, target in pages_of}
        for (source, target), (near, share) in self.neighbours(counts).items():
            if not said_of & {(source, target), (target, source)}:
                key = (source, str(Relation.RELATED), target)
                pages_of[key], found[key] = near, confidence(near) * share
        for (source, relation, target), pages in pages_of.items():
            if target not in self.known_around(source, relation):
                yield self.relation(
                    source, relation, target, pages, found[source, relation, target]
                )

    def neighbours(
        self, counts: TermCounts
    ) -> dict[tuple[int, int], tuple[int, float]]:
        """Concepts that stand near each other: on how many pages, and on which share
        of the pages that name the more frequent one."""
        pages = Counter[int]()
        near = Counter[tuple[int, int]]()
        for key, place in self.labels.items():
            pages[place] += counts.pages.get(key, 0)
        for (key, place), together in counts.beside.items():
            other = self.labels.get(key)
            if other is not None and other < place and together >= TOGETHER:
                near[other, place] += together
        return {
            pair: (together, together / max(pages[pair[0]], pages[pair[1]], together))
            for pair, together in near.items()
        }

    def known_around(self, source: int, relation: str) -> set[int]:
        """The concepts that already have a relation to this one."""
        known = self.ontology.around(source) | {source}
        if relation == Relation.RELATED:
            return known.union(*map(self.ontology.around, known))
        up = (Relation.IS_A, Relation.PART_OF)
        return known.union(self.ontology.reach([source], *up))

    def relation(
        self, source: int, relation: str, target: int, pages: int, value: float
    ) -> Proposal:
        """A proposal for a relation between two concepts."""
        concepts = self.ontology.concepts
        return Proposal(
            kind=RELATION,
            term=concepts[source].label,
            relation=relation,
            concept=concepts[target].label,
            concept_id=concepts[target].id,
            pages=pages,
            score=value,
            term_id=concepts[source].id,
        )


def add_support(
    proposals: Sequence[Proposal], texts: Sequence[CrawledText]
) -> list[Proposal]:
    """The proposals with the sentences that support them."""
    lower = [text.text.casefold() for text in texts]
    return [supported(one, texts, lower) for one in proposals]


def supported(
    proposal: Proposal, texts: Sequence[CrawledText], lower: Sequence[str]
) -> Proposal:
    """The proposal with the first sentences that have both of its names, or else the
    new one, each of another page."""
    both: list[Support] = []
    one: list[Support] = []
    term = unqualified(proposal.term).casefold()
    concept = unqualified(proposal.concept).casefold()
    whole = re.compile(rf"\b{re.escape(term)}(s|es)?\b", re.IGNORECASE)
    for text, small in zip(texts, lower, strict=True):
        if len(both) >= SUPPORTS:
            break
        if term not in small:
            continue
        having = [s for s in sentences(text.text) if whole.search(s)]
        best = next((s for s in having if concept in s.casefold()), None)
        if best:
            both.append(Support(text.url, shortened(best)))
        elif having and len(one) < SUPPORTS:
            one.append(Support(text.url, shortened(having[0])))
    kept = (both + one)[:SUPPORTS]
    return replace(proposal, support=tuple(kept))


def shortened(sentence: str) -> str:
    """A sentence that is not too long to be shown."""
    plain = " ".join(sentence.split())
    if len(plain) <= LONGEST_SENTENCE:
        return plain
    return plain[: LONGEST_SENTENCE - 1] + "…"
