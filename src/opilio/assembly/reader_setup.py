"""Works out which parts of pages the readers must extract for strategy and judge."""

from __future__ import annotations

import msgspec

from opilio.assembly.plan import Plan
from opilio.assembly.registry import BY_NAME, Own
from opilio.fetch.robots import product_token
from opilio.protocols import Judge
from opilio.records import ReaderSetup, Reads, Subject
from opilio.subject.compile import NOTHING_MORE, PARTS, setup_for


def crawl_setup(
    plan: Plan, subject: Subject, reads: Reads, judge: Judge
) -> ReaderSetup:
    """The setup of readers while a crawl runs: all parts that anything needs."""
    judged = reads_of(judge)
    both = {
        part: getattr(reads, part) or getattr(judged, part)
        for part in (*PARTS, "vectors")
    }
    both["headings"] = True  # page profiles need them
    both["sequence"] = plan.search.index
    wanted = msgspec.structs.replace(reads, **both)
    return setup_for(subject, wanted, product_token(plan.fetch.user_agent))


def reads_of(judge: Judge) -> Reads:
    """The parts of a page that a judge needs; custom judges may leave this out."""
    reads: Reads = getattr(judge, "reads", NOTHING_MORE)
    return reads


def rereading(
    plan: Plan, subject: Subject, own: Own = BY_NAME, **parts: bool
) -> ReaderSetup:
    """A setup by which readers count terms as they did in the crawl, and extract these
    parts of pages, as Reads names them; the subject is the current one."""
    strategy = own.make_strategy(plan, subject).reads
    reads = Reads(longest=strategy.longest, transcribe=strategy.transcribe, **parts)
    return setup_for(subject, reads, product_token(plan.fetch.user_agent))
