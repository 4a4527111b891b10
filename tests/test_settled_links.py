"""Links that the strategy has learnt enough about are left out of what is read."""

from itertools import permutations

from opilio.lab.synthetic.small import SmallWeb, page

NAMES = ["/", *(f"/{number}" for number in range(1, 12))]
BEES = "The bee makes honey in the hive. "


def dense_web() -> SmallWeb:
    """Every page links to every other one."""
    links = {name: f"page {name}" for name in NAMES}
    web = {}
    for number, name in enumerate(NAMES):
        text = BEES * 10 + f"Queen {number} of colony {number * 7}. " * number
        web[f"http://seed.test{name}"] = page(f"Bees {name}", text, links)
    return SmallWeb(web)


async def test_every_link_of_a_page_is_known_however_often_it_was_found(crawled):
    life = await crawled(dense_web())
    ended = await life.crawl("--strategy", "opilio")
    assert ended.code == 0, ended.err
    edges = life.rows(
        "SELECT a.url, b.url FROM edge JOIN link a ON a.id = page "
        "JOIN link b ON b.id = edge.link ORDER BY 1, 2"
    )
    urls = [f"http://seed.test{name}" for name in NAMES]
    assert edges == sorted(permutations(urls, 2))
