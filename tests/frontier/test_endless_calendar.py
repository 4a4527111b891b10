"""An endless calendar, all of it relevant; hostile-web.md row 36."""

from collections import Counter

from crawling import SETTINGS
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.text.urls import host

STORIES = {
    f"http://b.test/story/{n}": page(f"Story {n}", "honey bee " + "and so on " * n)
    for n in range(30)
}
START = {
    "http://a.test/calendar/2026/11": "bees, honey and hives: our calendar",
    **dict.fromkeys(STORIES, "a story of bees"),
}
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class WithCalendar(SmallWeb):
    """A web with a calendar on bees that has a page for every day of all times."""

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        if not url.startswith("http://a.test/calendar/"):
            return super().respond(url, attempt)
        path, _, day = url.removeprefix("http://a.test/calendar/").partition("?day=")
        year, month = map(int, path.split("/"))
        count = 12 * year + month
        links = {
            f"/calendar/{count // 12}/{count % 12 + 1}": "next month of the bee",
            f"/calendar/{(count - 2) // 12}/{(count - 2) % 12 + 1}": "the bee before",
            f"/calendar/{year + 10}/{month}": "the bee ten years later",
        }
        for number in range(1, DAYS[month - 1] + 1):
            links[f"/calendar/{year}/{month}?day={number}"] = f"honey {number}"
        when = f"{day} {month} {year}"
        text = page(f"Bees {when}", f"The bee, honey and the hive, {when}", links)
        return SyntheticAnswer(200, (HTML,), text.encode())


async def test_an_endless_calendar_of_relevant_pages_is_left(crawled):
    web = WithCalendar(
        {"http://seed.test/": page("Bees", "honey bee", START)} | STORIES
    )
    life = await crawled(web, settings_text=f"{SETTINGS}[bounds]\nnovelty = 5\n")
    ended = await life.crawl("--max-pages", 2000)
    assert ended.json()["ended"] == "exhausted"
    visited = Counter(host(request.url) for request in life.server.requests)
    # Months and days are two templates, with as many lengths as months have.
    assert visited["a.test"] <= 2 * (4 + 5 * (1 + 4)) + 10
    assert visited["b.test"] == 1 + len(STORIES), "robots.txt, and all that is new"
