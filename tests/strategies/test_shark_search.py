"""shark-search: Hersovici et al., WWW7, 1998, figure 2, worked by hand.

With γ = .5, β = .8, δ = .5, and a topic of one term, so that a cosine is 1/norm.
"""

import pytest

from opilio.records import Counted
from strategies.ranked_pages import lease, link, page, promises, strategy, verdict

BEES = {"bee": 1.0}
ONE, HALF = Counted({"bee": 1}, 1.0), Counted({"bee": 1}, 2.0)
LINKS = page(
    [link("plain"), link("near", around=HALF), link("named", anchor=HALF, around=HALF)]
)


def test_a_link_inherits_half_of_its_pages_score_and_counts_that_half():
    """Aastha, section 2.1: "a score between 0 and 1"."""
    found = promises(
        strategy("shark-search", BEES).rank(LINKS, verdict(0.8), lease("p"))
    )
    # .5·(.5·.8) + .5·near, with near 0; .2·.5; .8·.5 + .2·1
    assert found == pytest.approx({"plain": 0.2, "near": 0.25, "named": 0.5})


def test_the_promise_is_the_sum_of_its_parts():
    for found in strategy("shark-search", BEES).rank(LINKS, verdict(0.8), lease("p")):
        assert sum(found.parts.values()) == pytest.approx(found.promise)


def test_below_an_irrelevant_page_what_is_inherited_fades_by_half_each_time():
    shark = strategy("shark-search", BEES)
    found = {}
    found |= promises(shark.rank(page(["a"]), verdict(0.8), lease("seed")))
    found |= promises(shark.rank(page(["b"]), verdict(0.0), lease("a")))
    found |= promises(shark.rank(page(["c"]), verdict(0.0), lease("b")))
    # inherited: .5·.8, .5·.4, .5·.2; promise = γ·inherited
    assert found == pytest.approx({"a": 0.2, "b": 0.1, "c": 0.05})


def test_links_of_an_irrelevant_seed_inherit_nothing():
    shark = strategy("shark-search", BEES)
    assert promises(shark.rank(page(["a"]), verdict(0.0), lease("seed"))) == {"a": 0.0}


def test_of_several_parents_the_most_is_inherited():
    shark = strategy("shark-search", BEES)
    for score in (0.2, 0.8, 0.4):
        list(shark.rank(page(["a"]), verdict(score), lease(f"parent {score}")))
    found = promises(shark.rank(page(["b"]), verdict(0.0), lease("a")))
    assert found == pytest.approx({"b": 0.5 * 0.5 * 0.5 * 0.8})


def test_the_weights_can_be_set():
    shark = strategy(
        "shark-search", BEES, decay=1.0, anchor_weight=1.0, inherited_weight=0.25
    )
    found = promises(shark.rank(LINKS, verdict(0.8), lease("p")))
    assert found == pytest.approx({"plain": 0.2, "near": 0.2, "named": 0.2 + 0.375})


def test_what_links_inherited_is_remembered():
    before = strategy("shark-search", BEES)
    list(before.rank(page(["a"]), verdict(0.8), lease("seed")))
    after = strategy("shark-search", BEES)
    after.recall(before.changes())
    found = promises(after.rank(page(["b"]), verdict(0.0), lease("a")))
    assert found == pytest.approx({"b": 0.1})
