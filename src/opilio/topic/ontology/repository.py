"""Extracts the part of several ontologies that is relevant for a topic.

The Relevant Ontology Extractor of Kumar & Vig (MCORE, III.F), who only name it. An
ontology O scores by how many of the wanted terms it holds, and how specifically:

    score(O) = 1/|W| · Σ_{w∈W} sure(w, O) · (1 + IC(w, O)) / 2
    IC(c)    = 1 − ln(1 + kinds of c) / ln(1 + concepts of O)      (Seco et al. 2004)

The best ontology is used, and any other that knows a wanted term with more certainty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import msgspec

from opilio.errors import BadInput
from opilio.topic.ontology.load import LARGEST, load_ontology
from opilio.topic.ontology.model import Ontology, Relation, combine
from opilio.topic.ontology.names import STEMMED
from opilio.topic.ontology.walk import WalkWeights, closeness

NEARNESS = WalkWeights(
    kind=0.9, part=0.8, related=0.5, broader=0.5, whole=0.5, astray=0.5
)
LEAST = 0.1  # closeness of the concepts around the targets that are included
MOST_CONCEPTS = 20_000


@dataclass(frozen=True)
class Match:
    """A wanted term, and the concept that it means."""

    wanted: str
    concept: str  # id
    label: str
    ontology: str  # its name
    sure: float  # 1: the exact label; 0.9: another form of it; less: some of its words


@dataclass(frozen=True)
class Sought:
    """The sought concepts, and the part of the ontologies around them."""

    ontology: Ontology
    targets: tuple[str, ...]  # ids
    matches: tuple[Match, ...]
    scores: Mapping[str, float]  # of each ontology of the repository, by name
    repository: Repository

    @property
    def places(self) -> list[int]:
        """The places of the targets in the ontology."""
        return [self.ontology.places[target] for target in self.targets]

    @property
    def labels(self) -> list[str]:
        """The preferred labels of the targets."""
        return [self.ontology.concepts[place].label for place in self.places]

    @property
    def named(self) -> tuple[str, ...]:
        """The wanted terms by which the targets were found."""
        return tuple(dict.fromkeys(match.wanted for match in self.matches))

    def spoken(self, languages: Sequence[str]) -> Sequence[str]:
        """The languages; none, which means all, if no target has a word in them."""
        concepts = self.ontology.concepts
        return languages if any(c.surfaces(languages) for c in concepts) else ()

    def surfaces(self, place: int, languages: Sequence[str] = ()) -> list[str]:
        """The words for a concept in these languages.

        A target always has some: those of other languages, or else the term by which it
        was found.
        """
        concept = self.ontology.concepts[place]
        found = concept.surfaces(languages)
        if found or concept.id not in self.targets:
            return found
        typed = [match.wanted for match in self.matches if match.concept == concept.id]
        return concept.surfaces() or typed


@dataclass(frozen=True)
class Repository:
    """Several ontologies, each of one domain."""

    ontologies: tuple[Ontology, ...]

    def extract(self, wanted: Sequence[str], *, lenient: bool = False) -> Sought:
        """The ontology, or the parts of several, that the wanted terms are about.

        Terms are names of concepts or keywords, in any language of the labels. An
        unknown term is an error; `lenient`: only if all are unknown.
        """
        if not wanted:
            raise BadInput("no concept is given; name one")
        found = [
            {term: find_concepts(ontology, term) for term in wanted}
            for ontology in self.ontologies
        ]
        unknown = [t for t in wanted if not any(hits[t] for hits in found)]
        if unknown and (not lenient or len(unknown) == len(wanted)):
            raise BadInput(self._unknown(unknown[0]))
        scores = [
            score(ontology, hits)
            for ontology, hits in zip(self.ontologies, found, strict=True)
        ]
        matches: list[Match] = []
        for term in wanted:
            sure = [max((s for _, s in hits[term]), default=0.0) for hits in found]
            numbers = range(len(found))
            best = max(numbers, key=lambda n: (sure[n], scores[n], -n))
            matches += self._matches(best, term, found[best][term])
        return self._around(matches, scores)

    def _matches(
        self, number: int, term: str, hits: Iterable[tuple[int, float]]
    ) -> list[Match]:
        ontology = self.ontologies[number]
        concepts = (
            (ontology.holding(place).concepts[place], sure) for place, sure in hits
        )
        return [Match(term, c.id, c.label, ontology.name, sure) for c, sure in concepts]

    def _around(self, matches: list[Match], scores: list[float]) -> Sought:
        """The part of the ontologies that is near the concepts found."""
        parts = []
        by_score = sorted(
            zip(scores, self.ontologies, strict=True), key=lambda item: -item[0]
        )
        for _, ontology in by_score:
            mine = {m.concept for m in matches if m.ontology == ontology.name}
            known = ontology if mine <= ontology.places.keys() else ontology.populated
            places = [known.places[concept] for concept in sorted(mine)]
            near = closeness(known, places, NEARNESS, LEAST)
            parts.append((known, list(near)[:MOST_CONCEPTS]))
        used = [ontology.name for ontology, places in parts if places]
        return Sought(
            ontology=combine(" + ".join(used), [part for part in parts if part[1]]),
            targets=tuple(dict.fromkeys(match.concept for match in matches)),
            matches=tuple(matches),
            scores={ontology.name: value for value, ontology in by_score},
            repository=self,
        )

    def _unknown(self, term: str) -> str:
        like = [
            name
            for ontology in self.ontologies
            for name in ontology.populated.names.like(term)
        ]
        files = ", ".join(o.source or o.name for o in self.ontologies)
        if like:
            return f"{term!r} is not a concept of {files}; similar: {', '.join(like)}"
        return f"{term!r} is not a concept of {files}, which has nothing similar"


def find_concepts(ontology: Ontology, term: str) -> list[tuple[int, float]]:
    """The places of the concepts that a term means, each with its certainty.

    Concepts are preferred to instances, unless only some words of their labels are in
    the term.
    """
    found = ontology.names.find(term)
    if found and found[0][1] >= STEMMED:
        return found
    return ontology.populated.names.find(term)


def score(ontology: Ontology, hits: Mapping[str, list[tuple[int, float]]]) -> float:
    """How well an ontology covers the terms that were looked up in it, up to 1."""
    total = 0.0
    for found in hits.values():
        total += max(
            (sure * (1 + specificity(ontology, n)) / 2 for n, sure in found),
            default=0.0,
        )
    return total / (len(hits) or 1)


def specificity(ontology: Ontology, place: int) -> float:
    """1 for a concept without kinds; the more kinds, the less."""
    if len(ontology.concepts) < 2:
        return 1.0
    known = ontology.holding(place)
    kinds = sum(1 for _ in known.reach([place], Relation.HAS_KIND)) - 1
    return 1 - log(1 + kinds) / log(1 + len(ontology.concepts))


def load_repository(
    files: Sequence[str | Path],
    *,
    cache_folder: Path | None = None,
    largest: int = LARGEST,
) -> Repository:
    """Read ontology files; each is a domain."""
    ontologies: dict[str, Ontology] = {}
    for file in files:
        path = Path(file).expanduser()
        ontology = load_ontology(path, cache_folder=cache_folder, largest=largest)
        if ontology.name in ontologies:
            ontology = msgspec.structs.replace(ontology, name=str(path))
        ontologies[ontology.name] = ontology
    if not ontologies:
        raise BadInput("no ontology file is named")
    return Repository(tuple(ontologies.values()))
