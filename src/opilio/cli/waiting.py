"""A crawl that can only wait in; for whom, why and until when, told once, out."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from opilio.cli.terminal import plain
from opilio.store.rests import Resting, wishes_of

if TYPE_CHECKING:
    from opilio.crawl import Crawl
    from opilio.types import Counts

LOOK_SECONDS = 0.5
IDLE_SECONDS = 3.0  # without a visit under way or possible, before it is told
IN_WORDS = {
    "": "it was asked a moment ago",
    "http_429": "it answered 429 (too many requests)",
    "http_503": "it answered 503 (overloaded)",
    "robots_unreachable": "its robots.txt cannot be had (5xx, 429 or cut short), and "
    "until it is, nothing there may be visited",
    "crawl_delay": "its robots.txt asks for a long Crawl-delay",
    "offline": "nobody answers, so the network of this machine seems to be away",
    "proxy": "the proxy does not work",
}
FOR_ALL = frozenset(("offline", "proxy"))  # whichever host is the next to be tried


def why(reason: str) -> str:
    """Why a host rests, in words."""
    return IN_WORDS.get(reason, f"it gave no good answer ({reason})")


def until(at: float, now: float) -> str:
    """A time of day, and how long it is until then."""
    left = max(0, round(at - now))
    length = f"{left // 60} min" if left >= 180 else f"{left} s"
    return f"{datetime.fromtimestamp(at).astimezone():%H:%M:%S} (in {length})"


def sentence(rest: Resting, now: float) -> str:
    """A rest, for a person."""
    return f"{plain(rest.host)} until {until(rest.until, now)}: {why(rest.reason)}"


class Waiting:
    """Watches a crawl, and tells when it can only wait; each wait once."""

    def __init__(self, crawl: Crawl, tell: Callable[[dict[str, Any]], None]) -> None:
        self.crawl = crawl
        self.tell = tell
        self.told: set[tuple[object, ...]] = set()

    async def watch(self) -> None:
        """Look twice a second."""
        idle_since = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            counts = self.crawl.frontier.counts()
            if counts.leased or counts.ready or not counts.waiting:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since >= IDLE_SECONDS:
                self.look(counts)

    def look(self, counts: Counts) -> None:
        """Tell what is waited for, if that is news."""
        what = awaited(self.crawl, counts)
        key: tuple[object, ...] = (what.get("host"), what["why"], what.get("until"))
        if what["why"] in FOR_ALL:
            key = (what["why"], self.crawl.tally.pages)  # until somebody answers
        if key not in self.told:
            self.told.add(key)
            self.tell({"event": "waiting", **what})


def awaited(crawl: Crawl, counts: Counts) -> dict[str, Any]:
    """What a crawl waits for: the host that may be visited next, or just time."""
    links, host = counts.waiting, counts.awaited
    rest, delay = wishes_of(crawl.store.db, host, time.time())
    if rest:
        return {
            "host": host,
            "why": rest.reason,
            "until": round(rest.until, 1),
            "links": links,
        }
    if delay >= IDLE_SECONDS:
        return {"host": host, "why": "crawl_delay", "delay": delay, "links": links}
    return {"why": "retry", "links": links}


def in_words(event: dict[str, Any]) -> str:
    """The same for a person."""
    links = event["links"]
    waits = "Nothing can be visited now; " + (
        "one link waits" if links == 1 else f"{links:,} links wait"
    )
    if "until" in event:
        rest = Resting(event["host"], event["why"], event["until"])
        next_one = "" if links == 1 else ", the next"
        return f"{waits}{next_one} for {sentence(rest, time.time())}."
    if "delay" in event:
        host = plain(event["host"])
        return f"{waits}: {host} asks for {event['delay']:g} s between two visits."
    return f"{waits} to be tried again."


def print_json(event: dict[str, Any]) -> None:
    """One line for programs."""
    print(json.dumps(event), file=sys.stderr, flush=True)
