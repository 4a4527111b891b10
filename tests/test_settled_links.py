"""Links that the strategy has learnt enough about are left out of what is read."""

from itertools import permutations

from opilio.lab.synthetic.small import SmallWeb, page

HUBS = 6
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


async def test_links_that_are_left_out_support_the_domains_that_they_lead_to(crawled):
    """A host that five independent sites link to has no limit, also if its link was
    settled when the others were read."""
    hubs = {f"http://hub{n}.test/": f"bees {n}" for n in range(HUBS)}
    web = {"http://seed.test/": page("Bees", BEES * 5, hubs)}
    for number, url in enumerate(hubs):
        text = BEES * 10 + f"Queen {number} of colony {number * 7}. " * (number + 2)
        links = {"http://liked.test/": "honey", "/more": "more bees"}
        web[url] = page(f"Hub {number}", text, links)
        web[f"{url}more"] = page(f"More {number}", text[::-1], links)
    web["http://liked.test/"] = page("Liked", BEES * 20)
    life = await crawled(SmallWeb(web))
    ended = await life.crawl("--strategy", "opilio")
    assert ended.code == 0, ended.err
    [(support, established)] = life.rows(
        "SELECT support, is_established FROM standing WHERE domain = 'liked.test'"
    )
    assert established and len(support.split()) == 5, support
