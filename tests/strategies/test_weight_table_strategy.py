"""weight-table: Meenu, Singla & Batra, equation 5 (papers.md D.2, D.6-9)."""

import pytest

from opilio.lab.synthetic.small import SmallWeb
from opilio.lab.synthetic.small import page as html
from opilio.records import Counted, Subject
from strategies.ranked_pages import (
    lease,
    link,
    page,
    promises,
    reasons,
    strategy,
    verdict,
)

BEES = {"bee": 1.0}  # one term, so that a cosine is 1/norm
ONE, HALF, QUARTER = (Counted({"bee": 1}, norm) for norm in (1.0, 2.0, 4.0))


def test_a_link_score_adds_up_address_anchor_parent_and_surroundings():
    """Meenu et al., section 3.2.6: "the relevancy between text surrounding the link and
    topic keyword"."""
    ranked = strategy("weight-table", BEES).rank(
        page([link("a", url=HALF, anchor=ONE, around=QUARTER)]),
        verdict(0.6),
        lease("p"),
    )
    [found] = ranked
    assert found.promise == pytest.approx(0.5 + 1.0 + 0.6 + 0.25)
    assert found.parts == pytest.approx(
        {"α url": 0.5, "β anchor": 1.0, "γ parent": 0.6, "ω surrounding": 0.25}
    )


def test_the_largest_link_score_is_four():
    links = page([link("a", url=ONE, anchor=ONE, around=ONE)])
    [found] = strategy("weight-table", BEES).rank(links, verdict(1.0), lease("p"))
    assert found.promise == 4.0


def test_by_the_letter_links_of_irrelevant_pages_are_not_wanted():
    links = page([link("a", url=ONE, anchor=ONE, around=ONE)])
    ranking = strategy("weight-table", BEES, mode="paper")
    assert reasons(ranking.rank(links, verdict(0.4), lease("p"))) == {"a": "page"}


def test_by_the_letter_links_are_wanted_above_the_threshold_only():
    """Aastha, section 2.8: "threshold of relevant of text of linkage T2"."""
    ranking = strategy("weight-table", BEES, mode="paper", link_threshold=1.1)
    links = page(["a", link("b", anchor=HALF), link("c", anchor=ONE)])
    found = reasons(ranking.rank(links, verdict(0.6), lease("p")))
    assert found == {"a": "link_score", "b": "link_score", "c": ""}


def test_mended_the_same_links_wait_behind_all_others():
    ranking = strategy("weight-table", BEES, link_threshold=0.7)
    links = page(["low", link("high", anchor=ONE)])
    good = promises(ranking.rank(links, verdict(0.5), lease("p")))
    bad = promises(ranking.rank(links, verdict(0.4), lease("q")))
    assert good == pytest.approx({"low": 0.5 - 4, "high": 1.5})
    assert bad == pytest.approx({"low": 0.4 - 4, "high": 1.4 - 4})


@pytest.mark.parametrize(("score", "promise"), [(0.12, 0.12), (0.09, 0.09 - 4)])
def test_the_threshold_of_a_link_is_a_tenth_unless_told_otherwise(score, promise):
    found = strategy("weight-table", BEES).rank(
        page(["a"]), verdict(score, True), lease("p")
    )
    assert promises(found) == {"a": pytest.approx(promise)}


def test_the_parts_of_a_link_that_waits_behind_add_up_too():
    [found] = strategy("weight-table", BEES).rank(
        page([link("a", anchor=ONE)]), verdict(0.4), lease("p")
    )
    assert sum(found.parts.values()) == pytest.approx(found.promise)


def test_a_page_threshold_of_ones_own_replaces_that_of_the_judge():
    ranking = strategy("weight-table", BEES, mode="paper", page_threshold=0.3)
    assert reasons(ranking.rank(page(["a"]), verdict(0.4), lease("p"))) == {"a": ""}
    assert reasons(ranking.rank(page(["a"]), verdict(0.3, True), lease("p"))) == {
        "a": "page"
    }


@pytest.mark.parametrize(("mode", "reached"), [("paper", False), ("fixed", True)])
async def test_a_page_behind_an_irrelevant_one_is_reached_when_mended(
    crawled, mode: str, reached: bool
):
    text = "The bee makes honey in the hive. " * 20
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": html("Bees", text, {"/between": "more"}),
                "http://seed.test/between": html("Oil", "Trade. " * 50, {"/bees": "b"}),
                "http://seed.test/bees": html("Honey", text + " It stores it."),
            }
        )
    )
    ended = await life.crawl("--strategy", "weight-table", "--option", f"mode={mode}")
    assert ended.code == 0, ended.err
    state, reason = life.states()["http://seed.test/bees"]
    assert (state, reason) == (("kept", None) if reached else ("unusable", "page"))


def test_links_are_scored_by_what_people_ask_for_now():
    table = strategy("weight-table", BEES)
    links = page([link("a", anchor=Counted({"lava": 1}, 1.0))])
    [before] = table.rank(links, verdict(0.6), lease("p"))
    table.seek(Subject(weights={"lava": 1.0}))
    [now] = table.rank(links, verdict(0.6), lease("p"))
    assert "β anchor" not in before.parts
    assert now.parts["β anchor"] == pytest.approx(1.0)
