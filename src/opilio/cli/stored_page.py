"""Reads a stored page again to show its blocks and topic terms."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import msgspec

from opilio.assembly.plan import load_plan
from opilio.assembly.reader_setup import rereading
from opilio.errors import OpilioError
from opilio.judge.blocks import block_relevance
from opilio.limits.followable_links import obstacles, to_follow
from opilio.limits.scope import Scope
from opilio.records import BlockKind
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.store.warc_files import read_record
from opilio.subject.compile import written_terms
from opilio.subject.current import current_subject
from opilio.subject.page_reader import limited_reader


class FoundTerm(msgspec.Struct, frozen=True):
    """A term of the topic, found in a text."""

    key: str  # its stems, as parts of verdicts name it
    term: str  # as the topic writes it
    count: int
    weight: float | None  # in the topic's weight table; None: it is not in it


class SeenBlock(msgspec.Struct, frozen=True):
    """A block of a page, and how near it is to the topic."""

    number: int
    parent: int
    depth: int  # blocks above it
    kind: BlockKind
    heading: str
    words: int
    relevance: float  # R(t,b)
    terms: list[FoundTerm]  # what weighs most first


class Reread(msgspec.Struct, frozen=True):
    """What was found by reading a page again."""

    blocks: list[SeenBlock]
    terms: list[FoundTerm]  # of the whole page, what weighs most first
    links: int = 0  # on the page
    followed: int = 0  # those that the page and the scope allow to follow
    obstacles: list[str] = []  # why the page leads nowhere
    rendered: int = 0  # bytes of its HTML after scripts ran; 0: it was not rendered


def reread(folder: CrawlFolder, row: Mapping[str, Any]) -> Reread:
    """Read the page of a row of the table `page` again, block by block, by the current
    topic of the crawl."""
    plan = load_plan(folder)
    with opened(folder) as db:
        subject = current_subject(plan.topic, folder, db)
    response = read_record(
        folder.warcs, row["warc"], row["warc_offset"], row["warc_length"]
    )
    if row["degraded"]:
        raise OpilioError(f"the parser failed on this page ({row['degraded']})")
    with limited_reader(rereading(plan, subject, blocks=True)) as read:
        page = read(response)
    written = written_terms(subject)
    weights = subject.weights
    relevance = block_relevance(weights)

    def found(terms: Mapping[str, int]) -> list[FoundTerm]:
        listed = [
            FoundTerm(key, written.get(key, key), count, weights.get(key))
            for key, count in terms.items()
        ]
        return sorted(
            listed, key=lambda t: (-(t.weight or 0) * (1 + log(t.count)), t.term)
        )

    depths: list[int] = []
    seen: list[SeenBlock] = []
    for number, block in enumerate(page.blocks):
        depths.append(depths[block.parent] + 1 if block.parent >= 0 else 0)
        seen.append(
            SeenBlock(
                number,
                block.parent,
                depths[number],
                block.kind,
                block.heading,
                block.words,
                relevance(block),
                found(block.terms),
            )
        )
    scope = Scope(plan.topic.scope)
    return Reread(
        seen,
        found(page.terms),
        len(page.links),
        len(to_follow(page, scope)),
        obstacles(page, page.url, scope),
        len(response.rendered),
    )
