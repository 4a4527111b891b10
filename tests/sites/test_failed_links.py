"""What `opilio evolve` tells of links that lead to no page, or to two."""

import pytest

from crawling import SETTINGS
from opilio import Crawl
from opilio.lab.synthetic.small import SmallWeb, redirect
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from sites.evolving_sites import BEES, hive, tagged

ONE = SETTINGS + "[crawl]\nin_flight = 1\nstrategy = 'breadth-first'\n"


@pytest.mark.parametrize(
    ("answer", "pages", "failed"),
    [
        # it is a page that sends its readers on, and so is where it sends them
        (SyntheticAnswer(200, (HTML,), b"<meta http-equiv=refresh content='0;url=/b'>"),
         2, 0),
        (redirect("/b"), 1, 0),
        (redirect("/"), 0, 0),  # which the crawl has
        (SyntheticAnswer(404, (HTML,), b""), 0, 1),
        (tagged("A", BEES * 20 + "alpha " * 9), 1, 0),
    ],
    ids=["refresh", "redirect", "redirect to a page at hand", "missing", "page"],
)  # fmt: skip
async def test_only_links_that_led_to_no_page_have_failed(
    crawled, logged, answer, pages, failed
):
    """The homepage has one link, which waits."""
    home = tagged("Bees", BEES * 20 + "home " * 9, {"/a": "bee a"})
    life = await crawled(SmallWeb(hive(**{"/": home, "/a": answer})), settings_text=ONE)
    await life.crawl("--max-pages", 1)
    outcomes = await Crawl(life.folder, proxy=life.server.proxy_url).aevolve(9)
    assert logged == []
    told = [
        (len(outcome.chosen), outcome.pages, outcome.failed)
        for outcome in outcomes
        if outcome.chosen
    ]
    assert told == [(1, pages, failed)]
