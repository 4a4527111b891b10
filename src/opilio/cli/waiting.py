"""Notices when a crawl can only wait, and says for which host, why and how long."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opilio.crawl import CrawlLoop
    from opilio.progress import Counts
    from opilio.store.resting_hosts import Resting

LOOK_SECONDS = 0.5
IDLE_SECONDS = 3.0  # without a visit, beyond our own delay, before a notice
IN_WORDS = {
    "heavy": "its pages take long to parse",
    "": "it was visited a moment ago",
    "http_429": "it answered 429 (too many requests)",
    "http_503": "it answered 503 (overloaded)",
    "robots_unreachable": "its robots.txt cannot be fetched (5xx, 429 or truncated), "
    "so nothing there may be visited yet",
    "crawl_delay": "its robots.txt asks for a long Crawl-delay",
    "offline": "no host answers, so this machine seems to be offline",
    "proxy": "the proxy does not work",
    "retry": "the last visit failed and will be retried then",
}
FOR_ALL = frozenset(("offline", "proxy"))  # reasons that concern all hosts


def why(reason: str) -> str:
    """Why a host rests, in words."""
    return IN_WORDS.get(reason, f"the last visit failed ({reason})")


def until(at: float, now: float) -> str:
    """A time of day, and how long it is until then."""
    left = max(0, round(at - now))
    length = f"{left // 60} min" if left >= 180 else f"{left} s"
    return f"{datetime.fromtimestamp(at).astimezone():%H:%M:%S} (in {length})"


def sentence(rest: Resting, now: float) -> str:
    """A sentence about a host that rests."""
    from opilio.cli.plain_text import plain  # most crawls never wait

    return f"{plain(rest.host)} until {until(rest.until, now)}: {why(rest.reason)}"


class WaitingNotice:
    """Watches a crawl and reports each time that it can only wait, once."""

    def __init__(
        self, crawl: CrawlLoop, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        self.crawl = crawl
        self.tell = tell
        self.told: set[tuple[object, ...]] = set()
        self.idle_since = 0.0
        self.came_to = 0  # finished links at the last check

    async def watch(self) -> None:
        """Check twice a second."""
        pace = self.crawl.settings.politeness
        patience = IDLE_SECONDS + max(pace.delay, pace.ip_delay)
        self.idle_since = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            counts = self.crawl.frontier.counts()
            if self.is_busy(counts):
                self.idle_since = time.monotonic()
            elif time.monotonic() - self.idle_since >= patience:
                self.look(counts)

    def is_busy(self, counts: Counts) -> bool:
        """Whether a visit is under way or possible, or ended since the last check.
        (Most checks of a crawl of one host fall into the pause between two visits.)"""
        before, self.came_to = self.came_to, sum(counts.ended.values())
        under_way = counts.leased or counts.ready or not counts.waiting
        under_way = under_way or counts.paused  # by a user, who knows
        return bool(under_way) or self.came_to != before

    def look(self, counts: Counts) -> None:
        """Report what the crawl waits for, unless that was reported already."""
        what = awaited(self.crawl, counts)
        key: tuple[object, ...] = (what["host"], what["why"], what["until"])
        if what["why"] in FOR_ALL:
            key = (what["why"], self.crawl.tally.pages)  # once until the next page
        elif what["why"] == "crawl_delay":
            key = (what["host"], what["why"])
        elif what["why"] == "retry":
            key = (what["host"], self.idle_since)
        if key not in self.told:
            self.told.add(key)
            self.tell({"event": "waiting", **what})


def awaited(crawl: CrawlLoop, counts: Counts) -> dict[str, Any]:
    """What a crawl waits for: the next host, why and until when."""
    from opilio.store.resting_hosts import wishes_of  # most crawls never wait

    now = time.time()
    rest, delay = wishes_of(crawl.store.db, counts.awaited, now)
    why, until = "retry", now + counts.awaited_for
    if rest:
        why, until = rest.reason, rest.until
    elif delay >= IDLE_SECONDS:
        why = "crawl_delay"
    return {
        "host": counts.awaited,
        "why": why,
        "until": round(until, 1),
        **({"delay": delay} if why == "crawl_delay" else {}),
        "links": counts.waiting,
    }


def wait_in_words(event: dict[str, Any]) -> str:
    """The same as a sentence."""
    from opilio.cli.plain_text import plain

    links = event["links"]
    waits = "Nothing can be visited now; " + (
        "one link waits" if links == 1 else f"{links:,} links wait"
    )
    if "delay" in event:
        host = plain(event["host"])
        return f"{waits}: {host} asks for {event['delay']:g} s between two visits."
    from opilio.store.resting_hosts import Resting

    rest = Resting(event["host"], event["why"], event["until"])
    next_one = "" if links == 1 else ", the next"
    return f"{waits}{next_one} for {sentence(rest, time.time())}."


def print_json(event: dict[str, Any]) -> None:
    """Print one JSON line."""
    print(json.dumps(event), file=sys.stderr, flush=True)
