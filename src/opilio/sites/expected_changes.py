"""Estimates when a page of each site is expected to change."""

from __future__ import annotations

import sqlite3

import numpy as np

from opilio.sites.refresh import DAY, load_history, rates


def due(db: sqlite3.Connection) -> dict[int, float]:
    """WebNo -> seconds since 1970: the earliest expected change of one of the site's
    pages of the domain since it was last seen."""
    history = load_history(db, lambda host: 0.0)  # R decides only what comes first
    expected = np.maximum(history.seen + DAY / rates(history), history.ready)
    times = dict(zip(history.page.tolist(), expected.tolist(), strict=True))
    first: dict[int, float] = {}
    for page, host in db.execute(
        "SELECT id, host FROM page_profile CROSS JOIN link USING (id) WHERE in_domain"
    ):
        if page in times:
            first[host] = min(times[page], first.get(host, np.inf))
    return first
