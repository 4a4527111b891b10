"""Measures how fresh each refresh rule keeps a collection, and at what cost.

The pages of a synthetic web change at their own rates, from once a year to twelve times
a day. For each rule, with the same number of requests, it prints over days 30 to 90 of
a simulated clock: freshness (mean share of copies that are current), the same weighted
by relevance, mean age (days since the copy became stale; 0 while current) and wasted
requests (share that found the page unchanged). The rule of `opilio evolve` is the real
code, opilio.sites.refresh.choose. Run `python -m bench.refresh`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.table import show
from opilio.equations.site_model import REFRESH_WEIGHTS, WebType
from opilio.lab.synthetic.dials import CALM
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.sites.refresh import DAY, History, choose_pages, rates, weight

PAGES, HOSTS = 1_000, 40
DAYS, WARM = 90, 30
ROUND = DAY / 4  # opilio evolve --every 6h
SHARES = (0.05, 0.2, 1.0)  # requests a day, of all pages
KINDS = (WebType.COM, WebType.NET, WebType.ORG, WebType.EDU, WebType.GOV)
ROUGH = 3.0  # how much faster or slower pages are than those of their type, at most e^

Rule = Callable[["Collection", float, int], np.ndarray]


class World(NamedTuple):
    """The pages as they are."""

    times: list[np.ndarray]  # of each page, when it changes, in seconds
    rate: np.ndarray  # changes a day
    weight: np.ndarray
    relation: np.ndarray
    type_weight: np.ndarray


class Collection:
    """The pages as they are known, by visits that show only if they have changed."""

    def __init__(self, world: World) -> None:
        count = len(world.times)
        self.world = world
        self.seen = np.zeros(count)
        self.same = np.zeros(count)
        self.stale = np.array([first_after(times, 0.0) for times in world.times])
        self.changed: list[int] = []
        self.after: list[float] = []
        self.requests = self.wasted = 0

    def history(self) -> History:
        """The input of the scheduler."""
        world = self.world
        return History(
            np.arange(len(self.seen)),
            world.weight,
            world.relation,
            world.type_weight,
            self.seen,
            np.full(len(self.seen), -np.inf),
            self.same,
            np.array(self.changed, np.int64),
            np.array(self.after, np.float64),
        )

    def visit(self, page: int, now: float) -> None:
        """Request a page."""
        self.requests += 1
        passed = (now - self.seen[page]) / DAY
        if self.stale[page] <= now:
            self.changed.append(page)
            self.after.append(passed)
        else:
            self.wasted += 1
            self.same[page] += passed
        self.seen[page] = now
        self.stale[page] = first_after(self.world.times[page], now)


def first_after(times: np.ndarray, now: float) -> float:
    """When a page changes next."""
    place = np.searchsorted(times, now, side="right")
    return float(times[place]) if place < len(times) else np.inf


def make_world(typed: bool) -> World:
    """A synthetic web of one topic; `typed`: rates follow table 2, else they do not."""
    dials = CALM.__class__(
        **{name: getattr(CALM, name) for name in CALM.__struct_fields__}
        | {"seed": 6, "pages": PAGES, "hosts": HOSTS, "changing": 0.9}
    )
    web = SyntheticWeb(dials)
    topic = web.topics[0]
    rng = random.Random(6)
    times, rate, weights, kinds, relevant, hosts = [], [], [], [], [], []
    for node in web.nodes():
        about = topic in web.labels(web.addresses.page(node))
        kind = KINDS[node.host % len(KINDS)]
        if typed:
            usual = -np.log1p(-REFRESH_WEIGHTS[kind])
            each = usual * np.exp(rng.uniform(-ROUGH, ROUGH))
            when = poisson(rng, each)
        else:
            each = web.changes.rate(node)
            when = np.array(web.changes.times(node, DAYS * DAY))
        times.append(when)
        rate.append(each)
        score = rng.uniform(0.3, 0.9) if about else rng.uniform(0.0, 0.1)
        weights.append(weight(score, about))
        kinds.append(REFRESH_WEIGHTS[kind])
        relevant.append(about)
        hosts.append(node.host)
    share = np.bincount(hosts, relevant) / np.maximum(np.bincount(hosts), 1)
    return World(
        times, np.array(rate), np.array(weights), share[hosts], np.array(kinds)
    )


def poisson(rng: random.Random, rate: float) -> np.ndarray:
    """The times of a Poisson process, for as long as it matters."""
    times, at = [], 0.0
    while at <= DAYS * DAY:
        at += rng.expovariate(rate / DAY)
        times.append(at)
    return np.array(times)


def alike(collection: Collection, now: float, most: int) -> np.ndarray:
    """Uniform: the page seen longest ago."""
    return np.argsort(collection.seen, kind="stable")[:most]


def proportional(collection: Collection, now: float, most: int) -> np.ndarray:
    """Proportional: the page with the most changes expected since its last visit."""
    expected = rates(collection.history()) * (now - collection.seen)
    return np.argsort(-expected, kind="stable")[:most]


def paper(collection: Collection, now: float, most: int) -> np.ndarray:
    """Yang's equation 7."""
    chosen = choose_pages(collection.history(), now, most, "paper")
    return np.array([page for page, _ in chosen], np.int64)


def evolver(collection: Collection, now: float, most: int) -> np.ndarray:
    """The rule of `opilio evolve`."""
    chosen = choose_pages(collection.history(), now, most)
    return np.array([page for page, _ in chosen], np.int64)


def unweighted(collection: Collection, now: float, most: int) -> np.ndarray:
    """The same, as if all pages were as relevant."""
    history = collection.history()._replace(weight=np.ones(len(collection.seen)))
    chosen = choose_pages(history, now, most)
    return np.array([page for page, _ in chosen], np.int64)


def knowing(collection: Collection, now: float, most: int) -> np.ndarray:
    """The same, with the true rates."""
    rate = np.maximum(collection.world.rate, 1e-9)
    passed = rate * (now - collection.seen) / DAY
    gain = collection.world.weight * (1 - (1 + passed) * np.exp(-passed)) / rate
    return np.argsort(-gain, kind="stable")[:most]


RULES: dict[str, Rule] = {
    "all alike": alike,
    "proportional to the rate": proportional,
    "paper (eq. 7)": paper,
    "opilio evolve": evolver,
    "opilio evolve, unweighted": unweighted,
    "opilio evolve, rates known": knowing,
}


def simulate(world: World, rule: Rule, share: float) -> list[object]:
    """Simulate some days; returns the figures of a rule."""
    collection = Collection(world)
    weights = world.weight / world.weight.sum()
    most = round(share * PAGES * ROUND / DAY)
    fresh, weighted, age = [], [], []
    for step in range(1, round(DAYS * DAY / ROUND)):
        now = step * ROUND
        if step == round(WARM * DAY / ROUND):
            collection.requests = collection.wasted = 0
        for page in rule(collection, now, most).tolist():
            collection.visit(page, now)
        if now >= WARM * DAY:
            for later in np.linspace(now, now + ROUND, 6, endpoint=False):
                current = collection.stale > later
                fresh.append(current.mean())
                weighted.append(weights @ current)
                age.append(weights @ np.maximum(later - collection.stale, 0) / DAY)
    return [
        f"{np.mean(fresh):.3f}",
        f"{np.mean(weighted):.3f}",
        f"{np.mean(age):.1f}",
        f"{collection.wasted / max(collection.requests, 1):.0%}",
        f"{collection.requests:,}",
    ]


def main() -> None:
    """Every rule on both webs, with few, some and many requests."""
    for typed, name in (
        (False, "rates that have nothing to do with the type of a site"),
        (True, "rates that follow table 2, by a factor of 20 either way"),
    ):
        world = make_world(typed)
        for share in SHARES:
            show(
                f"{PAGES:,} pages, {name}; {share * PAGES:,.0f} requests a day",
                ("rule", "freshness", "by relevance", "age", "wasted", "requests"),
                [[rule, *simulate(world, run, share)] for rule, run in RULES.items()],
            )


if __name__ == "__main__":
    main()
