"""Judges the pages of a crawl again, offline, after its topic or settings changed.

All of it is one transaction; rejudge_pages.py has the pass over the pages.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import msgspec

from opilio.assembly.build import assemble, ways_of
from opilio.assembly.plan import (
    Options,
    Plan,
    load_plan,
    override,
    save_plan,
    with_found_files,
)
from opilio.assembly.prepare import prepare
from opilio.assembly.registry import BY_NAME, Own
from opilio.assembly.rejudge_pages import WAITING, Rejudged, Rejudging
from opilio.errors import BadInput
from opilio.records import Headers, Response, Subject
from opilio.settings import StoreSettings
from opilio.store import rejudged_pages
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.store.store import Store
from opilio.subject.stored_subject import save_subject
from opilio.topic import Topic


class Offline:
    """Replaces the network while nothing may be fetched."""

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """Raise: rejudging makes no requests."""
        raise RuntimeError(f"{url} was requested while pages are judged again")

    async def close(self) -> None:
        """Nothing is open."""


async def rejudge(
    folder: CrawlFolder,
    topic: Topic | None = None,
    options: Options | None = None,
    tell: Callable[[int, int], None] = lambda done, pages: None,
    own: Own = BY_NAME,
) -> Rejudged:
    """Judge all pages of a crawl by another topic, judge or strategy; `tell` is called
    with the number of pages done and of all pages."""
    plan, subject = new_plan(folder.require(), topic, options or {}, own)
    ways = replace(ways_of(own), store=open_aside, fetch=lambda *_: Offline())
    folder.lock()
    try:
        with opened(folder) as db:
            waiting = db.execute(WAITING).fetchone()[0]
        async with assemble(plan, folder, subject, ways=ways) as crawl:
            found = await Rejudging(crawl, tell).run()
            detail = {"pages": found.pages, "kept": found.kept}
            crawl.store.catalogue.save_event("rejudged", **detail)
            draft = folder.subject.with_suffix(".rejudged")
            save_subject(subject, draft)
            await crawl.commit()
            # If killed before the next line, the same command repeats all of it.
            draft.replace(folder.subject)
            save_plan(plan, folder)
            shutil.rmtree(folder.index, ignore_errors=True)  # of the old terms
    finally:
        folder.unlock()
    found.waiting_before = waiting
    return found


def new_plan(
    folder: CrawlFolder, topic: Topic | None, options: Options, own: Own = BY_NAME
) -> tuple[Plan, Subject]:
    """The plan of the crawl with the changes applied."""
    stored = load_plan(folder)
    plan = with_found_files(override(stored, options))
    if plan.crawl.strategy != stored.crawl.strategy:  # options belong to one strategy
        plan = msgspec.structs.replace(plan, options=options.get("options", {}))
    if topic is not None:
        plan = msgspec.structs.replace(plan, topic=topic)
    ours = (plan.topic, plan.crawl.vectors, plan.crawl.weights)
    same = ours == (stored.topic, stored.crawl.vectors, stored.crawl.weights)
    subject = prepare(plan, folder, fresh=not same, own=own)
    if (
        plan.topic.classes != stored.topic.classes
        and own.make_strategy(plan, subject).reads.look_ahead
    ):
        raise BadInput(
            f"the strategy {plan.crawl.strategy} learns from pages that [classes] link "
            "to, which are not in this crawl; start a new crawl with -o DIR"
        )
    return plan, subject


def open_aside(folder: CrawlFolder, settings: StoreSettings, index_all: bool) -> Store:
    """The store of a crawl with its links set aside, within its transaction."""
    store = Store(folder, settings, index_all)
    rejudged_pages.set_aside(store.db)
    return store
