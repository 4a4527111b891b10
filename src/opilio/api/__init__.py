"""The Python API: `opilio.Crawl`, and how it runs a crawl in a thread."""

from opilio.api.crawl import Crawl
from opilio.api.steer import tell

__all__ = ["Crawl", "tell"]
