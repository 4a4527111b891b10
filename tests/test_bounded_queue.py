"""Whole crawls with `--capacity`: nothing is lost, also if the crawl is resumed."""

import pytest

from opilio.lab.synthetic.small import SmallWeb, page

BEES = "The bee makes honey in the hive. "
LEAVES = 20


def web_of_leaves() -> SmallWeb:
    """A page of twenty links, more than the queue holds, and one behind the last."""
    links = {f"/leaf-{chr(97 + n)}": f"bee number {n}" for n in range(LEAVES)}
    pages = {"http://seed.test/": page("Bees", BEES, links)}
    for number, path in enumerate(links):
        onward = {"/behind": "honey"} if number == LEAVES - 1 else {}
        text = BEES * (number + 1) + f"leaf {number}"
        pages[f"http://seed.test{path}"] = page(f"Leaf {number}", text, onward)
    pages["http://seed.test/behind"] = page("Behind", "nothing but ships")
    return SmallWeb(pages)


@pytest.mark.parametrize("strategy", ["breadth-first", "ordering"])
async def test_a_crawl_with_a_small_queue_visits_every_page(crawled, strategy):
    life = await crawled(web_of_leaves())
    command = ("--strategy", strategy, "--capacity")
    first = await life.crawl(*command, 5, "--max-pages", 4)
    assert first.code == 0, first.err
    parked = [url for url, state in life.states().items() if "capacity" in state]
    assert len(parked) == LEAVES + 1 - 4 - 5, "one seed and three leaves were visited"
    ended = await life.crawl(*command, 1, "--max-pages", 0)
    assert ended.json()["ended"] == "exhausted"
    ends = {state for state, _ in life.states().values()}
    assert ends <= {"kept", "irrelevant", "copy"}
    assert len(life.states()) == LEAVES + 2
