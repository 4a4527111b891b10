"""Blocks with tunnelling: Aastha, M.E. thesis, sections 4.5.2 to 4.6.

For a link u in block b:

    R(t,b)   = Σ_k w_kt·w_kb / √(Σ_k w_kt² · Σ_k w_kb²)
    R(t,l)   = mean of R(t,b) over the blocks that hold u on all its known parents
    Score(u) = μ·R(t,b) + (1-μ)·R(t,l)
    promise  = decay^level · Score(u)

Symbols: t the topic's weight table, w_kt and w_kb the weight of term k in it and in the
block; level of u: how deep it is in a tunnel of irrelevant pages. A block is relevant
if R(t,b) > `limit`. A page is relevant if the configured judge says so.

`paper`: w_kb = n_k/n_max over the terms of the table. Links in relevant blocks of
relevant pages are followed; those of irrelevant ones go through the IrrelevantTable
(irrelevant_table.py), which is emptied first: promise = 2 + Score(u). Links that it
gives up wait with promise -1 until nothing else is left, since only the frontier can
drop a link. Other links are not wanted (reasons `block`, `tunnel`).

We differ, in both modes: R(t,b) is that of the best block that holds u, and parents are
those the crawl has met; both are revised whenever another one is found.
We differ (`fixed`): w_kb = 1 + ln n_k, and the length of a block is taken over all its
terms, but no less than that of 36 different words, for a line of a list is short enough
to be all topic by chance. Links of a relevant page have level 0, in its irrelevant
blocks level 1; links of an irrelevant page one more than the page. Beyond `max_level`
they are not wanted (reason `tunnel`) until they are found on a shorter way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from opilio.records import (
    TIER,
    Block,
    Knowledge,
    Lease,
    Link,
    Mode,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    Subject,
    Verdict,
)
from opilio.settings import Count, Section
from opilio.strategies.shared.irrelevant_table import NO_GROUP, IrrelevantTable
from opilio.strategies.shared.notes import Notes
from opilio.strategies.shared.similarity import Similarity

SHORTEST = 6.0  # the least length of a block: that of 36 different words
FIRST = 2.0  # added so that the IrrelevantTable comes before all others
GIVEN_UP = -1.0
SWEEP = 200  # links given up that are passed to the frontier per page

Share = Annotated[float, Meta(ge=0, le=1)]


class BlocksOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """μ, and how far tunnels go; the thesis gives neither limit nor max_level."""

    mode: Mode = "fixed"
    mu: Share = 0.5
    limit: Share = 0.02  # blocks above it are relevant
    partition: bool = True  # False: the whole page is one block
    tunnelling: bool = True
    max_level: Count = 3
    decay: Share = 0.7  # of the score, a level


class Parents(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The relevance of the blocks that hold a link."""

    total: float = 0.0  # of R(t,b) over all parents
    count: int = 0
    best: float = 0.0
    level: int = 2**31 - 1  # the least
    group: int = NO_GROUP  # of the IrrelevantTable
    table: int = 0  # number of the weight table that they were scored by

    @property
    def mean(self) -> float:
        """R(t,l)"""
        return self.total / self.count

    def with_one(self, relevance: float, level: int) -> Parents:
        """The same with one more parent."""
        return Parents(
            self.total + relevance,
            self.count + 1,
            max(self.best, relevance),
            min(self.level, level),
            self.group,
            self.table,
        )


UNKNOWN = Parents()


class TunnelWay(NamedTuple):
    """How the links of one page are treated."""

    inside: int  # level in relevant blocks,
    outside: int  # and in others
    reason: str  # why they are not wanted, if they are not
    group: int = NO_GROUP  # of the IrrelevantTable


class Blocks:
    """Scores a link by the blocks that hold it, and crosses irrelevant pages."""

    Options = BlocksOptions

    def __init__(self, options: BlocksOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.reads = Reads(context=options.partition, blocks=options.partition)
        self.deepest = options.max_level if options.tunnelling else 0
        self.parents: Notes[Parents] = Notes(Parents)
        self.table_number = 0  # of weight tables so far
        self.seek(knowledge.subject)
        self.table = IrrelevantTable(options.max_level)
        self.revised: dict[int, None] = {}  # in this order
        self.changes = self.parents.changes
        self.dump = self.table.dump
        self.load = self.table.load

    def seek(self, subject: Subject) -> None:
        """Compare with this weight table from now on; what blocks said about links by
        an earlier one is forgotten as these are scored again."""
        self.relevance = relevance_of(subject.weights, self.options.mode)
        if self.parents:
            self.table_number += 1

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes on links; after `load`, which knows their groups."""
        self.parents.recall(notes)
        tables = (known.table for known in self.parents.values())
        self.table_number = max(tables, default=0)
        for fingerprint, known in self.parents.items():
            self.table.join(fingerprint, known.group)

    def revise(self) -> Iterator[Revision]:
        """New promises of links that have one parent more, or were given up."""
        revised, self.revised = self.revised, {}
        known = [(link, self.parents[link]) for link in revised]
        return ((link, self.promise(one), self.parts(one)) for link, one in known)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with the mean of all blocks that hold it."""
        way = self.way(verdict, lease)
        self.revised.update(dict.fromkeys(self.table.give_up(SWEEP)))
        found = self.relevances(page)
        for link in page.links:
            relevance = found[link.block] if len(found) > 1 else found[0]
            level = way.inside if relevance > self.options.limit else way.outside
            before = self.known(link)
            known = before.with_one(relevance, level)
            if way.group and self.table.level(before.group) is None:
                known = msgspec.structs.replace(known, group=way.group)
                self.table.join(link.fingerprint, way.group)
            self.parents[link.fingerprint] = known
            promise, depth = self.promise(known), self.depth(known)
            if before.count:
                self.revised[link.fingerprint] = None
            reason = "" if depth <= self.deepest else way.reason
            yield Ranked(link, promise, self.parts(known), depth, reason)

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The links of a page by another weight table; levels in the IrrelevantTable
        stay."""
        literal = self.options.mode == "paper" and self.options.tunnelling
        way = None if literal else self.way(verdict, lease)
        found = self.relevances(page)
        for link in page.links:
            relevance = found[link.block] if len(found) > 1 else found[0]
            before = self.known(link)
            level = self.parents.get(link.fingerprint, UNKNOWN).level
            if way:
                level = way.inside if relevance > self.options.limit else way.outside
            known = before.with_one(relevance, level)
            self.parents[link.fingerprint] = known
            depth = self.depth(known)
            reason = way.reason if way and depth > self.deepest else ""
            yield Ranked(link, self.promise(known), self.parts(known), depth, reason)

    def known(self, link: Link) -> Parents:
        """What is known about a link by the weight table of now."""
        known = self.parents.get(link.fingerprint, UNKNOWN)
        if known.table == self.table_number:
            return known
        return Parents(group=known.group, table=self.table_number)

    def relevances(self, page: Page) -> Sequence[float]:
        """R(t,b) of each block of the page, or of the page as one."""
        if self.options.partition and page.blocks:
            return [self.relevance(block) for block in page.blocks]
        return [self.relevance(Block(terms=page.terms, norm=page.norm, most=1))]

    def way(self, verdict: Verdict, lease: Lease) -> TunnelWay:
        """How to treat the links of the page that a lease led to."""
        known = self.parents.get(lease.fingerprint)
        reason = "block" if verdict.relevant else "tunnel"
        if self.options.mode == "paper" and self.options.tunnelling:
            return self.way_by_the_letter(verdict, known.group if known else NO_GROUP)
        if verdict.relevant:
            return TunnelWay(0, 1, reason)
        level = (known.level if known else lease.level) + 1
        return TunnelWay(level, level, reason)

    def way_by_the_letter(self, verdict: Verdict, group: int) -> TunnelWay:
        """The same with the IrrelevantTable, by a link of this group of it."""
        out = self.deepest + 1
        in_table = self.table.level(group) is not None
        if verdict.relevant and not in_table:
            return TunnelWay(0, out, "block")
        if verdict.relevant:
            return TunnelWay(out, out, "tunnel", self.table.deepen(group))
        if not in_table:
            return TunnelWay(out, out, "tunnel", self.table.open())
        self.table.fail(group)
        return TunnelWay(out, out, "tunnel")

    def depth(self, known: Parents) -> int:
        """The level of a link."""
        in_table = self.table.level(known.group)
        return known.level if in_table is None else in_table

    def promise(self, known: Parents) -> float:
        """The promise of a link."""
        mu = self.options.mu
        score = mu * known.best + (1 - mu) * known.mean
        if self.table.level(known.group) is not None:
            return FIRST + score
        if known.level > self.deepest:
            return GIVEN_UP
        return score * self.options.decay**known.level

    def parts(self, known: Parents) -> Parts:
        """The parts of the promise, as in the module's docstring."""
        depth = float(self.depth(known))
        parts = {"R(t,b)": known.best, "R(t,l)": known.mean, "level": depth}
        if self.table.level(known.group) is not None:
            parts[f"{TIER}IrrelevantTable"] = FIRST
        elif known.level > self.deepest:
            parts[f"{TIER}given up"] = GIVEN_UP
        return parts


def relevance_of(weights: Mapping[str, float], mode: Mode) -> Callable[[Block], float]:
    """R(t,b) as a function of b."""
    similarity = Similarity(weights)
    length = sqrt(sum(weight**2 for weight in weights.values()))

    def fixed(block: Block) -> float:
        return similarity.of(block.terms, max(block.norm, SHORTEST))

    def paper(block: Block) -> float:
        # n_max cancels out: every w_kb is divided by it.
        counts = {term: n for term, n in block.terms.items() if term in weights}
        own = sqrt(sum(n**2 for n in counts.values()))
        common = sum(weights[term] * n for term, n in counts.items())
        return min(1.0, common / (length * own)) if own else 0.0

    return paper if mode == "paper" else fixed
