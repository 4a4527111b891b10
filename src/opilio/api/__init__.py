"""The Python API: `opilio.Crawl`, and how it runs a crawl in a thread."""

from opilio.api.crawl import Crawl

__all__ = ["Crawl"]
