"""What each relation between a concept and what is sought is worth."""

import pytest

from opilio.topic.ontology import (
    Concept,
    Edge,
    Ontology,
    Relation,
    Repository,
    association,
)

IS_A, PART_OF, HAS, RELATED = (
    Relation.IS_A,
    Relation.PART_OF,
    Relation.HAS,
    Relation.RELATED,
)


def weight(*edges: tuple[int, Relation, int], of: int = 1) -> float:
    """How near a concept is to concept 0, which is sought."""
    names = ["engine", "piston", "cylinder", "gasket"]
    ontology = Ontology(
        name="engines",
        concepts=tuple(Concept(id=n, label=n, labels={"en": (n,)}) for n in names),
        edges=tuple(Edge(*edge) for edge in edges),
    )
    table = association(Repository((ontology,)).extract(["engine"]))
    return table[names[of]][1]


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ((1, IS_A, 0), 0.5),  # a kind of what is sought
        ((0, IS_A, 1), 0.5),  # what it is a kind of
        ((0, HAS, 1), 0.4),  # a part that it has
        ((1, PART_OF, 0), 0.4),  # the same, said of the part
        ((0, PART_OF, 1), 0.4),  # the whole that it is part of
        ((1, HAS, 0), 0.4),  # the same, said of the whole
        ((0, RELATED, 1), 0.3),
        ((1, RELATED, 0), 0.3),
    ],
)
def test_a_step_is_worth_the_same_whichever_way_it_goes(edge, expected: float):
    """Koundal, §4: "is a", "part of", "has"; papers.md B.5-10: is-a 1 hop 0.5."""
    assert weight(edge) == pytest.approx(expected)


def test_steps_multiply_on_the_best_way():
    """papers.md B.5-10: weight by relation distance from the target concept."""
    assert weight((0, HAS, 1), (1, HAS, 2), of=2) == pytest.approx(0.4 * 0.4)
    assert weight((0, HAS, 1), (2, IS_A, 1), of=2) == pytest.approx(0.4 * 0.5)
    assert weight((0, HAS, 2), (0, IS_A, 1), (1, RELATED, 2), of=2) == 0.4
