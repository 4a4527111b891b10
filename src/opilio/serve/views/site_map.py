"""A map of hosts: sized by pages, coloured by harvest, near those they link to."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import msgspec
import numpy as np

from opilio.serve.host_layout import place_circles
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import NoParameters, View

MOST_HOSTS, MOST_LINKS = 1_000, 1_500
GROWTH = 20  # maps while the pages become 2.7 times as many
SMALLEST = 1 / 150  # radius of a circle, as a share of the map's size
FILLED = 0.14  # share of its area that circles cover
HOSTS = """
    SELECT host, name, pages, in_domain FROM site
    JOIN host ON host.id = site.host WHERE pages ORDER BY pages DESC LIMIT ?
"""
LINKS = """
    SELECT source.host, link.host, count(*) AS times
    FROM page JOIN link ON link.id = page.id
    JOIN link AS source ON source.id = link.found_on
    WHERE source.host <> link.host GROUP BY 1, 2 ORDER BY times DESC LIMIT ?
"""


class MapHost(msgspec.Struct, frozen=True):
    """A host on the map."""

    host: str
    pages: int
    relevant: int
    x: float
    y: float
    radius: float
    tone: int  # 0 to 4: the share of its pages that are relevant


class MapLink(msgspec.Struct, frozen=True):
    """Pages of one host led to pages of another."""

    source: int  # place in the list of hosts
    target: int
    pages: int


class HostMap(msgspec.Struct, frozen=True):
    """The map: hosts in a box, and links between them."""

    hosts: list[MapHost]
    links: list[MapLink]
    box: list[float]  # left, top, width, height
    left_out: int  # hosts that are not on it


def show_map(crawl: ServedCrawl, _: NoParameters) -> HostMap:
    """The map of the crawl; computed again when it has another host or 5 % more
    pages."""
    with crawl.reading() as db:
        rows = db.execute(HOSTS, (MOST_HOSTS,)).fetchall()
        (total,) = db.execute("SELECT count(*) FROM site WHERE pages").fetchone()
        pairs = db.execute(LINKS, (MOST_LINKS,)).fetchall()
    pages = sum(row["pages"] for row in rows)
    key = len(rows), int(GROWTH * log(pages or 1))
    return crawl.cached("map", key, lambda: make_map(rows, pairs, total - len(rows)))


def make_map(rows: list[Any], pairs: list[Any], left_out: int) -> HostMap:
    """Hosts at their places."""
    places = {row["host"]: place for place, row in enumerate(rows)}
    links = [
        MapLink(places[source], places[target], times)
        for source, target, times in pairs
        if source in places and target in places
    ]
    size = min(1_600.0, max(360.0, 100 * sqrt(len(rows))))
    total = sum(row["pages"] for row in rows) or 1
    scale = size * sqrt(FILLED / pi / total)
    radii = np.array(
        [max(4.0, size * SMALLEST, scale * sqrt(row["pages"])) for row in rows]
    )
    ends = np.array([(one.source, one.target) for one in links], np.int64)
    at = place_circles(radii, ends.reshape(-1, 2), size)
    hosts = [
        MapHost(
            row["name"],
            row["pages"],
            row["in_domain"],
            round(float(x), 1),
            round(float(y), 1),
            round(float(radius), 1),
            min(4, int(5 * row["in_domain"] / row["pages"])),
        )
        for row, (x, y), radius in zip(rows, at, radii, strict=True)
    ]
    return HostMap(hosts, links, box_around(at, radii), left_out)


def box_around(at: Any, radii: Any) -> list[float]:
    """The box that has all circles in it, with a margin."""
    if not len(radii):
        return [0.0, 0.0, 100.0, 100.0]
    low = (at - radii[:, None]).min(axis=0) - 60
    high = (at + radii[:, None]).max(axis=0) + 60
    return [round(float(v), 1) for v in (*low, *(high - low))]


MAP = View(
    name="map",
    path="map",
    title="Map",
    help="Hosts on a map: sized by pages, coloured by harvest.",
    parameters=NoParameters,
    result=HostMap,
    show=show_map,
)
