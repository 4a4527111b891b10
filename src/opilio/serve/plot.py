"""Draws the figures of a crawl: paths of SVG, widths of bars, numbers in words.

The page is rendered with them, and events bring new ones, so a script only has to put
them in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from opilio.progress import Estimate
from opilio.read.main_content.titles import names_of_host, without_name
from opilio.serve.figures import CrawlFigures
from opilio.serve.harvest_curve import RECENT

WIDTH, HEIGHT = 720, 260  # of the plot, in units of its SVG
LEFT, RIGHT, TOP, BOTTOM = 40, 8, 8, 24  # its margins


def live_values(figures: CrawlFigures) -> dict[str, Any]:
    """The figures as the overview shows them."""
    return {
        "version": figures.version,
        "state": figures.state,
        "text": texts(figures),
        "paths": {
            "overall": path(figures.curve.pages, figures.curve.overall),
            "recent": recent_path(figures),
            "area": area(figures.curve.pages, figures.curve.overall),
        },
        "ticks": ticks(figures.pages),
        "curve": msgspec.to_builtins(figures.curve),
        "outcomes": outcome_bars(figures),
        "promises": promise_bars(figures),
        "newest": [
            msgspec.to_builtins(page)
            | {"title": without_name(page.title, names_of_host(page.url))}
            for page in figures.newest
        ],
        "hosts": msgspec.to_builtins(figures.host_states),
    }


def texts(figures: CrawlFigures) -> dict[str, str]:
    """The numbers of the overview in words, by name."""
    estimate = figures.estimate
    most = f"of {figures.max_pages:,}" if figures.max_pages else ""
    return {
        "state": figures.state,
        "state_words": figures.state_words,
        "pages": f"{figures.pages:,}",
        "max_pages": most,
        "kept": f"{figures.kept:,}",
        "harvest_rate": f"{figures.harvest_rate:.1%}",
        "harvest_rate_recent": f"{figures.harvest_rate_recent:.1%}",
        "speed": f"{figures.pages_per_second:,.1f}",
        "waiting": f"{figures.waiting:,}",
        "hosts": f"{figures.hosts:,} host{'s' * (figures.hosts != 1)} known",
        "no_curve": "" if figures.pages else "The curve begins with the first page.",
        "size": size_in_words(figures.bytes),
        "left": f"{estimate.left:,.0f}" if estimate else "–",
        "left_words": range_in_words(estimate) if estimate else "not estimated yet",
        "share": f"{estimate.share:.0%}" if estimate else "",
    }


def range_in_words(estimate: Estimate) -> str:
    """Between which numbers an estimate probably is."""
    return f"probably {round(estimate.low):,} to {round(estimate.high):,}"


def size_in_words(size: int) -> str:
    """A number of bytes.

    >>> size_in_words(4_300), size_in_words(4_300_000)
    ('4 KB', '4.1 MB')
    """
    if size < 2**20:
        return f"{size / 2**10:,.0f} KB"
    return f"{size / 2**20:,.1f} MB" if size < 2**30 else f"{size / 2**30:,.1f} GB"


def x_of(page: float, last: int) -> float:
    """The place of a page on the axis of pages."""
    return LEFT + (WIDTH - LEFT - RIGHT) * page / max(last, 1)


def y_of(rate: float) -> float:
    """The place of a rate on its axis."""
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - rate)


def path(pages: Sequence[int], rates: Sequence[float]) -> str:
    """A line through points, as SVG writes it."""
    last = pages[-1] if pages else 1
    points = (
        f"{x_of(page, last):.1f},{y_of(rate):.1f}"
        for page, rate in zip(pages, rates, strict=True)
    )
    line = "L".join(points)
    return f"M{line}" if line else ""


def recent_path(figures: CrawlFigures) -> str:
    """The line of the last pages; none while these are all pages."""
    if figures.pages <= RECENT:
        return ""
    return path(figures.curve.pages, figures.curve.recent)


def spark(rates: Sequence[float]) -> str:
    """A small line through rates, 120 wide and 28 high.

    >>> spark([1.0, 0.5])
    'M0.0,1.0L120.0,14.0'
    """
    step = 120 / max(len(rates) - 1, 1)
    points = (f"{step * n:.1f},{27 - 26 * rate:.1f}" for n, rate in enumerate(rates))
    return "M" + "L".join(points)


def area(pages: Sequence[int], rates: Sequence[float]) -> str:
    """The area below a line."""
    if not pages:
        return ""
    first, last = (x_of(page, pages[-1]) for page in (pages[0], pages[-1]))
    return f"{path(pages, rates)}L{last:.1f},{y_of(0):.1f}L{first:.1f},{y_of(0):.1f}Z"


def ticks(pages: int) -> list[dict[str, Any]]:
    """About five round numbers on the axis of pages, with their places."""
    if pages < 2:
        return []
    rough = pages / 5
    scale = 10 ** (len(str(int(rough))) - 1)
    step = next(s * scale for s in (1, 2, 5, 10) if s * scale >= rough or s == 10)
    return [
        {"x": round(x_of(page, pages), 1), "text": f"{page:,}"}
        for page in range(0, pages + 1, max(1, int(step)))
    ]


def outcome_bars(figures: CrawlFigures) -> list[dict[str, Any]]:
    """The final states of links with their reasons, and how long their bars are."""
    most = max((one.links for one in figures.outcomes), default=1) or 1
    return [
        {
            "state": one.state,
            "words": one.words,
            "links": f"{one.links:,}",
            "width": f"{100 * one.links / most:.1f}%",
            "reasons": [
                {"words": reason.words, "links": f"{reason.links:,}"}
                for reason in one.reasons
            ],
        }
        for one in figures.outcomes
    ]


def promise_bars(figures: CrawlFigures) -> list[dict[str, Any]]:
    """The waiting links by promise, and how long their bars are."""
    most = max((band.links for band in figures.promises), default=0)
    if not most:
        return []
    return [
        {
            "words": band_in_words(band.low, band.high),
            "links": f"{band.links:,}",
            "width": f"{100 * band.links / most:.1f}%",
        }
        for band in figures.promises
    ]


def band_in_words(low: float | None, high: float | None) -> str:
    """The bounds of a band of promises.

    >>> band_in_words(0.1, 0.2), band_in_words(None, 0.0), band_in_words(1.0, None)
    ('0.1–0.2', 'below 0', 'over 1')
    """
    if low is None:
        return f"below {high:g}"
    return f"over {low:g}" if high is None else f"{low:.1f}–{high:.1f}"
