"""Maps each synthetic page to its URLs, and each URL to its page.

/notes/slug-17.html            page 17
/archive/notes/slug-17.html    its copy, on any host
/print/notes/slug-17.html      its near copy
/old/2/notes/slug-17.html      two redirects away from it
/private/notes/slug-17.html    what robots.txt forbids
"""

from __future__ import annotations

import re
from typing import NamedTuple

from opilio.lab.synthetic.graph import Graph, Node
from opilio.lab.synthetic.hosts import SyntheticHost

PATH = re.compile(
    r"(?:/(archive|print|private|old/[123]))?(/[a-z]+/[a-z-]+-(\d{1,12})\.html)"
)


class PagePlace(NamedTuple):
    """What a path of a numbered page names."""

    form: str  # "", archive, print, private or old
    node: Node
    hop: int = 0  # redirects to go, of an old address


class Addresses:
    """Where the pages of a graph are found."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def page(self, node: Node) -> str:
        """The URL of a page."""
        return f"http://{self.graph.hosts[node.host].name}{node.path}"

    def copy(self, node: Node) -> str:
        """The URL of the copy of a page that has one."""
        host = self.graph.hosts[self._elsewhere(node, 3)]
        return f"http://{host.name}/archive{node.path}"

    def near_copy(self, node: Node) -> str:
        """The URL of the near copy of a page that has one."""
        return f"http://{self.graph.hosts[node.host].name}/print{node.path}"

    def decoy(self, node: Node) -> str:
        """A URL beside a page that robots.txt forbids."""
        return f"http://{self.graph.hosts[node.host].name}/private{node.path}"

    def old(self, node: Node, hop: int = 0) -> str:
        """The old URL of a page that has moved, or the next one on the way from it."""
        hop = hop or node.moved
        # The first of a chain may be anywhere, the others are where the page is.
        abroad = hop == node.moved and node.draw % 3 == 0
        host = self._elsewhere(node, 4) if abroad else node.host
        return f"http://{self.graph.hosts[host].name}/old/{hop}{node.path}"

    def dead(self, node: Node, source: int) -> str:
        """A URL that looks like a page's but leads to none."""
        stem = node.path.removesuffix(".html")
        return f"http://{self.graph.hosts[node.host].name}{stem}-{source}.html"

    def find(self, host: SyntheticHost, path: str) -> PagePlace | None:
        """The page at this path of a host, if there is one."""
        match = PATH.fullmatch(path)
        if match is None:
            return None
        form, page_path, number = match[1] or "", match[2], int(match[3])
        if number >= self.graph.dials.pages + self.graph.tunnel_pages:
            return None
        node = self.graph.node(number)
        if node.path != page_path:
            return None
        if form.startswith("old/"):
            place, url = (
                PagePlace("old", node, int(form[4:])),
                self.old(node, int(form[4:])),
            )
            there = place.hop <= node.moved
        else:
            place = PagePlace(form, node)
            there, url = {
                "": (True, self.page(node)),
                "archive": (node.copied, self.copy(node)),
                "print": (node.nearly_copied, self.near_copy(node)),
                "private": (True, self.decoy(node)),
            }[form]
        return place if there and url == f"http://{host.name}{path}" else None

    def _elsewhere(self, node: Node, purpose: int) -> int:
        draw = self.graph.draw(node.number, purpose)
        return self.graph.locate(draw % self.graph.dials.pages)[0]
