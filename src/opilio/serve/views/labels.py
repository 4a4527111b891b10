"""Labels: the pages whose label would teach most, and what labels have shown so far.

A page teaches most where the judge is least sure: its score is near the threshold. At
most two pages of a host are asked for, so that labels tell about many sites. Every
fourth page is asked for to check the judge: nothing learns from its label, and the
effect of the other labels is measured on it (`steering/label_check.py`).
"""

from __future__ import annotations

import sqlite3
from itertools import chain
from statistics import fmean

import msgspec

from opilio.serve.page_text import TextPiece
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import NoParameters, View
from opilio.serve.views.page import text_of
from opilio.store.label_check import CheckedLabel, label_check_in
from opilio.store.lifecycle import owner_of

ASKED = 12  # pages to label
LOOKED_AT = 400  # pages near the threshold
PER_HOST = 2
RECENT = 20  # labels
CHANCES = ("opilio", "embedding", "llm")  # judges whose scores are chances
CHECKED = 4  # of so many pages that are asked for, one checks the judge
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
    check: bool  # nothing should learn from its label: send it with the word `check`


class GivenLabel(msgspec.Struct, frozen=True):
    """A label that a user gave."""

    id: int
    url: str
    title: str
    relevant: bool
    score: float
    agreed: bool  # the judge had said the same before


class LabelEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What labels have taught the judge, measured on labels that it did not learn
    from."""

    labels: int  # that were held out
    learnt: int  # that the judge has learnt from
    right_without: int  # how many it would have right if nobody had labelled a page
    right: int  # how many it has right now
    error_without: float  # mean distance of the scores from the labels, 0 to 1
    error: float


class LabelQueue(msgspec.Struct, frozen=True, kw_only=True):
    """The pages to label, and what labels have shown."""

    asked: list[PageToLabel]
    given: list[GivenLabel]  # the latest first
    labels: int
    threshold: float
    effect: LabelEffect | None  # null: no label was held out and measured yet
    running: bool  # labels take effect at once


def show_labels(crawl: ServedCrawl, _: NoParameters) -> LabelQueue:
    """The pages to label next."""
    with crawl.reading() as db:
        threshold = threshold_of(crawl, db)
        given = given_labels(db, threshold)
        effect = effect_of(label_check_in(db).labels, len(given))
        asked = [
            PageToLabel(
                row["id"],
                row["url"],
                row["title"] or "",
                row["score"],
                bool(row["relevant"]),
                beginning(crawl, db, row),
                place % CHECKED == 1,
            )
            for place, row in enumerate(least_sure(db, threshold))
        ]
    return LabelQueue(
        asked=asked,
        given=given[::-1][:RECENT],
        labels=len(given),
        threshold=threshold,
        effect=effect,
        running=bool(owner_of(crawl.folder)),
    )


def effect_of(held_out: list[CheckedLabel], labels: int) -> LabelEffect | None:
    """What was measured on labels that were held out, of so many labels in all."""
    if not held_out:
        return None
    return LabelEffect(
        labels=len(held_out),
        learnt=labels - len(held_out),
        right_without=sum(one.was_right for one in held_out),
        right=sum(one.is_right for one in held_out),
        error_without=fmean(abs(one.relevant - one.without) for one in held_out),
        error=fmean(abs(one.relevant - one.score) for one in held_out),
    )


def threshold_of(crawl: ServedCrawl, db: sqlite3.Connection) -> float:
    """The score from which pages are relevant: the topic's, or what the verdicts so far
    show."""
    told = crawl.plan.topic.threshold
    if told is not None:
        return told
    if crawl.plan.crawl.judge in CHANCES:
        return 0.5
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
    between = TextPiece(" ", False)
    lines = [[*line, between] for line in best.paragraphs[:3]]
    return list(chain.from_iterable(lines))[:80]


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
