"""The frontier: waiting links by promise, and links in any other state."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from opilio.cli.link_reasons import reason_in_words
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import PageNumber, View
from opilio.serve.views.page import ScorePart, parts_of
from opilio.store.lookup import current

SIZE = 50
LinkState: TypeAlias = Literal[
    "waiting", "kept", "irrelevant", "copy", "unusable", "parked"
]
ROWS = """
    SELECT link.*, host.name AS host_name, title, score
    FROM link JOIN host ON host.id = link.host LEFT JOIN page USING (id)
    WHERE state IN (SELECT value FROM json_each(?))
        AND (? = '' OR host.name = ?)
    ORDER BY {order} LIMIT ? OFFSET ?
"""


class LinksRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which links to list."""

    state: LinkState = "waiting"
    host: Annotated[str, Meta(max_length=300)] = ""
    page: PageNumber = 1


class ListedLink(msgspec.Struct, frozen=True):
    """A link of the crawl."""

    id: int
    url: str
    host: str
    anchor: str
    title: str
    promise: float
    parts: list[ScorePart]
    score: float | None
    reason: str
    depth: int


class LinkList(msgspec.Struct, frozen=True):
    """One page of a list of links."""

    query: LinksRequest
    links: list[ListedLink]
    has_more: bool


def show_links(crawl: ServedCrawl, asked: LinksRequest) -> LinkList:
    """Links of a state: waiting ones by promise, others by score."""
    states = ["waiting", "leased"] if asked.state == "waiting" else [asked.state]
    scored = asked.state in ("kept", "irrelevant")
    order = "score DESC, link.id" if scored else "promise DESC, link.id"
    with crawl.reading() as db:
        rows = db.execute(
            ROWS.format(order=order),
            (
                msgspec.json.encode(states).decode(),
                asked.host,
                asked.host,
                SIZE + 1,
                (asked.page - 1) * SIZE,
            ),
        ).fetchall()
        links = []
        for row in rows[:SIZE]:
            link = current(db, row)
            links.append(
                ListedLink(
                    id=row["id"],
                    url=row["url"],
                    host=row["host_name"],
                    anchor=row["anchor"] or "",
                    title=row["title"] or "",
                    promise=link["promise"],
                    parts=parts_of(msgspec.json.decode(link["parts"] or "{}")),
                    score=row["score"],
                    reason=reason_in_words(row["reason"]) if row["reason"] else "",
                    depth=row["depth"],
                )
            )
    return LinkList(asked, links, len(rows) > SIZE)


LINKS = View(
    name="links",
    path="links",
    title="Links",
    help="Links of the crawl by state; those that wait by promise.",
    parameters=LinksRequest,
    result=LinkList,
    show=show_links,
)
