"""Computes the figures of a running crawl: of this run, and of all runs together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec

from opilio.cli.display import RECENT, Before
from opilio.crawl import CrawlLoop
from opilio.progress import Estimate


def snapshot(crawl: CrawlLoop, speed: float, before: Before) -> dict[str, Any]:
    """The figures of a running crawl; `pages`, `kept` and `harvest_rate` are those of
    this run, and with `_in_all` those of all runs."""
    tally, counts = crawl.tally, crawl.frontier.counts()
    estimate, most = crawl.estimate(), crawl.settings.crawl.max_pages
    pages, kept = crawl.store.catalogue.pages, before.kept + tally.kept
    best = max(tally.found, default=None)
    seconds = time.monotonic() - tally.started
    return {
        "seconds": round(seconds, 1),
        "seconds_left": time_left(crawl, pages, seconds, speed),
        "strategy": crawl.settings.crawl.strategy,
        "pages": tally.pages,
        "pages_in_all": pages,
        "max_pages": most,
        "kept": tally.kept,
        "kept_in_all": kept,
        "harvest_rate": rate(tally.kept, tally.pages),
        "harvest_rate_in_all": rate(kept, pages),
        "harvest_rate_recent": recent_rate(before.recent, tally.recent),
        "best": best._asdict() if best else None,
        "estimate": rounded(estimate) if estimate else None,
        "pages_per_second": round(speed, 1),
        "waiting": counts.waiting,
        "leased": counts.leased,
        "busy": msgspec.to_builtins(counts.busy),
        "hosts": counts.hosts,
        "hosts_resting": counts.resting,
        "hosts_held": counts.held,
        "unusable": dict(sorted(counts.reasons.items(), key=lambda item: -item[1])),
        "asked_for": crawl.followed.asked if crawl.followed else [],
        "paused": counts.paused,
        "stopping": crawl.stopped,
    }


def rate(kept: int, pages: int) -> float:
    """The share of pages that were kept."""
    return round(kept / pages, 4) if pages else 0.0


def recent_rate(before: Sequence[bool], now: Sequence[bool]) -> float:
    """The harvest rate over the last 100 pages, of whichever run."""
    last = [*before, *now][-RECENT:]
    return rate(sum(last), len(last))


def time_left(
    crawl: CrawlLoop, pages: int, seconds: float, speed: float
) -> float | None:
    """Seconds until the page or time budget is used up; None: not known."""
    limits = crawl.settings.crawl
    ends = []
    if limits.max_time:
        ends.append(limits.max_time - seconds)
    if limits.max_pages and speed > 0:
        ends.append((limits.max_pages - pages) / speed)
    return round(max(min(ends), 0.0)) if ends else None


def rounded(estimate: Estimate) -> dict[str, float]:
    """An estimate with one decimal."""
    plain: dict[str, float] = msgspec.to_builtins(estimate)
    return {name: round(value, 1) for name, value in plain.items()}
