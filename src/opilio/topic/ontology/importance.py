"""Makes the importance table: surface term -> importance in (0, 1].

Kumar & Vig, MCORE, III.F and table 1: "A more relevant term to the query will have the
more importance and the terms which are common to more than one domain have less":

    importance(t) = closeness(c) · (1 − λ · ln n(t) / ln N) / m,   t a word for c

closeness as in walk.py; n(t) of the N domains share the term; λ = 0.4; m is the largest
value of a target, so that the target has 1. A domain is an ontology of the repository;
if there is only one, a branch of it: a concept below its top. Names of instances count
as kinds, names of attribute values as related. An importance that the file gives (a
property called `importance`) or that is passed in is used unchanged.

We differ: the paper gives no equation, only the two sentences and the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import log
from pathlib import Path

from opilio.errors import BadInput
from opilio.topic.ontology.model import Concept, Ontology, Relation, is_word, words_in
from opilio.topic.ontology.repository import NEARNESS, Repository, Sought
from opilio.topic.ontology.walk import closeness

LEAST = 0.2
MOST_TERMS = 2_000
SHARED = 0.4  # λ: what a term loses that every domain has


def importance_table(
    sought: Sought | Ontology,
    targets: Sequence[str] = (),
    repository: Repository | None = None,
    *,
    languages: Sequence[str] = (),
    given: Mapping[str, float] | None = None,
    least: float = LEAST,
    most: int = MOST_TERMS,
) -> dict[str, float]:
    """The terms worth looking for, the most important first.

    An Ontology comes with its `targets`, names of concepts in it. `languages` are those
    whose labels are wanted, all by default; a target without such labels has those of
    other languages. Terms below `least`, and beyond the `most` important ones, are left
    out, so that a thesaurus does not flood the reader.
    """
    if isinstance(sought, Ontology):
        sought = Repository((sought,)).extract(targets)
    ontology = sought.ontology
    sharing = sharing_of(repository or sought.repository)
    near = closeness(ontology, sought.places, NEARNESS, least)
    table: dict[str, float] = {}
    for place, close in near.items():
        words = sought.surfaces(place, languages)
        concept = ontology.concepts[place]
        for term, share in _terms(concept, words, languages):
            value = close * share * (1 - SHARED * sharing(term))
            table[term] = max(table.get(term, 0.0), value)
    aims = [term for n in sought.places for term in sought.surfaces(n, languages)]
    top = max((table[term] for term in aims), default=1.0)
    table = {term: min(value / top, 1.0) for term, value in table.items()}
    kept = {term: value for term, value in table.items() if value >= least}
    kept |= _annotated(ontology, languages) | dict(given or {})
    return dict(sorted(kept.items(), key=lambda item: (-item[1], item[0]))[:most])


def _annotated(ontology: Ontology, languages: Sequence[str]) -> dict[str, float]:
    """The importances in the file, by the words for the concepts."""
    table: dict[str, float] = {}
    for concept in ontology.concepts:
        if concept.importance:
            for term in concept.surfaces(languages):
                table[term] = max(table.get(term, 0.0), concept.importance)
    return table


def _terms(
    concept: Concept, words: Iterable[str], languages: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The words for a concept, its instances and attributes, each with its share."""
    for term in words:
        yield term, 1.0
    for term in concept.instance_surfaces(languages):
        yield term, NEARNESS.kind
    for values in concept.attributes.values():
        for term in filter(is_word, words_in(values, languages)):
            yield term, NEARNESS.related


def sharing_of(repository: Repository) -> Callable[[str], float]:
    """A function: term -> 0 if one domain has it, 1 if all have."""
    ontologies = repository.ontologies
    if len(ontologies) == 1:
        return _sharing_of_branches(ontologies[0])

    def sharing(term: str) -> float:
        holders = sum(bool(ontology.names.same(term)) for ontology in ontologies)
        return log(holders or 1) / log(len(ontologies))

    return sharing


def _sharing_of_branches(ontology: Ontology) -> Callable[[str], float]:
    """The same, where each branch of one ontology is a domain."""
    up, down = Relation.IS_A, Relation.HAS_KIND
    tops = [n for n in range(len(ontology.concepts)) if not ontology.towards(n, up)]
    branching = {n for n in tops if ontology.towards(n, down)}
    above: set[int] = set()
    # A single top concept is the subject of the ontology, not a domain: go below it.
    while len(branching) == 1 and not branching <= above:
        above |= branching
        below = {other for n in branching for other in ontology.towards(n, down)}
        branching = below - above or branching
    if len(branching) < 2:
        return lambda _: 0.0

    @cache
    def domains_of(parents: tuple[int, ...]) -> set[int]:
        return branching.intersection(ontology.reach(parents, up))

    def sharing(term: str) -> float:
        holders = ontology.names.same(term)
        if any(place in above for place in holders):
            return 1.0
        parents = (other for place in holders for other in ontology.towards(place, up))
        domains = domains_of(tuple(parents)) | branching.intersection(holders)
        return log(len(domains) or 1) / log(len(branching))

    return sharing


def read_importances(path: Path) -> dict[str, float]:
    """Importances from a TSV file: a term, a tab and a number in (0, 1] per line."""
    table: dict[str, float] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        term, tab, value = line.rpartition("\t")
        try:
            table[term.strip()] = float(value)
        except ValueError:
            tab = ""
        if not tab or not 0 < table[term.strip()] <= 1:
            raise BadInput(
                f"{path}: line {number} must be a term, a tab and a number above 0 to 1"
            )
    return table
