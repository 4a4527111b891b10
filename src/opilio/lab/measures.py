"""Measures how good the order of a crawl's requests was, such as harvest and recall.

Symbols: fᵢ is 1 if request i found a new target, else 0; N requests were made; R is the
number of targets that can be reached from the seeds. Every request counts, including
those that return a redirect, a copy or a 404. Harvest rate, target recall and target
length are those of §4.7.1 of the thesis (papers.md, E.2), with a request in place of a
page.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from opilio.lab.runs import LabVisit, Measures

HORIZON = 3  # times R: the requests that AURC covers
FIRST = 50  # requests of the first stage

Curve = NDArray[np.float64]
Found = Sequence[bool] | NDArray[np.bool_]


def harvest_rate(found: Found) -> float:
    """Targets found per request: H = (1/N)·Σ fᵢ; 0 before the first request."""
    return float(np.mean(found)) if len(found) else 0.0


def recall_curve(found: Found, R: int, horizon: int | None = None) -> Curve:  # noqa: N803
    """Target recall after each request: r(n) = (1/R)·Σ fᵢ over i ≤ n.

    With a horizon the curve has that length: a crawl that ended earlier keeps its last
    recall.
    """
    if R < 1:
        raise ValueError(
            f"R is {R}: where there is nothing to find, recall is undefined"
        )
    padded = np.zeros(len(found) if horizon is None else horizon)
    padded[: len(found)] = found[: len(padded)]
    curve = np.cumsum(padded) / R
    if len(curve) and curve[-1] > 1:
        raise ValueError(f"{padded.sum():.0f} targets found of {R}: R is too small")
    return curve


def aurc(found: Found, R: int) -> float:  # noqa: N803
    """Area under the recall curve: (1/3R)·Σ r(n) over n = 1 … 3R.

    It is at most 5/6 + 1/(6R), where each of the first R requests finds a target.
    """
    return float(recall_curve(found, R, HORIZON * R).mean())


def recall_at(found: Found, R: int, n: int) -> float:  # noqa: N803
    """Target recall after n requests, r(n); r(0) = 0."""
    return float(recall_curve(found, R, n)[-1]) if n else 0.0


def pages_to(found: Found, R: int, share: float) -> int | None:  # noqa: N803
    """Requests until a share s of the targets is found: min {n : r(n) ≥ s}."""
    reached = np.flatnonzero(recall_curve(found, R) >= share)
    return int(reached[0]) + 1 if len(reached) else None


def finds(visits: Sequence[LabVisit], targets: Mapping[str, Hashable]) -> list[bool]:
    """Which requests found a new target: fᵢ.

    `targets` has the content of each relevant URL; if several URLs have the same
    content, the first one fetched finds it. A redirect finds nothing, and neither does
    a failure.
    """
    seen: set[Hashable] = set()
    found = []
    for visit in visits:
        content = targets.get(visit.url) if brought_page(visit) else None
        found.append(content is not None and content not in seen)
        seen.add(content)
    return found


def target_length(visits: Sequence[LabVisit], found: Found) -> float | None:
    """How many links from a seed the targets found are: their median.

    The thesis does not say how lengths are averaged; the median is not moved by a few
    long tunnels (papers.md, E.6-12).
    """
    depths = [visit.depth for visit, new in zip(visits, found, strict=True) if new]
    return float(median(depths)) if depths else None


def through_irrelevant(
    visits: Sequence[LabVisit], found: Found, targets: Mapping[str, Hashable]
) -> float | None:
    """Share of the targets found by a link on an irrelevant page: |I| / |F|.

    F are the targets found that are not seeds, I those of them whose link was on an
    irrelevant page.
    """
    pages = [
        visits[page].url in targets
        for number, new in enumerate(found)
        if new and (page := linking_page(visits, number)) >= 0
    ]
    return pages.count(False) / len(pages) if pages else None


def wasted(visits: Sequence[LabVisit]) -> float:
    """Share of requests that brought no new page: copies, redirects and failures."""
    states = [visit.state in ("copy", "unusable") for visit in visits]
    return sum(states) / len(states) if states else 0.0


def brought_page(visit: LabVisit) -> bool:
    """Whether a request returned a page, even a copy of another."""
    return visit.state != "unusable" and visit.reason != "redirect"


def linking_page(visits: Sequence[LabVisit], number: int) -> int:
    """The visit whose page linked to this one; redirects do not count as pages."""
    via = visits[number].via
    while via >= 0 and visits[via].reason == "redirect":
        via = visits[via].via
    return via


def measure(
    visits: Sequence[LabVisit],
    targets: Mapping[str, Hashable],
    R: int,  # noqa: N803
) -> tuple[Measures, list[int]]:
    """All measures of a crawl, and the requests that found a target, from 1."""
    found = finds(visits, targets)
    found_at = [number for number, new in enumerate(found, 1) if new]
    measures = Measures(
        harvest=harvest_rate(found),
        recall=recall_at(found, R, len(found)),
        aurc=aurc(found, R),
        recall_2R=recall_at(found, R, 2 * R),
        recall_50=recall_at(found, R, FIRST),
        recall_R=recall_at(found, R, R),
        recall_3R=recall_at(found, R, HORIZON * R),
        precision_50=harvest_rate(found[:FIRST]),
        pages_to_50=pages_to(found, R, 0.5),
        pages_to_80=pages_to(found, R, 0.8),
        pages_to_90=pages_to(found, R, 0.9),
        target_length=target_length(visits, found),
        unfound=R - len(found_at),
        through_irrelevant=through_irrelevant(visits, found, targets),
        wasted=wasted(visits),
    )
    return measures, found_at


MORE_IS_BETTER = (
    "harvest",
    "recall",
    "aurc",
    "recall_2R",
    "recall_50",
    "recall_R",
    "recall_3R",
    "precision_50",
)


def oracle_shares(measures: Measures, oracle: Measures) -> dict[str, float]:
    """Each measure as a share of the oracle's: ours / its, more is better.

    For pages_to, where fewer are better, it is the oracle's / ours. Measures that
    either of the two never reached are left out.
    """
    found = {}
    for name in MORE_IS_BETTER:
        if best := getattr(oracle, name):
            found[name] = getattr(measures, name) / best
    for name in ("pages_to_50", "pages_to_80", "pages_to_90"):
        ours, best = getattr(measures, name), getattr(oracle, name)
        if ours is not None and best is not None:
            found[name] = best / ours
    return found
