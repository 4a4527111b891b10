"""Labels: the pages whose label would teach most, and what labels have shown so far.

A page teaches most where the judge is least sure: its score is near the threshold. At
most two pages of a host are asked for, so that labels tell about many sites. The effect
is measured on labels as they come: each is compared with the verdict that the judge had
given before it learnt of the label, so no label is counted that was learnt from.
"""

from __future__ import annotations

import sqlite3

import msgspec

from opilio.serve.page_text import TextPiece
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import NoParameters, View
from opilio.serve.views.page import text_of
from opilio.store.lifecycle import owner_of

ASKED = 12  # pages to label
LOOKED_AT = 400  # pages near the threshold
PER_HOST = 2
RECENT = 20  # labels
UNSURE = """
    SELECT page.*, link.url, link.host FROM page JOIN link USING (id)
    WHERE score IS NOT NULL AND copy_of IS NULL AND NOT noindex
        AND state IN ('kept', 'irrelevant')
        AND page.id NOT IN (SELECT page FROM label)
    ORDER BY abs(score - ?) LIMIT ?
"""
GIVEN = """
    SELECT label.page, label.relevant, label.at, url, title, score, page.parts
    FROM label JOIN page ON page.id = label.page JOIN link ON link.id = page.id
    ORDER BY label.at
"""


class PageToLabel(msgspec.Struct, frozen=True):
    """A page that the judge is not sure of."""

    id: int
    url: str
    title: str
    score: float
    relevant: bool  # as the judge says
    beginning: list[TextPiece]  # of its text, the terms of the topic marked


class GivenLabel(msgspec.Struct, frozen=True):
    """A label that a user gave."""

    id: int
    url: str
    title: str
    relevant: bool
    score: float
    agreed: bool  # the judge had said the same before


class LabelQueue(msgspec.Struct, frozen=True, kw_only=True):
    """The pages to label, and what labels have shown."""

    asked: list[PageToLabel]
    given: list[GivenLabel]  # the latest first
    labels: int
    threshold: float
    agreement: float | None  # share of labels that the judge had right before
    agreement_recent: float | None  # the same of the last 20
    running: bool  # labels take effect at once


def show_labels(crawl: ServedCrawl, _: NoParameters) -> LabelQueue:
    """The pages to label next."""
    with crawl.reading() as db:
        threshold = threshold_of(crawl, db)
        given = given_labels(db, threshold)
        asked = [
            PageToLabel(
                row["id"],
                row["url"],
                row["title"] or "",
                row["score"],
                bool(row["relevant"]),
                beginning(crawl, db, row),
            )
            for row in least_sure(db, threshold)
        ]
    right = [one.agreed for one in given]
    last = right[-RECENT:]
    return LabelQueue(
        asked=asked,
        given=given[::-1][:RECENT],
        labels=len(given),
        threshold=threshold,
        agreement=sum(right) / len(right) if right else None,
        agreement_recent=sum(last) / len(last) if last else None,
        running=bool(owner_of(crawl.folder)),
    )


def threshold_of(crawl: ServedCrawl, db: sqlite3.Connection) -> float:
    """The score from which pages are relevant: the topic's, or what the verdicts so far
    show."""
    told = crawl.plan.topic.threshold
    if told is not None:
        return told
    low, high = db.execute(
        "SELECT max(CASE WHEN NOT relevant THEN score END), "
        "min(CASE WHEN relevant THEN score END) FROM page "
        "WHERE score IS NOT NULL AND id NOT IN (SELECT page FROM label)"
    ).fetchone()
    if low is None or high is None:
        return 0.5
    return float((low + high) / 2)


def least_sure(db: sqlite3.Connection, threshold: float) -> list[sqlite3.Row]:
    """The pages nearest to the threshold, few of each host."""
    chosen: list[sqlite3.Row] = []
    hosts: dict[int, int] = {}
    for row in db.execute(UNSURE, (threshold, LOOKED_AT)):
        if hosts.get(row["host"], 0) < PER_HOST:
            hosts[row["host"]] = hosts.get(row["host"], 0) + 1
            chosen.append(row)
        if len(chosen) >= ASKED:
            break
    return chosen


def beginning(
    crawl: ServedCrawl, db: sqlite3.Connection, row: sqlite3.Row
) -> list[TextPiece]:
    """The first words of a page's best block."""
    blocks, _ = text_of(crawl, db, row)
    best = max(blocks, key=lambda block: block.relevance, default=None)
    if best is None:
        return []
    return [piece for line in best.paragraphs[:3] for piece in line][:80]


def given_labels(db: sqlite3.Connection, threshold: float) -> list[GivenLabel]:
    """The labels so far, oldest first."""
    return [
        GivenLabel(
            row["page"],
            row["url"],
            row["title"] or "",
            bool(row["relevant"]),
            row["score"] or 0.0,
            ((row["score"] or 0.0) >= threshold) == bool(row["relevant"]),
        )
        for row in db.execute(GIVEN)
    ]


LABELS = View(
    name="labels",
    path="labels",
    title="Labels",
    help="The pages whose label would teach most, and what labels have shown.",
    parameters=NoParameters,
    result=LabelQueue,
    show=show_labels,
)
