"""Tells the readers of a crawl which parts of pages its strategy and judge need."""

from __future__ import annotations

import msgspec

from opilio.assembly.plan import Plan
from opilio.assembly.registry import make_strategy
from opilio.fetch.robots import product_token
from opilio.protocols import Judge
from opilio.records import ReaderSetup, Reads, Subject
from opilio.subject.compile import setup_for


def crawl_setup(
    plan: Plan, subject: Subject, reads: Reads, judge: Judge
) -> ReaderSetup:
    """The setup of readers while a crawl runs: all that anybody needs of a page."""
    wanted = msgspec.structs.replace(
        reads,
        blocks=reads.blocks or judge.reads_blocks,
        vector=reads.vector or judge.reads_vector,
        vectors=reads.vectors or getattr(judge, "reads_vectors", False),
        headings=True,  # of every page: its profile has them
        sequence=plan.search.index,
    )
    return setup_for(subject, wanted, product_token(plan.fetch.user_agent))


def rereading(plan: Plan, subject: Subject, **parts: bool) -> ReaderSetup:
    """A setup by which readers count terms as they did in the crawl, and bring these
    parts of pages, as Reads names them; the subject is the current one."""
    strategy = make_strategy(plan, subject).reads
    reads = Reads(longest=strategy.longest, transcribe=strategy.transcribe, **parts)
    return setup_for(subject, reads, product_token(plan.fetch.user_agent))
