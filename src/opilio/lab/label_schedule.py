"""Decides when a crawl in the lab receives the label of a page it has fetched."""

from __future__ import annotations

from opilio.crawl import CrawlLoop
from opilio.lab.runs import TaughtLabel
from opilio.lab.teacher import Ticket
from opilio.records import Page

EVERY = 5  # requests between two labels, if the budget is long enough
FIRST_PART = 2  # labels are given in the first half of the budget


class LabelSchedule:
    """The labels of one crawl: after every k-th request, that of the latest page."""

    def __init__(self, ticket: Ticket, budget: int) -> None:
        self.ticket = ticket
        self.every = spacing(budget, ticket.labels)
        self.latest: Page | None = None  # judged, label not given yet
        self.taught: list[TaughtLabel] = []

    async def go_on(self, crawl: CrawlLoop, requests: int) -> None:
        """Give the crawl the next label, if one is due and judge or strategy can
        learn."""
        due = min(self.ticket.labels, requests // self.every)
        page = self.latest
        if page is None or len(self.taught) >= due or not crawl.pupils:
            return
        relevant = self.ticket.ask(page.url)
        self.latest = None
        self.taught.append(TaughtLabel(requests, page.url, relevant))
        await crawl.teach(page, relevant)


def spacing(budget: int, labels: int) -> int:
    """Requests between two labels: five, or fewer in a short crawl.

    >>> spacing(600, 20), spacing(90, 20), spacing(10, 20)
    (5, 2, 1)
    """
    return max(1, min(EVERY, budget // (FIRST_PART * labels)))
