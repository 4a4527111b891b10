"""Chooses the pages to refresh, by how likely they have changed and how they matter.

`paper` is phase 4 of Yang's evolver: (7) S_2(U) = R_S,D·W_T, W_T by table 2, and the
page that was seen longest ago first where that is equal.

`fixed` uses W_T as the prior belief about a page until it was visited again, and spends
requests where they make the collection most current:

    S_2(U) = w·E[ 1/λ - (τ + 1/λ)·e^(-λτ) ]

Symbols: λ changes a day, a Poisson process; τ days since the page was last seen; w its
relevance, its score (a tenth of it, if it is not relevant); E the mean over what is
believed of λ. The bracket is the time that one visit more keeps a copy from being
stale: Olston & Pandey, Recrawl Scheduling Based on Information Longevity, WWW 2008,
appendix, show that a visit whenever it reaches a threshold is the schedule of Cho &
Garcia-Molina, Effective Page Refresh Policies for Web Crawlers, TODS 28(4), 2003,
theirs being the one with the most current copies for so many requests. It never exceeds
1/λ: pages that change faster than they can be followed get less, not more.

Of λ is believed

    p(λ) ~ p_T(λ) · Π_same e^(-λ·t) · Π_changed (1 - e^(-λ·t))

over the times t between visits. p_T is log-normal, since pages differ by orders of
magnitude, and such that a page changes within a day with probability W_T, taking
table 2 for the share of pages that do. (A Gamma distribution has so thin a tail that a
page which is seen to change every hour is not believed.) The products are the
likelihood of Cho & Garcia-Molina, Estimating Frequency of Change, TOIT 3(3), 2003, for
visits at unequal intervals that show whether a page has changed and not how often;
where it is greatest, Σ_changed t/(e^(λt) - 1) = Σ_same t. Time without a change counts
as a sum alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opilio.equations.site_model import REFRESH_WEIGHTS, web_type
from opilio.records import Mode

DAY = 86_400.0
SPREAD = 2.0  # of ln λ: two pages of three lie within a factor of 7 of the median
RATES = np.geomspace(1 / 3_650, 96, 64)  # once in ten years to every quarter of an hour
LOGARITHMS = np.log(RATES)
SHORTEST = 60 / DAY  # shorter intervals between visits are not trusted
LEAST_CHANCE = 0.01  # that a page has changed; less likely ones are not refreshed
IRRELEVANT = 0.1  # times its score: the weight of a page that is not relevant
LONGEST_WAIT = 32 * DAY  # after repeated failures: a day, two, four, …
AT_ONCE = 4_096  # pages, so that the beliefs fit the processor's cache

Numbers = NDArray[np.float64]


class History(NamedTuple):
    """The history of pages in columns, with the changes in separate ones."""

    page: NDArray[np.int64]  # ids
    weight: Numbers  # relevance, w
    relation: Numbers  # R_S,D of its site
    type_weight: Numbers  # W_T
    seen: Numbers  # when last, seconds since 1970
    ready: Numbers  # when it may be fetched again, after failures
    same: Numbers  # days without a change
    changed: NDArray[np.int64]  # rows of the pages, one for each change seen
    after: Numbers  # days since the visit before that change


def choose_pages(
    history: History, now: float, most: int, mode: Mode = "fixed"
) -> list[tuple[int, float]]:
    """The pages to fetch now, at most `most`, each with its S_2; best first."""
    may = history.ready <= now
    if mode == "paper":
        scores = history.relation * history.type_weight
    else:
        scores, chance = gains(history, now)
        may &= chance >= LEAST_CHANCE
    rows = np.flatnonzero(may & (scores > 0))
    best = rows[np.lexsort((history.page[rows], history.seen[rows], -scores[rows]))]
    chosen = best[:most]
    return list(
        zip(history.page[chosen].tolist(), scores[chosen].tolist(), strict=True)
    )


def gains(history: History, now: float) -> tuple[Numbers, Numbers]:
    """S_2 of each page, and the probability that it has changed since."""
    days = np.maximum(now - history.seen, 0) / DAY
    gain, chance = np.empty(len(days)), np.empty(len(days))
    for rows, belief in beliefs(history):
        passed = days[rows, None] * RATES
        still = np.exp(-passed)
        gain[rows] = np.sum(belief * (1 - (1 + passed) * still) / RATES, axis=1)
        chance[rows] = 1 - np.sum(belief * still, axis=1)
    return history.weight * gain, chance


def rates(history: History) -> Numbers:
    """The expected changes per day of each page."""
    mean = np.empty(len(history.page))
    for rows, belief in beliefs(history):
        mean[rows] = belief @ RATES
    return mean


def beliefs(history: History) -> list[tuple[slice, Numbers]]:
    """p(λ) of the pages at RATES, some pages at a time."""
    order = np.argsort(history.changed, kind="stable")
    changed = history.changed[order]
    after = np.maximum(history.after[order], SHORTEST)
    kinds, kind = np.unique(history.type_weight, return_inverse=True)
    priors = np.array([prior(share) for share in kinds.tolist()])
    found = []
    for start in range(0, len(history.page), AT_ONCE):
        rows = slice(start, min(start + AT_ONCE, len(history.page)))
        first, last = np.searchsorted(changed, (rows.start, rows.stop))
        log = priors[kind[rows]] - history.same[rows, None] * RATES
        seen = np.log(-np.expm1(-after[first:last, None] * RATES))
        np.add.at(log, changed[first:last] - start, seen)
        belief = np.exp(log - log.max(axis=1, keepdims=True))
        found.append((rows, belief / belief.sum(axis=1, keepdims=True)))
    return found


@lru_cache
def prior(share: float) -> Numbers:
    """ln p_T(λ)·λ at RATES, which are even in ln λ, given W_T."""

    def at(median: float) -> Numbers:
        return -((LOGARITHMS - median) ** 2) / (2 * SPREAD**2)

    low, high = LOGARITHMS[0] - SPREAD, LOGARITHMS[-1] + SPREAD
    for _ in range(50):
        middle = (low + high) / 2
        belief = np.exp(at(middle))
        within_a_day = belief @ -np.expm1(-RATES) / belief.sum()
        low, high = (middle, high) if within_a_day < share else (low, middle)
    return at(low)


PAGES = """
    SELECT page.id, host.name, score, relevant, page.fetched_at
    FROM page JOIN link USING (id) JOIN host ON host.id = link.host
    WHERE score IS NOT NULL AND warc IS NOT NULL
      AND (state IN ('kept', 'irrelevant') OR page.id IN (SELECT page FROM version))
    ORDER BY page.id
"""
VERSIONS = """
    SELECT page, fetched_at, seen_at, tried_at, failures FROM version ORDER BY page, id
"""


def load_history(db: sqlite3.Connection, relation: Callable[[str], float]) -> History:
    """The history of the pages in crawl.db, given R_S,D of a host."""
    rows = db.execute(PAGES).fetchall()
    hosts = {host for _, host, *_ in rows}
    shares = {host: relation(host) for host in hosts}
    kinds = {host: REFRESH_WEIGHTS[web_type(host)] for host in hosts}
    place = {page: row for row, (page, *_) in enumerate(rows)}
    seen = np.array([at for *_, at in rows], np.float64)
    ready = np.full(len(rows), -np.inf)
    same = np.zeros(len(rows))
    changed: list[int] = []
    after: list[float] = []
    before = -1
    for page, fetched_at, seen_at, tried_at, failures in db.execute(VERSIONS):
        row = place.get(page, -1)
        if row < 0:
            continue
        if row == before:
            changed.append(row)
            after.append((fetched_at - seen[row]) / DAY)
        before = row
        same[row] += max(0.0, seen_at - fetched_at) / DAY
        seen[row] = seen_at
        wait = min(DAY * 2.0 ** min(failures - 1, 20), LONGEST_WAIT)
        ready[row] = tried_at + wait if failures else -np.inf
    return History(
        np.array([page for page, *_ in rows], np.int64),
        np.array([weight(score, relevant) for _, _, score, relevant, _ in rows]),
        np.array([shares[host] for _, host, *_ in rows], np.float64),
        np.array([kinds[host] for _, host, *_ in rows], np.float64),
        seen,
        ready,
        same,
        np.array(changed, np.int64),
        np.array(after, np.float64),
    )


def weight(score: float, relevant: bool) -> float:
    """How much it matters that the copy of a page is current: w."""
    return score if relevant else IRRELEVANT * score
