"""Applies a user's label, relevant or not, to a crawled page."""

from __future__ import annotations

import time
from typing import NamedTuple

import msgspec

from opilio.crawl import CrawlLoop
from opilio.errors import BadInput
from opilio.records import Lease, Page, Response, State, Verdict
from opilio.store.catalogue import encode
from opilio.store.index_entries import drop_entry, save_entry
from opilio.store.stored_responses import StoredResponses

LABEL = "label"  # the part of a verdict that says so: 1 relevant, 0 not
PAGE = """
    SELECT link.id, link.url, link.fingerprint, host.name, promise, depth, level,
        redirects, found_on, state, score, relevant, page.parts, warc, warc_offset,
        warc_length
    FROM link JOIN host ON host.id = link.host LEFT JOIN page USING (id)
    WHERE link.id = ?
"""


class StoredPage(NamedTuple):
    """A page of the crawl, read again."""

    lease: Lease  # by which it was visited
    response: Response
    page: Page
    verdict: Verdict


async def unlabelled_page(crawl: CrawlLoop, id: int, url: str) -> StoredPage:
    """The page of a URL as it is stored; BadInput if the crawl has none."""
    row = crawl.store.db.execute(PAGE, (id,)).fetchone()
    if row is None:
        raise BadInput(f"{url} is not known to this crawl")
    *told, found_on, state, score, relevant, parts, file, offset, length = row
    if state not in (State.KEPT, State.IRRELEVANT) or score is None:
        raise BadInput(
            f"{url} is {state}: only pages that were read and judged can be labelled"
        )
    await crawl.commit()  # or the archive may lack it
    response = StoredResponses(crawl.store.folder.warcs).response(file, offset, length)
    page = (await crawl.readers.read(response)).page if response else None
    if response is None or page is None:
        raise BadInput(f"{url} can no longer be read from the archive of the crawl")
    lease = msgspec.structs.replace(Lease(*told), found_on=found_on)
    verdict = Verdict(score, bool(relevant), msgspec.json.decode(parts or "{}"))
    return StoredPage(lease, response, page, verdict)


async def labelled(
    crawl: CrawlLoop, stored: StoredPage, relevant: bool, *, learn: bool = True
) -> str:
    """Label a page, within a turn; returns the outcome in words."""
    lease, response, page, before = stored
    verdict = Verdict(
        before.score, relevant, {**before.parts, LABEL: 1.0 if relevant else 0.0}
    )
    db, store = crawl.store.db, crawl.store
    db.execute(
        "INSERT OR REPLACE INTO label VALUES (?, ?, ?)",
        (lease.id, int(relevant), time.time()),
    )
    db.execute(
        "UPDATE page SET relevant = ?, parts = ? WHERE id = ?",
        (int(relevant), encode(verdict.parts), lease.id),
    )
    db.execute(
        "UPDATE link SET state = ? WHERE id = ?",
        (State.KEPT if relevant else State.IRRELEVANT, lease.id),
    )
    if relevant != before.relevant:
        if crawl.profiles:
            crawl.profiles.keep(lease, response, page, verdict)
        drop_entry(db, lease.id)
        if page.sequence and (relevant or store.index_all) and not page.noindex:
            save_entry(db, lease.id, page)
    word = "relevant" if relevant else "not relevant"
    if not learn:
        return f"taken as {word}; kept to check the judge, which does not learn it"
    for pupil in crawl.pupils:
        pupil.teach(page, relevant)
    if crawl.reviser:
        await crawl.revise(crawl.reviser)
    lesson = "; judge and strategy learn from it" if crawl.pupils else ""
    return f"taken as {word}{lesson}"
