"""The dials of a synthetic web, as one frozen record."""

from __future__ import annotations

import msgspec

from opilio.errors import BadInput
from opilio.settings import Section


class Dials(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set about a synthetic web; shares lie in [0, 1].

    Tunnels, copies, old addresses and the pages of a host itself (home, sections,
    imprint) come on top of `pages`.
    """

    seed: int = 0
    pages: int = 5_000
    hosts: int = 60
    topics: int = 12
    english: bool = False  # plain English instead of invented words; no Hindi

    host_exponent: float = 0.8  # the host of rank h has h^-x of the largest one's pages
    purity: float = 0.6  # share of a host's pages that are about its main subject
    purity_spread: float = 0.0  # by how much that share differs from host to host
    host_topics: int = 0  # other subjects of a host, at most; 0: any number
    links: float = 14.0  # mean number of links in the text of a page
    out_exponent: float = 2.7  # of the power law of links out of a page
    in_exponent: float = 2.3  # of the power law of links to a page
    locality: float = 0.75  # share of links to a page of the same topic
    next_topic: float = 0.0  # share of the others that lead to the next topic
    same_host: float = 0.4  # share of links that stay on the host
    anchor_noise: float = 0.15  # share of anchors that do not tell the topic
    path_noise: float = 0.0  # share of addresses that do not tell the topic
    word_noise: float = 0.15  # share of sentences about something else

    hubs: float = 0.04  # share of pages that are lists of links
    hub_links: float = 3.0  # times as many links as other pages
    hubs_abroad: float = 0.0  # share of a hub's links that leave the host in any case
    mixed: float = 0.1  # share of pages with several topics under headings
    hindi: float = 0.1  # share of pages whose important words are Hindi
    hidden: float = 0.06  # share of pages that only a tunnel leads to
    behind_tunnel: int = 4  # hidden pages at the end of one tunnel
    tunnel_length: int = 3  # irrelevant pages in a row
    copies: float = 0.05  # share of pages with an identical copy elsewhere
    near_copies: float = 0.05  # share of pages with a copy of a few other words
    moved: float = 0.05  # share of pages with an old address that redirects
    dead_links: float = 0.03  # share of links that lead to a 404
    decoys: float = 0.02  # share of links that robots.txt forbids
    pdfs: float = 0.0  # share of articles that are PDF files
    changing: float = 0.0  # share of pages that change as time passes

    crawl_delays: float = 0.1  # share of hosts with a Crawl-delay
    crawl_delay: float = 2.0  # seconds
    robots_missing: int = 1  # hosts whose robots.txt is a 404
    robots_failing: int = 1  # hosts whose robots.txt is a 503
    calendars: float = 0.1  # share of hosts with an endless calendar
    sessions: float = 0.1  # share of hosts with session ids in their links
    slow_hosts: float = 0.05  # share of slow hosts
    slow_delay: float = 0.5  # seconds
    failing_hosts: float = 0.05  # share of hosts that answer 500 now and then
    failure_rate: float = 0.3  # share of their requests
    first_failures: int = 0  # number of requests for each of their URLs that fail first

    page_bytes: int = 6_000  # mean size of a page
    size_spread: float = 0.6  # of the sizes' logarithm: a long tail

    def __post_init__(self) -> None:
        for name in SHARES:
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise BadInput(f"dial {name} is {share}; a share lies in [0, 1]")
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value < least:
                raise BadInput(f"dial {name} is {value}; it must be {least} or more")
        if self.pages < self.hosts:
            raise BadInput(
                f"{self.pages} pages cannot fill {self.hosts} hosts; "
                "raise the dial pages or lower hosts"
            )


SHARES = (
    "purity",
    "purity_spread",
    "locality",
    "next_topic",
    "same_host",
    "anchor_noise",
    "path_noise",
    "word_noise",
    "hubs",
    "hubs_abroad",
    "mixed",
    "hindi",
    "hidden",
    "copies",
    "near_copies",
    "moved",
    "dead_links",
    "decoys",
    "pdfs",
    "changing",
    "crawl_delays",
    "calendars",
    "sessions",
    "slow_hosts",
    "failing_hosts",
    "failure_rate",
)
LEAST = {
    "seed": 0,
    "pages": 1,
    "hosts": 1,
    "topics": 1,
    "host_exponent": 0,
    "host_topics": 0,
    "links": 0,
    "hub_links": 0,
    "out_exponent": 2.05,
    "in_exponent": 2.05,
    "behind_tunnel": 1,
    "tunnel_length": 1,
    "crawl_delay": 0,
    "robots_missing": 0,
    "robots_failing": 0,
    "slow_delay": 0,
    "first_failures": 0,
    "page_bytes": 1_000,
    "size_spread": 0,
}

CALM = Dials(
    copies=0,
    near_copies=0,
    moved=0,
    dead_links=0,
    decoys=0,
    crawl_delays=0,
    robots_missing=0,
    robots_failing=0,
    calendars=0,
    sessions=0,
    slow_hosts=0,
    failing_hosts=0,
)
"""A web without faults: every link leads to a page, every page has one address."""

MANY_HOSTS = Dials(
    pages=6_000,
    hosts=150,
    topics=16,
    purity=0.6,
    purity_spread=0.6,
    host_topics=3,
    host_exponent=0.7,
    same_host=0.85,
    locality=0.6,
    links=9.0,
    anchor_noise=0.9,
    path_noise=0.8,
    word_noise=0.4,
    hubs=0.01,
    hub_links=6.0,
    hubs_abroad=0.9,
    mixed=0.03,
    hidden=0,
    hindi=0,
    copies=0.02,
    near_copies=0.02,
    moved=0.02,
)
"""Many hosts of which few have pages of a subject; hubs lead from host to host."""

REAL_SITE = msgspec.structs.replace(
    CALM, pages=3_200, hosts=1, links=80.0, page_bytes=35_000, hidden=0
)
"""One host with pages of real size, for measuring speed."""
