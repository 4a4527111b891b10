"""Ontologies with thousands of kinds of one thing, or in which all is related."""

from __future__ import annotations

from functools import cached_property

import pytest
from hypothesis import given, settings

from opilio.topic.ontology import (
    Concept,
    Edge,
    Ontology,
    Relation,
    Repository,
    association,
    classes_around,
    compatible,
    concept_words,
    conflicting,
    features,
    importance_table,
)
from topic.test_ontology_extraction import any_ontology


def flat(size: int) -> Ontology:
    """So many kinds of one top, each related to another."""
    labels = ["top", *(f"word{n}x" for n in range(1, size))]
    kinds = [Edge(n, Relation.IS_A, 0) for n in range(1, size)]
    related = [Edge(n, Relation.RELATED, n * 7 % size) for n in range(1, size)]
    return made(labels, [*kinds, *related])


def low(size: int) -> Ontology:
    """As many kinds at the end of a long chain, below one of two tops."""
    chain = [Edge(n, Relation.IS_A, n - 1) for n in range(1, size)]
    kinds = [Edge(size + n, Relation.IS_A, size - 1) for n in range(size)]
    other = Edge(2 * size + 1, Relation.IS_A, 2 * size)
    labels = [f"word{n}x" for n in range(2 * size + 2)]
    return made(labels, [*chain, *kinds, other])


def clique(size: int) -> Ontology:
    """Each is related to each."""
    labels = [f"word{n}x" for n in range(size)]
    pairs = [(n, other) for n in range(size) for other in range(n)]
    return made(labels, [Edge(n, Relation.RELATED, other) for n, other in pairs])


def made(labels: list[str], edges: list[Edge]) -> Ontology:
    concepts = (Concept(id=name, label=name, labels={"": (name,)}) for name in labels)
    return Ontology(name="made", concepts=tuple(concepts), edges=tuple(edges))


class Counted(list[int]):
    """Places that tell how many of them were looked at."""

    looked_at = 0

    def __iter__(self):
        Counted.looked_at += len(self)
        return super().__iter__()


@pytest.fixture
def counted(monkeypatch):
    """A function: how many steps of ontologies are looked at when it calls another."""
    plain = Ontology.steps.func

    def steps(ontology: Ontology):
        return [
            {relation: Counted(others) for relation, others in found.items()}
            for found in plain(ontology)
        ]

    counting = cached_property(steps)
    counting.__set_name__(Ontology, "steps")
    monkeypatch.setattr(Ontology, "steps", counting)

    def count(call, *arguments) -> int:
        Counted.looked_at = 0
        call(*arguments)
        return Counted.looked_at

    return count


def everything(ontology: Ontology, name: str) -> None:
    """Ask for all that a topic file needs to know of a concept."""
    sought = Repository((ontology,)).extract([name])
    importance_table(sought)
    association(sought)
    features(sought.ontology, classes_around(sought, most=5))
    concept_words(sought.ontology, str)
    compatible(ontology, name)
    conflicting(ontology, name)


@pytest.mark.parametrize("name", ["top", "word5x"])
def test_twice_the_kinds_of_one_thing_are_about_twice_the_work(counted, name: str):
    small, large = flat(300), flat(600)
    assert counted(everything, large, name) < 2.5 * counted(everything, small, name)


def test_so_are_twice_the_kinds_at_the_end_of_a_chain_twice_as_long(counted):
    def table(size: int) -> None:
        importance_table(low(size), [f"word{size - 1}x"])

    assert counted(table, 400) < 2.5 * counted(table, 200)


def test_where_all_is_related_the_work_is_as_the_relations(counted):
    small, large = clique(30), clique(60)  # four times the relations
    assert counted(everything, large, "word5x") < 5 * counted(
        everything, small, "word5x"
    )


@settings(max_examples=60, deadline=None)
@given(any_ontology())
def test_levels_are_the_relations_between_two_concepts_up_to_two(ontology: Ontology):
    beside: dict[str, set[str]] = {concept.id: set() for concept in ontology.concepts}
    ids = list(beside)
    for edge in ontology.edges:
        beside[ids[edge.source]].add(ids[edge.target])
        beside[ids[edge.target]].add(ids[edge.source])
    words = concept_words(ontology, str)
    for place, concept in enumerate(ontology.concepts):
        one = beside[concept.id] - {concept.id}
        two = {far for near in one for far in beside[near]} - one - {concept.id}
        label = {ids[n]: other.label for n, other in enumerate(ontology.concepts)}
        assert words[ontology.concepts[place].label].levels == {
            **{label[near]: 1 for near in one},
            **{label[far]: 2 for far in two},
        }


def test_no_more_related_features_are_taken_than_fit():
    made = features(flat(2_500), ["word1x", "word2x"])
    assert len(made["word1x"].related) == 2_000
    assert made["word1x"].related["top"] == 1
