"""Tree_Level_Limit (Yang, section 3): how deep a site is walked from its homepage."""

from contextlib import closing

import numpy as np
import pytest

from crawling import SETTINGS, TOPIC, opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.sites.tree_levels import TreeLevels
from opilio.storage.database import Database, open_database
from opilio.topic.file import SiteSettings
from sites.evolving_sites import BEES, evolve

ONE = f"{SETTINGS}[crawl]\nin_flight = 1\nstrategy = 'breadth-first'\n"


def chain() -> SmallWeb:
    """Five pages about bees, each a link further from the homepage."""
    far = {
        f"http://seed.test/{name}": page(
            f"Bee {name}", f"{BEES * 20} {name} " * 2, {f"/{after}": f"bee {after}"}
        )
        for name, after in zip(
            ("one", "two", "three", "four"),
            ("two", "three", "four", "five"),
            strict=True,
        )
    }
    start = {"/one": "bee one", "/a": "bee a", "/b": "bee b"}
    near = {
        f"http://seed.test/{name}": page(f"Bee {name}", f"{BEES * 20} {name} " * 2)
        for name in ("a", "b", "five")
    }
    return SmallWeb({"http://seed.test/": page("Bees", BEES * 20, start)} | near | far)


@pytest.mark.parametrize(
    ("told", "deepest"),
    [
        ("tree_level_limit = 2", "two"),
        ("tree_level_limit = 3", "three"),
        ('tree_level_limit = 2\nlimits = { "seed.test" = 4 }', "four"),
        ("", "five"),  # 8 by default
    ],
)
async def test_a_site_is_walked_as_deep_as_its_limit(crawled, told, deepest):
    """Yang, section 3: "keeps the search agent from exploring too deeply"."""
    topic = f"{TOPIC}\n[sites]\n{told}\n"
    life = await crawled(chain(), topic_text=topic, settings_text=ONE)
    await life.crawl("--max-pages", 4)  # the homepage and what it links to
    await evolve(life, "--pages", 20)
    visited = [url for url, state in life.states().items() if state[0] == "kept"]
    names = ["one", "two", "three", "four", "five"]
    walked = [name for name in names if f"http://seed.test/{name}" in visited]
    assert walked == names[: names.index(deepest) + 1]
    shown = await opilio("sites", life.folder, "seed.test", "--json")
    limit = {"two": 2, "three": 3, "four": 4, "five": 8}[deepest]
    assert shown.json()["site"]["tree_level_limit"] == limit


HOSTS = [0, 1, 1, 1, 1, 2, 1]  # of the links 1 to 6


def test_the_shortest_way_within_the_site_counts(tmp_path):
    with closing(open_database(tmp_path / "crawl.db")) as db:
        fill_with_links(db)
        levels = TreeLevels().of(db, np.array(HOSTS, np.int32))
    # 5 is on another site, and 6 is linked from there alone.
    assert levels.tolist()[1:] == [0, 1, 1, 2, -1, -1]


def fill_with_links(db: Database) -> None:
    """Six links of two hosts, four of them with pages."""
    for id, host in list(enumerate(HOSTS))[1:]:
        db.execute(
            "INSERT INTO link (id, url, fingerprint, host, state, promise) "
            "VALUES (?, ?, ?, ?, 'kept', 0)",
            (id, id, id, host),
        )
    for id in (1, 2, 3, 5):
        db.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, score) "
            "VALUES (?, ?, 0, 200, 1, 1.0)",
            (id, id),
        )
    db.execute("INSERT INTO site VALUES (1, 3, 3, '{}', NULL, 3, 1)")
    ways = [(1, 2), (2, 3), (3, 4), (1, 3), (1, 5), (5, 6)]
    db.executemany("INSERT INTO edge VALUES (?, ?)", ways)


def test_a_limit_holds_for_a_host_and_those_below_it():
    told = SiteSettings(tree_level_limit=5, limits={"bees.test": 2})
    assert [told.limit_of(host) for host in ("bees.test", "www.bees.test:81")] == [2, 2]
    assert told.limit_of("other.test") == 5
