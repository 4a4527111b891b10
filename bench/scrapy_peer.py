"""Scrapy doing the same work: follow links breadth-first, extract title, links, text.

python -m bench.scrapy_peer START_URL MAX_PAGES
"""

from __future__ import annotations

import json
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Peer(scrapy.Spider):
    """Follows every link of one host."""

    name = "peer"
    links = LinkExtractor()

    def parse(self, response):  # type: ignore[no-untyped-def]
        title = response.css("title::text").get()
        text = " ".join(response.css("body ::text").getall())
        for link in self.links.extract_links(response):
            anchor = link.text
            yield response.follow(link.url, self.parse)
        yield {"url": response.url, "title": title, "words": len(text.split())}
        del anchor


def main() -> None:
    start, limit = sys.argv[1], int(sys.argv[2])
    Peer.start_urls = [start]
    Peer.allowed_domains = [urlsplit(start).hostname]
    process = CrawlerProcess(
        {
            "CLOSESPIDER_ITEMCOUNT": limit,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": True,
            "DEPTH_PRIORITY": 1,
            "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    crawler = process.create_crawler(Peer)
    process.crawl(crawler)
    process.start()
    pages = crawler.stats.get_value("item_scraped_count")
    requests = crawler.stats.get_value("response_received_count")
    print(json.dumps({"pages": pages, "requests": requests}))


if __name__ == "__main__":
    main()
