"""Runs a crawl: many visits at a time, each link through the stages in their order."""

from opilio.crawl.loop import DRAIN_SECONDS, Beside, CrawlLoop
from opilio.crawl.stages import FoundPage, Stages, Tally
from opilio.crawl.visit import Bring

__all__ = [
    "DRAIN_SECONDS",
    "Beside",
    "Bring",
    "CrawlLoop",
    "FoundPage",
    "Stages",
    "Tally",
]
