"""fish-search: De Bra & Post, 1994, as in Hersovici et al., 1998, figure 1."""

from opilio.records import Page
from strategies.ranked_pages import lease, page, promises, strategy, verdict

GOOD, BAD = verdict(1.0), verdict(0.0)


def links(*starts: str, count: int = 5) -> Page:
    return page([f"{start}{number}" for start in starts for number in range(count)])


def test_a_relevant_page_has_half_as_many_children_again():
    fish = strategy("fish-search", {}, width=2)
    found = promises(fish.rank(links("a"), GOOD, lease("p")))
    assert found == {"a0": 1.0, "a1": 1.0, "a2": 1.0, "a3": 0.0, "a4": 0.0}


def test_an_irrelevant_page_has_as_many_as_the_width_in_the_middle():
    fish = strategy("fish-search", {}, width=2)
    found = promises(fish.rank(links("a"), BAD, lease("p")))
    assert found == {"a0": 0.5, "a1": 0.5, "a2": 0.0, "a3": 0.0, "a4": 0.0}


def descend(generations: int, *, depth: int) -> float:
    """The potential of a link so many irrelevant pages below a relevant one."""
    fish = strategy("fish-search", {}, width=2, depth=depth)
    list(fish.rank(page(["0"]), GOOD, lease("seed")))
    for number in range(generations):
        found = fish.rank(page([str(number + 1)]), BAD, lease(str(number)))
        potential = promises(found)[str(number + 1)]
    return potential


def test_fish_die_after_as_many_irrelevant_pages_as_the_depth_says():
    assert [descend(number, depth=2) for number in (1, 2, 3, 4)] == [0.5, 0.5, 0.0, 0.0]
    assert descend(1, depth=0) == 0.0


def test_food_makes_fish_as_healthy_as_at_first():
    fish = strategy("fish-search", {}, width=2, depth=1)
    list(fish.rank(page(["a"]), GOOD, lease("seed")))
    list(fish.rank(page(["b"]), BAD, lease("a")))
    assert promises(fish.rank(page(["c"]), GOOD, lease("b"))) == {"c": 1.0}
    assert promises(fish.rank(page(["d"]), BAD, lease("c"))) == {"d": 0.5}


def test_of_several_parents_the_largest_depth_counts():
    fish = strategy("fish-search", {}, width=1, depth=1)
    list(fish.rank(page(["a"]), BAD, lease("seed")))  # leaves no depth to it
    list(fish.rank(page(["x", "y", "a"]), GOOD, lease("other")))  # beyond the width
    assert promises(fish.rank(page(["b"]), BAD, lease("a"))) == {"b": 0.5}


def test_the_depths_of_links_are_remembered():
    before = strategy("fish-search", {}, depth=1)
    list(before.rank(page(["a"]), BAD, lease("seed")))
    after = strategy("fish-search", {}, depth=1)
    after.recall(before.changes())
    assert promises(after.rank(page(["b"]), BAD, lease("a"))) == {"b": 0.0}
