"""Chooses which of the links that may answer a query are visited next.

Only a few links are chosen ahead, so that a better one that is found meanwhile comes
first, and few of one host, so that a slow one does not keep the others waiting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from opilio.sites.link_interest import WantedLink

AHEAD = 32  # links chosen and not yet visited
OF_A_HOST = 4

Place = tuple[float, float, int]


def place(link: WantedLink) -> Place:
    """Where a link stands: the best first, of equal ones by promise, then FIFO."""
    return -link.value, -link.promise, link.id


def never(host: str) -> bool:
    """No host rests."""
    return False


class WantedLinks:
    """The links that are wanted, and those of them that were chosen."""

    def __init__(self) -> None:
        self._best: dict[str, list[Place]] = {}  # a heap a host; some are out of date
        self._wanted: dict[int, WantedLink] = {}
        self._tried: set[int] = set()
        self.ahead: dict[int, str] = {}  # chosen and not yet visited: id -> host

    def want(self, links: Iterable[WantedLink]) -> None:
        """Let links be chosen in their turn; of two values the greater counts."""
        for link in links:
            known = self._wanted.get(link.id)
            if link.id not in self._tried and (not known or place(link) < place(known)):
                self._wanted[link.id] = link
                heappush(self._best.setdefault(link.host, []), place(link))

    def choose(self, rests: Callable[[str], bool] = never) -> dict[int, float]:
        """The best links for which there is room, with their values; those of hosts
        that rest are left for later."""
        busy = Counter(self.ahead.values())
        chosen: dict[int, float] = {}
        while len(self.ahead) < AHEAD:
            hosts = [
                host
                for host in self._best
                if busy[host] < OF_A_HOST and not rests(host)
            ]
            if not hosts:
                break
            host = min(hosts, key=lambda host: self._best[host][0])
            at = heappop(self._best[host])
            if not self._best[host]:
                del self._best[host]
            link = self._wanted.get(at[-1])
            if link is None or place(link) != at:
                continue
            del self._wanted[link.id]
            self.go_for(link.id, host)
            busy[host] += 1
            chosen[link.id] = link.value
        return chosen

    def go_for(self, id: int, host: str) -> None:
        """Take a link as chosen."""
        self._tried.add(id)
        self.ahead[id] = host

    def leave(self, id: int) -> bool:
        """A link was visited or given up; was it one of those chosen?"""
        return self.ahead.pop(id, None) is not None

    @property
    def is_empty(self) -> bool:
        """Is nothing chosen, and nothing left to choose?"""
        return not self.ahead and not self._best
