"""The overview of a crawl: its figures, as they are pushed to the browser too."""

from __future__ import annotations

from opilio.serve.figures import CrawlFigures
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import NoParameters, View


def show_overview(crawl: ServedCrawl, _: NoParameters) -> CrawlFigures:
    """The figures of the crawl."""
    return crawl.figures()


OVERVIEW = View(
    name="overview",
    path="",
    title="Overview",
    help="What the crawl is doing, and what it has found so far.",
    parameters=NoParameters,
    result=CrawlFigures,
    show=show_overview,
)
