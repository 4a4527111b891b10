"""Orders the results of several search engines as seeds, by priority.

Kumar & Vig (2012), III.A, class a URL by how the engines E found it:

    High    it occurs in more than one engine
    Medium  it occurs repeatedly, but in one engine only
    Low     it occurs once

Meenu et al. (2014), 3.2.1, take the URLs common to all engines. We differ: if there are
none, those that two engines found, and if there are none either, all. The thesis of
Aastha (2012), 2.5.1, takes the top N < 500.

None of them says what comes first inside a class. We add up reciprocal ranks (Cormack,
Clarke & Büttcher, SIGIR 2009):

    score(u) = Σ 1 / (60 + rank of u in e)   over the engines e that found it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from opilio.errors import BadInput
from opilio.seeds.seed import Priority, Seed

Findings = Mapping[str, Sequence[str]]
"""Engine -> the canonical URLs it found, best first; one may come twice."""

MOST_SEEDS = 499  # the thesis: N < 500
DAMPING = 60  # recommended by Cormack et al.
# Promises, from the floor of a class to that of the one above it.
WIDTH = 0.25
FLOORS = {Priority.HIGH: 0.75, Priority.MEDIUM: 0.5, Priority.LOW: 0.25}


def choose_seeds(findings: Findings, limit: int, *, common: bool = False) -> list[Seed]:
    """The best `limit` of what was found, High before Medium before Low."""
    check_limit(limit)
    wanted = common_to_engines(findings) if common else None
    classes: dict[Priority, list[str]] = {priority: [] for priority in FLOORS}
    for url in by_score(findings):
        if wanted is None or url in wanted:
            classes[priority_of(url, findings)].append(url)
    seeds = [
        seed_of(url, priority, promise, findings)
        for priority, floor in FLOORS.items()
        for url, promise in spread(classes[priority], floor)
    ]
    return seeds[:limit]


def check_limit(limit: int) -> None:
    """Raise BadInput if this number of seeds is not allowed."""
    if not 1 <= limit <= MOST_SEEDS:
        raise BadInput(f"seeds.limit is {limit}; it must be from 1 to {MOST_SEEDS}")


def priority_of(url: str, findings: Findings) -> Priority:
    """The class of a URL that was found."""
    times = [found.count(url) for found in findings.values() if url in found]
    if len(times) > 1:
        return Priority.HIGH
    return Priority.MEDIUM if times[0] > 1 else Priority.LOW


def common_to_engines(findings: Findings) -> set[str]:
    """The URLs that all engines found; if none, those that two found; if none, all.

    Engines that found nothing at all are ignored.
    """
    answers = [set(found) for found in findings.values() if found]
    voices = Counter(url for found in answers for url in found)
    for needed in (len(answers), 2):
        if agreed := {url for url, times in voices.items() if times >= needed}:
            return agreed
    return set(voices)


def by_score(findings: Findings) -> list[str]:
    """Every URL once, by its reciprocal ranks; ties in the order found."""
    scores: dict[str, float] = {}
    for found in findings.values():
        for rank, url in enumerate(dict.fromkeys(found), 1):
            scores[url] = scores.get(url, 0.0) + 1 / (DAMPING + rank)
    return sorted(scores, key=lambda url: -scores[url])


def seed_of(url: str, priority: Priority, promise: float, findings: Findings) -> Seed:
    """A seed with the engines that found it, and where it stood in each."""
    ranks = {
        engine: list(dict.fromkeys(found)).index(url) + 1
        for engine, found in findings.items()
        if url in found
    }
    return Seed(url, priority, promise, tuple(ranks), ranks)


def spread(ordered: Sequence[str], floor: float) -> Iterable[tuple[str, float]]:
    """Each URL with a promise above the floor and below the next, falling."""
    steps = len(ordered) + 1
    for place, url in enumerate(ordered, 1):
        yield url, floor + WIDTH * (steps - place) / steps
