"""Writes the figures of all crawls in the text format of Prometheus.

The only labels are the crawl, of which there are at most fifty, and the state of links
or the kind of outcome, of which there are few: no host, URL or reason becomes a label.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from opilio.errors import OpilioError
from opilio.serve.figures import CrawlFigures
from opilio.serve.library import Library

MOST_CRAWLS = 50
METRICS = {
    "opilio_running": ("gauge", "1 while a process crawls, else 0."),
    "opilio_pages_total": ("counter", "Pages that were fetched."),
    "opilio_pages_kept_total": ("counter", "Pages that were relevant."),
    "opilio_bytes_total": ("counter", "Bytes of all pages."),
    "opilio_harvest_ratio": ("gauge", "Share of pages that were relevant."),
    "opilio_harvest_recent_ratio": ("gauge", "The same of the last 100 pages."),
    "opilio_pages_per_second": ("gauge", "Speed in the last minute."),
    "opilio_links_waiting": ("gauge", "Links that wait to be fetched."),
    "opilio_links_ended_total": ("counter", "Links that are finished, by state."),
    "opilio_hosts": ("gauge", "Hosts that links point to."),
    "opilio_estimated_left": ("gauge", "Relevant pages still to be found, estimated."),
}


def metrics_text(library: Library) -> str:
    """The metrics of all crawls that can be read."""
    samples: dict[str, list[str]] = {name: [] for name in METRICS}
    for crawl in list(library.crawls().values())[:MOST_CRAWLS]:
        try:
            figures = crawl.figures()
        except (OpilioError, sqlite3.Error, OSError):
            continue
        for name, labels, value in values_of(figures):
            samples[name].append(f"{name}{{{labels}}} {value:g}")
    return "".join(
        f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
        + "\n".join(samples[name])
        + "\n"
        for name, (kind, text) in METRICS.items()
        if samples[name]
    )


def values_of(figures: CrawlFigures) -> Iterator[tuple[str, str, float]]:
    """The metrics of a crawl: name, labels, value."""
    crawl = f'crawl="{escaped(figures.crawl)}"'
    yield "opilio_running", crawl, figures.state in ("running", "paused")
    yield "opilio_pages_total", crawl, figures.pages
    yield "opilio_pages_kept_total", crawl, figures.kept
    yield "opilio_bytes_total", crawl, figures.bytes
    yield "opilio_harvest_ratio", crawl, figures.harvest_rate
    yield "opilio_harvest_recent_ratio", crawl, figures.harvest_rate_recent
    yield "opilio_pages_per_second", crawl, figures.pages_per_second
    yield "opilio_links_waiting", crawl, figures.waiting
    yield "opilio_hosts", crawl, figures.hosts
    for outcome in figures.outcomes:
        labels = f'{crawl},state="{escaped(outcome.state)}"'
        yield "opilio_links_ended_total", labels, outcome.links
    if figures.estimate:
        yield "opilio_estimated_left", crawl, figures.estimate.left


def escaped(text: str) -> str:
    """The value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
