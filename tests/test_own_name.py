"""What pages ask of the robot that the settings name is obeyed, and nothing else."""

import pytest

from crawling import SETTINGS
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.read.html import PageReader
from opilio.records import Page, ReaderSetup, Response


def hidden(title: str, robot: str) -> SyntheticAnswer:
    """A page that asks one robot, by header, not to be shown."""
    headers = (HTML, ("x-robots-tag", f"{robot}: noindex"))
    return SyntheticAnswer(200, headers, page(title, "honey bee hive").encode())


def closed(title: str, robot: str, target: str) -> str:
    """A page that asks one robot, by its markup, not to follow its links."""
    markup = page(title, "honey bee hive", {target: "more honey"})
    return markup.replace("<h1>", f'<meta name="{robot}" content="nofollow"><h1>', 1)


WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees",
            "honey bee hive",
            {f"http://seed.test/{name}": "bee" for name in ("a", "b", "c", "d")},
        ),
        "http://seed.test/a": hidden("Drones", "MyBot"),
        "http://seed.test/b": hidden("Queens", "opilio"),
        "http://seed.test/c": closed("Combs", "MyBot", "http://seed.test/from-c"),
        "http://seed.test/d": closed("Wax", "opilio", "http://seed.test/from-d"),
    }
)


@pytest.mark.parametrize(
    ("agent", "hidden", "followed"),
    [
        ("mybot/1.0", "http://seed.test/a", "http://seed.test/from-d"),
        (
            "opilio/1.0 (focused crawler)",
            "http://seed.test/b",
            "http://seed.test/from-c",
        ),
    ],
)
async def test_a_crawl_goes_by_its_own_name_in_what_pages_ask_of_robots(
    crawled, agent: str, hidden: str, followed: str
):
    settings = f'{SETTINGS}[fetch]\nuser_agent = "{agent}"\n'
    life = await crawled(WEB, settings_text=settings)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    rows = "SELECT url FROM page JOIN link ON link.id = page.id WHERE noindex"
    assert life.rows(rows) == [(hidden,)]
    assert [url for url in life.states() if "/from-" in url] == [followed]


@pytest.mark.parametrize(
    ("markup", "headers"),
    [
        ('<meta name="MyBot" content="none">', []),
        ("", [("x-robots-tag", "mybot: none")]),
        ('<meta name="robots" content="none">', []),
    ],
)
def test_a_reader_is_told_by_which_name_pages_call_it(
    markup: str, headers: list[tuple[str, str]]
):
    def read(setup: ReaderSetup) -> Page:
        body = f"<!doctype html><title>A</title>{markup}".encode()
        return PageReader(setup).read(
            Response("http://a.test/", 200, headers, body, 0.0)
        )

    page = read(ReaderSetup((), "en", agent="mybot"))
    assert (page.noindex, page.nofollow) == (True, True)
    assert read(ReaderSetup((), "en")).noindex == ("robots" in markup)
