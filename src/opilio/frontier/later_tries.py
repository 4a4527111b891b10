"""When to try a link again whose attempts are used up: minutes, hours and days later.

The schedule is durable (the table `retry`), and a crawl does not wait for it: a link
whose time comes while the crawl runs, or before it is continued, waits again. Links of
a silent host are parked and tried again at intervals that double. A host that is silent
for longer than `politeness.retry_for` is given up: its links are unusable then.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from opilio.frontier.ledger import Ledger
from opilio.records import Clock

FIRST, FACTOR, LONGEST = 60.0, 5.0, 86_400.0  # 1, 5, 25 min, 2, 10 h, 1 day, 1 day
AT_ONCE = 1000  # links that wait again in one step; the crawl runs in between
SILENT = 3600.0  # seconds until a link of a silent host is tried again
DEAD_HOST, HOST_GONE, OFFLINE = "dead_host", "host_gone", "offline"


class LaterTries:
    """The links that will be tried again, by the wall clock."""

    def __init__(self, ledger: Ledger, retry_for: float, wall: Clock) -> None:
        self._ledger = ledger
        self._retry_for = retry_for  # seconds after the first attempts; 0: never
        self._wall = wall
        self._due = ledger.scheduled()
        heapify(self._due)
        self._silent = ledger.silent_hosts()

    def schedule(self, id: int, later: int) -> None:
        """Try a link again that failed; `later` is how many later tries it had."""
        waits = [wait(number) for number in range(later + 1)]
        if sum(waits) <= self._retry_for:
            self._put(id, waits[-1])

    def is_given_up(self, host: int) -> bool:
        """Note that a host, by number, is silent; whether it was so for too long."""
        now = self._wall()
        since = self._silent.get(host)
        if since is None or since > now:  # the clock was wrong
            since = self._silent[host] = now
            self._ledger.save_silent(host, now)
        return bool(self._retry_for) and now - since > self._retry_for

    def heard(self, host: int) -> None:
        """Note that a host answered."""
        if self._silent.pop(host, None) is not None:
            self._ledger.save_silent(host, None)

    def schedule_silent(self, id: int, host: int) -> None:
        """Try a link of a silent host again, or of one that could not be reached
        because our network was down."""
        if self._retry_for:
            so_far = self._wall() - self._silent.get(host, self._wall())
            self._put(id, min(max(SILENT, so_far), LONGEST))

    def take_due(self) -> list[int]:
        """The links whose time has come, which are not scheduled any more."""
        now = self._wall()
        found: list[int] = []
        # A time that is too far away was set by a clock that was wrong.
        while self._due and not now < self._due[0][0] <= now + 2 * LONGEST:
            if len(found) == AT_ONCE:
                break
            found.append(heappop(self._due)[1])
        if found:
            self._ledger.unschedule(found)
        return found

    def _put(self, id: int, after: float) -> None:
        due = self._wall() + after
        self._ledger.schedule(id, due)
        heappush(self._due, (due, id))


def wait(later: int) -> float:
    """Seconds before a later try, the first being number 0."""
    return min(FIRST * FACTOR**later, LONGEST)
