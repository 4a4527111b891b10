"""When the weight table changes, every strategy that reads it scores links again."""

import pytest

from opilio.protocols import Remembering, Rescorer, Reviser, Seeker
from opilio.records import Block, Counted, Subject
from opilio.strategies import strategies
from strategies.ranked_pages import lease, link, page, strategy, verdict

BEES, CHESS = {"bee": 1.0, "hive": 0.5}, {"chess": 1.0, "hive": 0.5}
READ_THE_TABLE = [
    "weight-table",
    "shark-search",
    "blocks",
    "host-bandit",
    "infospiders",
    "mcore",
    "otie",
    "ordering",
    "website-model",
]
CALM = {"host-bandit": {"randomness": 0.0}}  # nothing is chosen by chance


def read() -> object:
    """A page with a link about each of two topics."""
    about = {
        "bees": Counted({"bee": 2}, 2.0),
        "chess": Counted({"chess": 2}, 2.0),
        "hives": Counted({"hive": 1}, 2.0),
    }
    blocks = [
        Block(heading=name, terms=counted.terms, norm=30.0, most=3)
        for name, counted in about.items()
    ]
    links = [
        link(name, anchor=counted, block=number)
        for number, (name, counted) in enumerate(about.items())
    ]
    return page(links, blocks=blocks, terms={"bee": 2, "chess": 2, "hive": 1}, norm=9.0)


def promises(made, ranked) -> dict[str, float]:
    """What the frontier knows of the links then."""
    found = {one.link.fingerprint: one.promise for one in ranked}
    names = {one.fingerprint: one.url.rpartition("/")[2] for one in read().links}
    if isinstance(made, Reviser):
        found |= {new[0]: new[1] for new in made.revise() if new[0] in found}
    return {names[link]: promise for link, promise in found.items()}


@pytest.mark.parametrize("name", READ_THE_TABLE)
def test_links_that_wait_are_worth_what_they_are_by_the_new_table(name):
    made = strategy(name, BEES, **CALM.get(name, {}))
    before = promises(made, list(made.rank(read(), verdict(0.6), lease("p"))))
    assert before["bees"] > before["chess"]
    assert isinstance(made, Seeker) and isinstance(made, Rescorer)
    made.seek(Subject(weights=CHESS))
    after = promises(made, list(made.rescore(read(), verdict(0.6), lease("p"))))
    fresh = strategy(name, CHESS, **CALM.get(name, {}))
    expected = promises(fresh, list(fresh.rank(read(), verdict(0.6), lease("p"))))
    assert after == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert after["chess"] > after["bees"]


@pytest.mark.parametrize("name", READ_THE_TABLE)
def test_what_was_scored_anew_survives_a_restart(name):
    made = strategy(name, BEES, **CALM.get(name, {}))
    list(made.rank(read(), verdict(0.6), lease("p")))
    made.seek(Subject(weights=CHESS))
    rescored = promises(made, list(made.rescore(read(), verdict(0.6), lease("p"))))
    again = strategy(name, BEES, **CALM.get(name, {}))
    again.seek(Subject(weights=CHESS))
    if learnt := getattr(made, "dump", lambda: None)():
        again.load(learnt)
    if isinstance(made, Remembering):
        again.recall([note for note in made.changes() if note[1] is not None])
    # What comes next is the same for both.
    more = read(), verdict(0.4), lease("q")
    assert promises(again, list(again.rank(*more))) == pytest.approx(
        promises(made, list(made.rank(*more)))
    )
    assert set(rescored) == {"bees", "chess", "hives"}


def test_no_strategy_that_compares_with_the_table_is_forgotten():
    """A strategy whose promises depend on the table is told when it changes."""
    for name in strategies():
        try:
            bees, chess = (
                strategy(name, BEES, **CALM.get(name, {})),
                strategy(name, CHESS, **CALM.get(name, {})),
            )
            ranked = [
                promises(one, list(one.rank(read(), verdict(0.6), lease("p"))))
                for one in (bees, chess)
            ]
        except Exception:  # needs more than a table: an ontology, examples, vectors
            continue
        if ranked[0] != ranked[1]:
            assert isinstance(bees, Seeker), name


def test_a_block_strategy_counts_each_parent_once_after_the_change():
    made = strategy("blocks", BEES)
    for place in "pq":
        list(made.rank(read(), verdict(0.6), lease(place)))
    made.seek(Subject(weights=CHESS))
    for place in "pq":
        list(made.rescore(read(), verdict(0.6), lease(place)))
    assert {known.count for known in made.parents.values()} == {2}
