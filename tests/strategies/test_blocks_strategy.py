"""blocks: Aastha's thesis, sections 4.5.2 to 4.6 (papers.md E.2, E.4-5, E.4-6, E.6)."""

import pytest

from opilio.lab.synthetic.small import SmallWeb
from opilio.lab.synthetic.small import page as html
from opilio.protocols import Strategy
from opilio.records import Block, Subject
from opilio.strategies.blocks import SWEEP, BlocksOptions
from strategies.ranked_pages import (
    lease,
    link,
    name,
    page,
    promises,
    reasons,
    strategy,
    verdict,
)

BEES = {"bee": 1.0}
GOOD, BAD = verdict(1.0), verdict(0.0)
BEE_TEXT = "The bee makes honey in the hive. " * 20


def block(relevance: float) -> Block:
    """A block with that R(t,b), for a topic of one term."""
    terms = {"bee": 2**10} if relevance else {}
    return Block(terms=terms, norm=(1 + 6.931471805599453) / (relevance or 1.0))


def show(blocks: Strategy, place: str, by: str, relevance: float) -> None:
    """Let the strategy see a relevant page with a link in a block that relevant."""
    list(blocks.rank(page([place], blocks=[block(relevance)]), GOOD, lease(by)))


def revised(blocks: Strategy) -> dict[int, float]:
    told = blocks.revise()  # type: ignore[attr-defined]
    return {url: promise for url, promise, _ in told}


def of(place: str) -> int:
    return link(place).fingerprint


@pytest.mark.parametrize("relevances", [(0.6, 0.2), (0.2, 0.6)])
def test_a_score_is_half_the_best_block_and_half_the_mean_of_the_parents(relevances):
    """papers.md E.4-5: block .6; parents' blocks .6 and .2: R(t,l) = .4, Score = .5.
    Aastha, section 4.5.4: "Calculate average parent page block relevancy score"."""
    blocks = strategy("blocks", BEES)
    for number, relevance in enumerate(relevances):
        show(blocks, "u", f"parent {number}", relevance)
    assert revised(blocks) == {of("u"): pytest.approx(0.5)}


def test_only_links_with_another_parent_are_revised():
    blocks = strategy("blocks", BEES)
    show(blocks, "u", "parent", 0.6)
    show(blocks, "v", "other parent", 0.6)
    assert revised(blocks) == {}
    show(blocks, "u", "third parent", 0.2)
    assert revised(blocks).keys() == {of("u")}
    assert revised(blocks) == {}


def test_the_parts_are_named_as_in_the_thesis():
    blocks = strategy("blocks", BEES, mu=0.25)
    show(blocks, "u", "parent", 0.6)
    [found] = blocks.rank(page(["u"], blocks=[block(0.2)]), BAD, lease("seed"))
    assert found.parts == pytest.approx({"R(t,b)": 0.6, "R(t,l)": 0.4, "level": 0})
    assert found.promise == pytest.approx(0.25 * 0.6 + 0.75 * 0.4)


def test_a_block_is_relevant_only_above_the_limit():
    """Thesis, 4.5.2: R(t,b) must exceed the limit; at the limit a link tunnels."""
    blocks = strategy("blocks", BEES, limit=0.5)
    at, above = block(0.5), block(0.51)
    assert blocks.relevance(at) == 0.5  # type: ignore[attr-defined]
    both = page([link("u", block=0), link("v", block=1)], blocks=[at, above])
    for score in (blocks.rank, blocks.rescore):  # type: ignore[attr-defined]
        found = {name(one): one.level for one in score(both, GOOD, lease("seed"))}
        assert found == {"u": 1, "v": 0}


def test_by_another_table_a_link_has_what_its_blocks_say_by_that():
    blocks = strategy("blocks", BEES | {"hive": 1.0}, max_level=0)
    bees = Block(terms={"bee": 1}, norm=8.0)
    hives = Block(terms={"hive": 1}, norm=8.0)
    both = page([link("u", block=0), link("v", block=1)], blocks=[bees, hives])
    found = list(blocks.rank(both, GOOD, lease("seed")))
    assert reasons(found) == {"u": "", "v": ""}
    blocks.seek(Subject(weights={"hive": 1.0}))  # type: ignore[attr-defined]
    found = list(blocks.rescore(both, GOOD, lease("seed")))  # type: ignore[attr-defined]
    assert reasons(found) == {"u": "block", "v": ""}
    assert promises(found) == {"v": pytest.approx(1 / 8)}
    found = list(blocks.rescore(both, BAD, lease("seed")))  # type: ignore[attr-defined]
    assert reasons(found) == {"u": "tunnel", "v": ""}, "v keeps its level 0"


def test_by_the_letter_another_table_changes_scores_but_no_levels():
    blocks = strategy("blocks", BEES, mode="paper", max_level=1)
    links = page(["1"], blocks=[block(0.5)])
    [before] = blocks.rank(links, BAD, lease("seed"))
    blocks.seek(Subject(weights={"hive": 1.0}))  # type: ignore[attr-defined]
    [after] = blocks.rescore(links, BAD, lease("seed"))  # type: ignore[attr-defined]
    assert (before.level, before.promise) == (0, 3.0)
    assert (after.level, after.promise, after.reason) == (0, 2.0, "")


def test_each_link_has_the_relevance_of_its_own_block():
    blocks = strategy("blocks", BEES)
    found = blocks.rank(
        page(["a", link("b", block=1)], blocks=[block(0.2), block(0.6)]),
        GOOD,
        lease("seed"),
    )
    assert promises(found) == pytest.approx({"a": 0.2, "b": 0.6})


def test_without_partition_all_links_have_that_of_the_page():
    blocks = strategy("blocks", BEES, partition=False)
    assert not blocks.reads.blocks
    found = blocks.rank(
        page(["a", link("b", block=1)], terms={"bee": 1}, norm=10.0),
        GOOD,
        lease("seed"),
    )
    assert promises(found) == pytest.approx({"a": 0.1, "b": 0.1})
    again = blocks.rescore(  # type: ignore[attr-defined]
        page(["a", link("b", block=1)], terms={"bee": 1}, norm=10.0),
        GOOD,
        lease("seed"),
    )
    assert promises(again) == pytest.approx({"a": 0.1, "b": 0.1})


def test_a_line_of_a_list_is_not_all_topic():
    blocks = strategy("blocks", BEES)
    short = Block(terms={"bee": 1}, norm=1.0)
    found = promises(blocks.rank(page(["a"], blocks=[short]), GOOD, lease("seed")))
    assert found == pytest.approx({"a": 1 / 6})


def test_by_the_letter_only_terms_of_the_table_count():
    """R(t,b) with w = n/n_max: one term of two equal ones gives 1/√2 at any length."""
    blocks = strategy("blocks", {"bee": 1.0, "hive": 1.0}, mode="paper")
    long = Block(terms={"bee": 3, "other": 9}, norm=100.0, most=9)
    found = promises(blocks.rank(page(["a"], blocks=[long]), GOOD, lease("seed")))
    assert found == pytest.approx({"a": 0.5**0.5})
    weighed = strategy("blocks", {"bee": 0.6, "hive": 0.8}, mode="paper")
    found = promises(weighed.rank(page(["a"], blocks=[long]), GOOD, lease("seed")))
    assert found == pytest.approx({"a": 0.6})


def test_by_the_letter_rounding_takes_no_score_above_one():
    """Three terms once each: 3 / (√3·√3) is 1 + 2⁻⁵² in floating point."""
    terms = dict.fromkeys(("bee", "hive", "honey"), 1)
    blocks = strategy("blocks", dict.fromkeys(terms, 1.0), mode="paper")
    found = blocks.rank(page(["a"], blocks=[Block(terms=terms)]), GOOD, lease("seed"))
    assert promises(found) == {"a": 1.0}


def chain(max_level: int, mode: str = "fixed") -> Strategy:
    """papers.md E.4-6: seed (relevant) → n1 → n2, both irrelevant → p."""
    blocks = strategy("blocks", BEES, max_level=max_level, mode=mode)
    show(blocks, "n1", "seed", 0.6)
    list(blocks.rank(page(["n2"], blocks=[block(0)]), BAD, lease("n1")))
    return blocks


@pytest.mark.parametrize(
    ("mode", "max_level", "reason"),
    [
        ("fixed", 1, "tunnel"),
        ("fixed", 2, ""),
        ("paper", 1, "tunnel"),
        ("paper", 2, "tunnel"),
        ("paper", 9, "tunnel"),
    ],
)
def test_a_tunnel_of_two_pages_needs_level_two_and_mending(mode, max_level, reason):
    """papers.md E.4-6; "literal pseudo-code never reaches p at any maxLevel". Aastha,
    section 4.6: "traversing the irrelevant pages to reach relevant ones"."""
    found = chain(max_level, mode).rank(
        page(["p"], blocks=[block(0)]), BAD, lease("n2")
    )
    assert reasons(found) == {"p": reason}


@pytest.mark.parametrize(("max_level", "reached"), [(1, False), (2, True)])
async def test_the_real_command_crosses_two_irrelevant_pages_with_level_two(
    crawled, max_level: int, reached: bool
):
    """papers.md E.4-6, end to end."""
    trade, coal = "Oil is traded at sea. " * 20, "Coal is dug in mines. " * 20
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": html("Bees", BEE_TEXT, {"/n1": "more"}),
                "http://seed.test/n1": html("Oil", trade, {"/n2": "more"}),
                "http://seed.test/n2": html("Coal", coal, {"/p": "more"}),
                "http://seed.test/p": html("Honey", BEE_TEXT + "It lives."),
            }
        )
    )
    option = f"max_level={max_level}"
    ended = await life.crawl("--strategy", "blocks", "--option", option)
    assert ended.code == 0, ended.err
    states = life.states()
    assert states["http://seed.test/n2"][0] == "irrelevant"
    wanted = ("kept", None) if reached else ("unusable", "tunnel")
    assert states["http://seed.test/p"] == wanted


def test_each_level_of_a_tunnel_takes_its_share_of_the_score():
    blocks = strategy("blocks", BEES, decay=0.7)
    show(blocks, "n1", "seed", 0.6)
    [found] = blocks.rank(page(["n2"], blocks=[block(0.5)]), BAD, lease("n1"))
    assert (found.level, found.promise) == (1, pytest.approx(0.5 * 0.7))
    [found] = blocks.rank(page(["p"], blocks=[block(0.5)]), BAD, lease("n2"))
    assert (found.level, found.promise) == (2, pytest.approx(0.5 * 0.7**2))


def test_the_last_level_of_a_tunnel_still_has_its_share():
    blocks = strategy("blocks", BEES, max_level=1, decay=0.7)
    both = page([link("a", block=0), link("b", block=1)], blocks=[block(0), block(0.5)])
    found = list(blocks.rank(both, BAD, lease("seed", level=0)))
    assert promises(found) == pytest.approx({"a": 0.0, "b": 0.5 * 0.7})
    assert all("tier: given up" not in one.parts for one in found)


@pytest.mark.parametrize(("relevance", "level"), [(0.03, 0), (0.01, 1)])
def test_a_block_is_relevant_above_a_fiftieth_unless_told_otherwise(relevance, level):
    blocks = strategy("blocks", BEES)
    found = blocks.rank(page(["a"], blocks=[block(relevance)]), GOOD, lease("seed"))
    assert [one.level for one in found] == [level]


def test_a_relevant_page_ends_a_tunnel():
    blocks = chain(max_level=2)
    [found] = blocks.rank(page(["p"], blocks=[block(0.5)]), GOOD, lease("n2"))
    assert found.level == 0


def test_irrelevant_blocks_of_a_relevant_page_begin_one():
    """papers.md E.6-9."""
    blocks = strategy("blocks", BEES)
    both = page(["a", link("b", block=1)], blocks=[block(0.5), block(0)])
    found = blocks.rank(both, GOOD, lease("seed"))
    assert {name(one): one.level for one in found} == {"a": 0, "b": 1}


@pytest.mark.parametrize("mode", ["fixed", "paper"])
def test_without_tunnelling_only_relevant_blocks_of_relevant_pages_count(mode):
    blocks = strategy("blocks", BEES, mode=mode, tunnelling=False)
    both = page(["a", link("b", block=1)], blocks=[block(0.5), block(0)])
    assert reasons(blocks.rank(both, GOOD, lease("seed"))) == {"a": "", "b": "block"}
    both = page(["c", link("d", block=1)], blocks=[block(0.5), block(0)])
    found = reasons(blocks.rank(both, BAD, lease("a")))
    assert found == {"c": "tunnel", "d": "tunnel"}


def test_a_link_that_was_too_deep_is_wanted_once_found_on_a_shorter_way():
    blocks = chain(max_level=1)
    assert reasons(blocks.rank(page(["p"]), BAD, lease("n2"))) == {"p": "tunnel"}
    found = list(blocks.rank(page(["p"], blocks=[block(0.6)]), GOOD, lease("other")))
    assert reasons(found) == {"p": ""}
    assert found[0].level == 0


def test_a_shorter_way_counts_even_if_the_block_there_says_less():
    blocks = strategy("blocks", BEES)
    list(blocks.rank(page(["n"], blocks=[block(0.6)]), BAD, lease("seed")))
    show(blocks, "n", "other", 0.1)
    [found] = blocks.rank(page(["p"], blocks=[block(0.5)]), BAD, lease("n", level=1))
    assert found.level == 1


def test_by_the_letter_the_table_is_emptied_before_all_other_links():
    blocks = strategy("blocks", BEES, mode="paper")
    main = page(["a", link("b", block=1)], blocks=[block(1.0), block(0)])
    found = list(blocks.rank(main, GOOD, lease("seed")))
    assert reasons(found) == {"a": "", "b": "block"}
    assert promises(found) == {"a": 1.0}
    assert [one.level for one in found] == [0, 4]  # beyond max_level
    found = promises(blocks.rank(page(["c"], blocks=[block(0)]), BAD, lease("a")))
    assert found == {"c": 2.0}


def test_by_the_letter_a_level_is_given_up_after_one_failure_more_than_max_level():
    """papers.md E.6-10 (d): a patience counter."""
    blocks = strategy("blocks", BEES, mode="paper", max_level=2)
    many = page(["1", "2", "3", "4", "5"], blocks=[block(0.5)])
    list(blocks.rank(many, BAD, lease("seed")))
    nothing = page([])
    for failure in ("1", "2"):
        list(blocks.rank(nothing, BAD, lease(failure)))
        assert revised(blocks) == {}
    list(blocks.rank(nothing, BAD, lease("3")))
    assert revised(blocks) == dict.fromkeys(map(of, "12345"), -1.0)


def test_by_the_letter_a_success_feeds_the_table_at_a_deeper_level():
    blocks = strategy("blocks", BEES, mode="paper", max_level=1)
    list(blocks.rank(page(["1", "2"], blocks=[block(1.0)]), BAD, lease("seed")))
    [found] = blocks.rank(page(["3"], blocks=[block(1.0)]), GOOD, lease("1"))
    assert (found.level, found.promise) == (1, 3.0)
    # Level 1 is maxLevel: what is found there is kept, but leads no further.
    assert reasons(blocks.rank(page(["4"]), GOOD, lease("3"))) == {"4": "tunnel"}
    list(blocks.rank(page([]), BAD, lease("2")))  # level 0 sinks to 1
    assert revised(blocks) == {}
    list(blocks.rank(page([]), BAD, lease("3")))
    assert revised(blocks) == dict.fromkeys(map(of, "123"), -1.0)


def test_by_the_letter_a_link_stays_at_the_level_where_it_entered():
    blocks = strategy("blocks", BEES, mode="paper", max_level=1)
    list(blocks.rank(page(["1", "x"], blocks=[block(1.0)]), BAD, lease("seed")))
    found = blocks.rank(page(["x", "y"], blocks=[block(1.0)]), GOOD, lease("1"))
    assert {name(one): one.level for one in found} == {"x": 0, "y": 1}


def test_by_the_letter_a_link_given_up_keeps_its_place_in_the_main_queue():
    blocks = strategy("blocks", BEES, mode="paper", max_level=0)
    show(blocks, "a", "seed", 1.0)
    list(blocks.rank(page(["a", "b"], blocks=[block(0)]), BAD, lease("other")))
    assert revised(blocks) == {of("a"): pytest.approx(2.75)}
    list(blocks.rank(page([]), BAD, lease("b")))
    assert revised(blocks) == {of("a"): pytest.approx(0.75), of("b"): -1.0}


def test_giving_many_links_up_is_spread_over_pages_also_across_a_restart():
    def give_up(blocks: Strategy, last: str) -> set[int]:
        list(blocks.rank(page([]), BAD, lease(last)))
        return set(revised(blocks))

    names = [str(number) for number in range(SWEEP + 10)]
    blocks = strategy("blocks", BEES, mode="paper", max_level=0)
    list(blocks.rank(page(names, blocks=[block(0.5)]), BAD, lease("seed")))
    told = give_up(blocks, "0")
    assert len(told) == SWEEP == 200
    again = strategy("blocks", BEES, mode="paper", max_level=0)
    again.load(blocks.dump())
    again.recall(sorted(blocks.changes()))
    rest = give_up(again, "elsewhere")
    assert rest == give_up(blocks, "elsewhere")
    assert told | rest == set(map(of, names)) and not told & rest
    assert give_up(blocks, "anywhere") == set()


@pytest.mark.parametrize("mode", ["fixed", "paper"])
def test_what_is_known_of_links_and_tunnels_is_remembered(mode):
    def go_on(blocks: Strategy) -> list[object]:
        list(blocks.rank(page(["x"], blocks=[block(0.3)]), BAD, lease("1")))
        list(blocks.rank(page(["2", "y"], blocks=[block(0.3)]), BAD, lease("2")))
        return [sorted(revised(blocks).items()), list(blocks.rank(*last))]

    last = page(["1", "z"], blocks=[block(0.4)]), BAD, lease("3")
    before = strategy("blocks", BEES, mode=mode, max_level=1)
    list(before.rank(page(["1", "2", "3"], blocks=[block(0.5)]), BAD, lease("seed")))
    after = strategy("blocks", BEES, mode=mode, max_level=1)
    if learnt := before.dump():
        after.load(learnt)
    after.recall(before.changes())
    assert before.dump() is None
    assert go_on(after) == go_on(before)


def test_tunnels_are_three_pages_long_unless_told_otherwise():
    """The thesis gives no maxLevel; papers.md E.6-10 says 3, and a decay of 0.7."""
    options = BlocksOptions()
    assert (options.max_level, options.decay) == (3, 0.7)
