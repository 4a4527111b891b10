"""A bandit over hosts: Meusel, Mika & Blanco, CIKM, 2014 (Anthelion).

A host is an arm. With probability λ_t a random host is chosen, else the one of the
greatest value, and of its links the best:

    s(u)     = ¼·(score(p) + cos(anchor) + cos(url) + cos(around))
    value(h) = θ_h · max s(u) over the waiting links u of h
    θ_h      = (good+1)/(good+bad+2), or a sample of Beta(good+1, bad+1)
    λ_t      = λ / (1 + t/decay)

Symbols: good and bad, the relevant and other pages of h so far; t, pages so far; score
the verdict on the page p that holds the link, cos the cosine with the weight table. The
explanation shows the four summands of s(u).

The FRONT best links of a host wait with promise θ_h·s(u), all others behind them with
s(u) - 1; a visit to a host revises its front, so that a page costs FRONT revisions and
two for each of its links, however many wait. The best link of a randomly chosen host is
lifted above all others by EXPLORED.

`faithful` does what the released code does (yahoo/anthelion 617dd448, AnthBandit): the
host is the last one known whose value is above 0, not the best one, since the best
value so far is never kept; and 1/(1 + t/decay) is a division of integers, so that λ_t
is λ while t < decay and 0 ever after.
We differ: s(u) stands in for their online naive Bayes over words of the URL. They score
a success rate as (good+1)/(bad+1); ours is a probability and orders hosts alike. An
unusable link counts as bad, a copy not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from math import inf, prod
from random import Random
from typing import Annotated, Literal

import msgspec

from opilio.records import (
    TIER,
    Fingerprint,
    Knowledge,
    Lease,
    Link,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)
from opilio.settings import Section, Some
from opilio.strategies.shared.hashed_random import chance
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.similarity import Similarity
from opilio.text import urls

FRONT = 8  # links of a host whose promise follows its success
BEHIND = -1.0
EXPLORED = 5e5  # above any other promise, below seeds
THETA = "θ(h)"
GONE = inf
TRIES = 16  # to find a host with links that wait

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class HostBanditOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hosts are valued, and how often one is chosen at random."""

    mode: Literal["fixed", "faithful"] = "fixed"
    arm: Literal["success", "thompson"] = "success"  # θ
    randomness: Share = 0.1  # λ
    decay: Some = 1000  # pages after which λ is halved


class BanditVisit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link whose visit ended, how, and what its page links to."""

    link: Fingerprint
    host: str
    outcome: int  # 1 good, 0 neither, -1 bad
    links: tuple[tuple[Fingerprint, str, float], ...] | None = None  # with host, s(u)
    again: bool = False  # no visit: its links have these s(u) by another weight table


class HostArm:
    """An arm: its record, its best waiting links, and the rest."""

    def __init__(self, number: int, name: str) -> None:
        self.number = number  # in the order of discovery, from 1
        self.name = name
        self.good = 0
        self.bad = 0
        self.theta = 0.0
        self.front: dict[Fingerprint, float] = {}  # s(u)
        self.least = 0.0  # of these, once it is full
        self.rest: list[tuple[float, int, Fingerprint]] = []


class HostBandit:
    """Chooses the host that has paid best so far, now and then another, then a link."""

    Options = HostBanditOptions
    reads = Reads(context=True)

    def __init__(self, options: HostBanditOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.seed = knowledge.seed
        self.seek(knowledge.subject)
        self.pages = 0  # t
        self.found = 0
        self.hosts: dict[str, HostArm] = {}
        self.order: list[HostArm] = []
        self.scores: dict[Fingerprint, float] = {}  # s(u); GONE: it waits no more
        self.revised: dict[Fingerprint, Parts] = {}  # summands, or factors
        self.journal = StrategyJournal(BanditVisit, self.happen)
        self.changes = self.journal.changes

    def seek(self, subject: Subject) -> None:
        """Compare with this weight table from now on."""
        self.similarity = Similarity(subject.weights)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page, behind the fronts; revisions bring it forward."""
        ranked = [(link, self.parts(link, verdict)) for link in page.links]
        better = [
            (link.fingerprint, urls.host(link.url), score)
            for link, parts in ranked
            if (score := sum(parts.values())) > self.scores.get(link.fingerprint, -1.0)
        ]
        outcome = 1 if verdict.relevant else -1
        self.journal.write(
            BanditVisit(lease.fingerprint, lease.host, outcome, tuple(better))
        )
        return self.behind(ranked, lease.level_after(verdict))

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The same by another weight table; what hosts have brought stays as it was
        judged."""
        ranked = [(link, self.parts(link, verdict)) for link in page.links]
        scores = tuple(
            (link.fingerprint, urls.host(link.url), sum(parts.values()))
            for link, parts in ranked
            if self.scores.get(link.fingerprint, GONE) != GONE
        )
        self.journal.write(
            BanditVisit(lease.fingerprint, lease.host, 0, scores, again=True)
        )
        return self.behind(ranked, lease.level_after(verdict))

    def behind(
        self, ranked: Sequence[tuple[Link, dict[str, float]]], level: int
    ) -> Iterator[Ranked]:
        """Links behind the fronts of their hosts."""
        for link, parts in ranked:
            behind = {**parts, f"{TIER}behind the front": BEHIND}
            yield Ranked(link, sum(parts.values()) + BEHIND, behind, level)

    def parts(self, link: Link, verdict: Verdict) -> dict[str, float]:
        """The summands of s(u) that are not 0, and the first in any case."""
        parts = {"¼score(p)": verdict.score / 4}
        if terms := link.terms:
            for name, counted in (
                ("¼cos(anchor)", terms.anchor),
                ("¼cos(url)", terms.url),
                ("¼cos(around)", terms.around),
            ):
                if cosine := self.similarity.cos(counted):
                    parts[name] = cosine / 4
        return parts

    def missed(self, lease: Lease, state: State) -> None:
        """Count an unusable link as bad for its host."""
        outcome = -1 if state is State.UNUSABLE else 0
        self.journal.write(BanditVisit(lease.fingerprint, lease.host, outcome))

    def revise(self) -> Iterator[Revision]:
        """The links at the front whose host has won or lost, and those that joined."""
        revised, self.revised = self.revised, {}
        return ((link, total(parts), parts) for link, parts in revised.items())

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay all visits of earlier runs."""
        for _ in self.journal.replay(notes):
            self.revised.clear()

    def happen(self, visit: BanditVisit) -> None:
        """A pull of an arm, and the links that it brought."""
        if visit.again:
            self.score_again(visit.links or ())
            return
        host = self.host(visit.host)
        host.good += visit.outcome > 0
        host.bad += visit.outcome < 0
        host.theta = self.success(host)
        self.scores[visit.link] = GONE
        host.front.pop(visit.link, None)
        if visit.links is None:  # nobody asks for revisions now
            return
        self.pages += 1
        self.fill(host)
        for link in host.front:
            self.revised[link] = self.worth(host, link)
        for link, name, score in visit.links:
            if link != visit.link:
                self.scores[link] = score
                self.enter(self.host(name), link, score)
        if chance(self.seed, self.pages) < self.randomness():
            self.explore()

    def score_again(self, links: Iterable[tuple[Fingerprint, str, float]]) -> None:
        """Let links stand where they belong by their new s(u)."""
        for link, name, score in links:
            host = self.host(name)
            host.front.pop(link, None)
            host.least = min(host.front.values(), default=0.0)
            self.scores[link] = score
            self.enter(host, link, score)

    def host(self, name: str) -> HostArm:
        """The arm of this name, known or new."""
        if (host := self.hosts.get(name)) is None:
            host = self.hosts[name] = HostArm(len(self.order) + 1, name)
            host.theta = self.success(host)
            self.order.append(host)
        return host

    def enter(self, host: HostArm, link: Fingerprint, score: float) -> None:
        """Add a link to the front of its host if it is good enough, else behind."""
        self.fill(host)
        front = host.front
        if len(front) == FRONT and link not in front:
            if score <= host.least:
                self.put_back(host, link)
                return
            last = min(front, key=front.__getitem__)
            del front[last]
            self.put_back(host, last)
            self.revised[last] = {
                "s(u)": self.scores[last],
                f"{TIER}behind the front": BEHIND,
            }
        front[link] = score
        host.least = min(front.values())
        self.revised[link] = self.worth(host, link)

    def put_back(self, host: HostArm, link: Fingerprint) -> None:
        """Move a link behind the front."""
        self.found += 1
        heappush(host.rest, (-self.scores[link], self.found, link))

    def fill(self, host: HostArm) -> None:
        """Move the best of the rest to the front."""
        while host.rest and len(host.front) < FRONT:
            score, _, link = heappop(host.rest)
            if self.scores[link] == -score and link not in host.front:
                host.front[link] = -score
                host.least = -score  # none of those there is less
                self.revised[link] = self.worth(host, link)

    def worth(self, host: HostArm, link: Fingerprint) -> Parts:
        """The value of a link at the front, by its host and by itself."""
        score = host.front[link]
        if self.options.mode == "faithful":
            number = float(host.number) if score > 0 else 0.0
            return {f"{TIER}number of the host": number, "s(u)": score}
        return {THETA: host.theta, "s(u)": score}

    def success(self, host: HostArm) -> float:
        """θ_h"""
        good, bad = host.good + 1, host.bad + 1
        if self.options.arm == "success":
            return good / (good + bad)
        drawn = Random(f"{self.seed} {host.name} {good} {bad}")
        return drawn.betavariate(good, bad)

    def randomness(self) -> float:
        """λ_t"""
        options = self.options
        if options.mode == "faithful":
            return options.randomness * (1 // (self.pages // options.decay + 1))
        return options.randomness / (1 + self.pages / options.decay)

    def explore(self) -> None:
        """Lift the best link of a random host above all others."""
        for turn in range(1, TRIES + 1):
            draw = chance(self.seed, self.pages, turn)
            front = self.order[int(draw * len(self.order))].front
            if front:
                best = max(front, key=front.__getitem__)
                self.revised[best] = {
                    f"{TIER}chosen by chance": EXPLORED,
                    "s(u)": front[best],
                }
                return


def total(parts: Parts) -> float:
    """The product of θ and s(u), or else the sum of the parts."""
    return prod(parts.values()) if THETA in parts else sum(parts.values())
