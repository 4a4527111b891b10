"""InfoSpiders: Menczer & Belew, Machine Learning 39, 2000, 203-242; Menczer, Pant &
Srinivasan, TOIT 4(4), 2004.

A population of agents searches, each for itself. Agent a estimates its links by a
neural net over the keywords near them, follows one, lives on what it finds, and learns:

    λ(l)  = tanh(w_0 + Σ_k w_k·in_k(l))
    Pr(l) = exp(β·λ(l)) / Σ exp(β·λ(l'))           over the links of a
    E_a  += score(p) - c                           on visiting page p
    w_k  += η·(score(p) + μ·max_{l' on p} λ(l') - λ(l))·(1 - λ(l)²)·in_k(l)

An agent with E ≥ θ has an offspring, which gets half of its energy and of its links,
and its net, mutated. One with E < 0 dies, unless it is the last, and its links with it.

Symbols: in_k, how often keyword k is in or near a link; β how greedy, c cost of a move,
η rate, μ discount, θ where an agent reproduces.

    promise(l) = -moves(a) + 1 / (1 + exp(-key)),   key = β·λ(l) - ln(-ln u(l))

Agents take turns: whoever has moved least is next. The link with the greatest key is
drawn with probability Pr(l), if u(l) is uniform in (0, 1) (Gumbel); ours comes from the
random seed and the URL. Only the HEADS best links of each agent have this promise, all
others wait far below, so a page costs what the agents do, however many links wait.

We differ: λ of a link is that of when it was found; a word's distance is not known, so
one in the anchor or the address counts 1 and one around 1/2; the net begins with the
topic's weights; energy is the judge's score. An agent keeps 256 links, the best. A
page that no agent was after (a seed, a redirect) makes a new one, or feeds the one that
has moved least.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from math import exp, log
from typing import Annotated, NamedTuple

import msgspec

from opilio.records import (
    TIER,
    Fingerprint,
    Knowledge,
    Lease,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.hashed_random import chance
from opilio.strategies.shared.notes import Notes
from opilio.strategies.shared.spiders import Inputs, Spider, inputs_of, within

MOST_KEYWORDS = 32
MOST_LINKS = 256  # of an agent
HEADS = 2
BELOW = -1e9
VISITED = -1  # instead of the number of an agent
DRAWN = "1/(1+exp(-key))"
NUMBERS = 2**10  # of agents, which are keys of notes as well

Positive = Annotated[float, msgspec.Meta(gt=0)]
Entry = tuple[float, Fingerprint]  # -key and link


class InfoSpidersOptions(
    Section, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """How agents live."""

    greed: Positive = 3.0  # β
    cost: Positive = 0.15  # c
    reproduction: Positive = 2.0  # θ
    rate: Positive = 0.3  # η
    discount: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.5  # μ
    mutation: Annotated[float, msgspec.Meta(ge=0)] = 0.5  # most that a weight changes
    agents: Annotated[int, msgspec.Meta(ge=1, le=256)] = 16


class Prey(NamedTuple):
    """A link that an agent is after."""

    agent: int
    estimate: float = 0.0  # λ
    inputs: Inputs = ()


class InfoSpiders:
    """Lets a population of agents search, learn, reproduce and die."""

    Options = InfoSpidersOptions
    reads = Reads(context=True)

    def __init__(self, options: InfoSpidersOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.seed = knowledge.seed
        self.table = table_of(knowledge.subject)  # term -> weight
        self.keywords = {term: k for k, term in enumerate(self.table, 1)}
        self.net = (0.0, *self.table.values())
        self._dumped: bytes | None = None
        self.spiders: Notes[Spider] = Notes(Spider)
        self.links: Notes[Prey] = Notes(Prey)
        self._queues: dict[int, list[Entry]] = {}
        self._heads: set[Entry] = set()
        self._visits = 0

    def seek(self, subject: Subject) -> None:
        """Go by these keywords from now on. Nets keep what they learnt of keywords that
        stay, and change by as much as the table does."""
        before, self.table = self.table, table_of(subject)
        gone = [term for term in self.keywords if term not in self.table]
        free = sorted(self.keywords.pop(term) for term in gone)
        last = max(self.keywords.values(), default=0)
        for term in self.table:
            if term not in self.keywords:
                last += not free
                self.keywords[term] = free.pop(0) if free else max(last, len(self.net))
                last = max(last, self.keywords[term])
        old = {self.keywords[t]: w for t, w in before.items() if t in self.keywords}
        new = {self.keywords[term]: weight for term, weight in self.table.items()}
        size = 1 + max((*new, len(self.net) - 1))
        self.net = tuple(new.get(k, 0.0) for k in range(size))
        for number, spider in list(self.spiders.items()):
            known = spider.weights + (0.0,) * (size - len(spider.weights))
            self.spiders[number] = spider._replace(
                weights=(
                    known[0],
                    *(
                        within(known[k] + new[k] - old[k])
                        if k in old and k in new
                        else new.get(k, 0.0)
                        for k in range(1, size)
                    ),
                )
            )

    def dump(self) -> bytes | None:
        """The numbers of keywords, if they have changed."""
        now = msgspec.json.encode(self.keywords)
        if now == self._dumped:
            return None
        self._dumped = now
        return now

    def load(self, learnt: bytes) -> None:
        """Number keywords as the agents know them."""
        self._dumped = learnt
        self.keywords = msgspec.json.decode(learnt, type=dict[str, int])
        size = 1 + max(self.keywords.values(), default=0)
        net = [0.0] * size
        for term, k in self.keywords.items():
            net[k] = self.table.get(term, 0.0)
        self.net = tuple(net)

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """What the agents that are after these links think of them now."""
        level = lease.level_after(verdict)
        for link in page.links:
            prey = self.links.get(link.fingerprint)
            if prey is None or prey.agent not in self.spiders:
                continue
            queue = self._queues[prey.agent]
            del queue[bisect_left(queue, self.entry(link.fingerprint))]
            inputs = inputs_of(link, self.keywords)
            estimate = self.spiders[prey.agent].estimate(inputs)
            self.links[link.fingerprint] = Prey(prey.agent, estimate, inputs)
            insort(queue, self.entry(link.fingerprint))
            drawn = squash(-self.key(link.fingerprint, estimate))
            yield Ranked(link, drawn + BELOW, below(drawn), level)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The links of a page, ranked by the agent that visited it."""
        agent, prey = self.arrive(lease)
        spider = self.spiders[agent].earn(verdict.score - self.options.cost)
        inputs = [inputs_of(link, self.keywords) for link in page.links]
        if prey:
            ahead = max(map(spider.estimate, inputs), default=0.0)
            target = verdict.score + self.options.discount * ahead
            spider = spider.learn(prey.inputs, self.options.rate, target)
        self.spiders[agent] = spider
        level = lease.level_after(verdict)
        ranked = []
        for link, one in zip(page.links, inputs, strict=True):
            estimate = spider.estimate(one)
            if link.fingerprint not in self.links:
                self.links[link.fingerprint] = Prey(agent, estimate, one)
                insort(self._queues[agent], self.entry(link.fingerprint))
            drawn = squash(-self.key(link.fingerprint, estimate))
            ranked.append(Ranked(link, drawn + BELOW, below(drawn), level))
        self.forget(agent)
        self.select()
        yield from ranked

    def arrive(self, lease: Lease) -> tuple[int, Prey | None]:
        """The agent that made a visit, and the link it followed."""
        prey = self.links.get(lease.fingerprint)
        if prey and prey.agent in self.spiders:
            agent = prey.agent
            queue = self._queues[agent]
            place = bisect_left(queue, self.entry(lease.fingerprint))
            del queue[place]
        else:
            prey, agent = None, self.take_in()
        self.links[lease.fingerprint] = Prey(VISITED)
        self._visits += 1
        return agent, prey

    def take_in(self) -> int:
        """The agent for a page that no agent chose."""
        if len(self.spiders) < self.options.agents:
            spider = Spider(self.options.reproduction / 2, self.least(), self.net)
            return self.add(spider)
        return min(
            self.spiders, key=lambda number: (self.spiders[number].moves, number)
        )

    def least(self) -> int:
        """The smallest number of moves of any agent."""
        return min((spider.moves for spider in self.spiders.values()), default=0)

    def add(self, spider: Spider) -> int:
        """A number for a new agent."""
        number = next(one for one in range(NUMBERS) if one not in self.spiders)
        self.spiders[number] = spider
        self._queues[number] = []
        return number

    def forget(self, agent: int) -> None:
        """Drop the worst links of an agent that has too many."""
        queue = self._queues[agent]
        for _, fingerprint in queue[MOST_LINKS:]:
            del self.links[fingerprint]
        del queue[MOST_LINKS:]

    def select(self) -> None:
        """Remove agents without energy, and let those with enough reproduce."""
        for number, spider in sorted(self.spiders.items()):
            if spider.energy < 0 and len(self.spiders) > 1:
                del self.spiders[number]
                for _, fingerprint in self._queues.pop(number):
                    del self.links[fingerprint]
            elif spider.energy < 0:
                self.spiders[number] = spider._replace(energy=0.0)
            elif spider.energy >= self.options.reproduction:
                self.reproduce(number, spider)

    def reproduce(self, number: int, spider: Spider) -> None:
        """Share energy and links with an offspring, if there is room for one."""
        if len(self.spiders) >= self.options.agents:
            return
        half = self.spiders[number] = spider.halve()
        draw = self.seed, self._visits, number
        child = self.add(half.mutate(self.options.mutation, *draw))
        queue = self._queues[number]
        self._queues[number], self._queues[child] = queue[::2], queue[1::2]
        for _, fingerprint in self._queues[child]:
            self.links[fingerprint] = self.links[fingerprint]._replace(agent=child)

    def key(self, fingerprint: Fingerprint, estimate: float) -> float:
        """The sort key of the links of an agent."""
        even = chance(self.seed, fingerprint) + 2**-54
        return self.options.greed * estimate - log(-log(even))

    def entry(self, fingerprint: Fingerprint) -> Entry:
        """A link in its agent's queue."""
        return -self.key(fingerprint, self.links[fingerprint].estimate), fingerprint

    def revise(self) -> Iterable[Revision]:
        """Raise the best links of all agents, and lower those that no longer are."""
        heads: set[Entry] = set()
        revised: dict[Fingerprint, Parts] = {}
        for number, queue in self._queues.items():
            moves = -float(self.spiders[number].moves)
            for head in queue[:HEADS]:
                heads.add(head)
                revised[head[1]] = {DRAWN: squash(head[0]), "-moves(a)": moves}
        for cost, fingerprint in self._heads - heads:
            revised.setdefault(fingerprint, below(squash(cost)))
        self._heads = heads
        return ((link, sum(parts.values()), parts) for link, parts in revised.items())

    def missed(self, lease: Lease, state: State) -> None:
        """Charge a move without a page like any other."""
        agent, _ = self.arrive(lease)
        self.spiders[agent] = self.spiders[agent].earn(-self.options.cost)

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """The notes on agents, by number, and on links that changed."""
        yield from self.spiders.changes()
        yield from self.links.changes()

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the population."""
        every = list(notes)
        self.spiders.recall(note for note in every if 0 <= note[0] < NUMBERS)
        self.links.recall(note for note in every if not 0 <= note[0] < NUMBERS)
        self._queues = {number: [] for number in sorted(self.spiders)}
        for fingerprint, prey in self.links.items():
            if prey.agent == VISITED:
                self._visits += 1
            else:
                self._queues[prey.agent].append(self.entry(fingerprint))
        for queue in self._queues.values():
            queue.sort()
            self._heads.update(queue[:HEADS])


def table_of(subject: Subject) -> dict[str, float]:
    """The most important keywords with their weights, the greatest 1."""
    weights = subject.weights
    best = sorted(weights, key=lambda term: (-weights[term], term))[:MOST_KEYWORDS]
    most = max(weights.values(), default=1.0) or 1.0
    return {term: weights[term] / most for term in best}


def squash(cost: float) -> float:
    """1 / (1 + exp(-key)), given -key."""
    return 1 / (1 + exp(min(cost, 700.0)))


def below(drawn: float) -> Parts:
    """The parts of a link that is not among its agent's best."""
    return {DRAWN: drawn, f"{TIER}behind the best of its agent": BELOW}
