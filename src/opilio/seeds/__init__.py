"""Finds the seeds of a crawl: given URLs, search engines, sitemaps and feeds."""

from opilio.seeds.gather import gather_seeds
from opilio.seeds.seed import Priority, Seed
from opilio.seeds.site_files import Visits

__all__ = ["Priority", "Seed", "Visits", "gather_seeds"]
