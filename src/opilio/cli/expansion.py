"""Fetches pages for a query between the two answers of `opilio search --expand`.

A crawl that runs is told the query and fetches the pages itself; else they are fetched
here, until Ctrl-C.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Plan, load_plan
from opilio.assembly.tell import LOOK, look_up
from opilio.errors import BadInput
from opilio.search.query import parse_query
from opilio.sites.evolve_and_expand import open_expander, ready_plan
from opilio.sites.expander import Expansion
from opilio.sites.query_expansion import expand_query
from opilio.store.folder import CrawlFolder
from opilio.store.inbox import send
from opilio.store.lifecycle import owner_of
from opilio.store.lookup import opened
from opilio.store.message_log import PAUSED, REFUSED, is_paused, pages_for
from opilio.store.messages import AskQuery, checked_message
from opilio.subject.current import current_subject

SLACK = 10.0  # seconds that a crawl may need beyond those that it was given

Show = Callable[[dict[str, Any]], None]
"""Shows a page that has just arrived: url, title, state, score."""


def expand_search(
    folder: CrawlFolder,
    query: str,
    pages: int,
    seconds: float,
    proxy: str | None,
    logged: bool = True,
    show: Show = lambda page: None,
) -> Expansion:
    """Fetch pages for a query, until there are enough, or time or Ctrl-C ends it."""
    if owner_of(folder.require()):
        if proxy:
            raise BadInput(
                f"{folder.path} is being crawled, through its own proxy if it has one; "
                "leave out --proxy, or stop the crawl first"
            )
        return ask_running(folder, query, pages, seconds, show)
    plan = ready_plan(folder, {"fetch": {"proxy": proxy}})
    return run_loop(run(plan, folder, query, pages, seconds, logged))


async def run(
    plan: Plan,
    folder: CrawlFolder,
    query: str,
    pages: int,
    seconds: float,
    logged: bool,
) -> Expansion:
    """Open the crawl and fetch pages for a query."""
    async with open_expander(plan, folder, query, logged=logged) as expander:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, expander.stop)
        return await expander.expand(pages, seconds)


def ask_running(
    folder: CrawlFolder, query: str, pages: int, seconds: float, show: Show
) -> Expansion:
    """Tell a crawl that runs what is sought, and show the pages as they arrive."""
    with opened(folder) as db:
        if is_paused(db):
            raise BadInput(PAUSED.replace("DIR", str(folder.path)))
    key = send(folder, checked_message(AskQuery(query, pages, seconds)))
    shown, ended = 0, ""
    end = time.monotonic() + seconds + SLACK
    try:
        while not ended:
            ended = state_of(folder, key, end)
            for page in arrived(folder, key)[shown:]:
                show(page)
                shown += 1
            if not ended:
                time.sleep(LOOK)
    except KeyboardInterrupt:
        ended = "interrupted"
    return expansion_of(folder, query, key, ended)


def state_of(folder: CrawlFolder, key: str, end: float) -> str:
    """Why a query has ended; "" while it has not."""
    running = owner_of(folder)  # asked first: it may end right after its last commit
    told = look_up(folder, key)
    if told.state == REFUSED:  # it was paused right before
        raise BadInput(told.outcome)
    if told.is_over:
        return told.ended
    if not running:
        return "stopped"
    return "time" if time.monotonic() > end else ""


def arrived(folder: CrawlFolder, key: str) -> list[dict[str, Any]]:
    """The pages that were fetched for a query so far."""
    with opened(folder) as db:
        return pages_for(db, key)


def expansion_of(folder: CrawlFolder, query: str, key: str, ended: str) -> Expansion:
    """What came of a query that a running crawl was told."""
    plan = load_plan(folder)
    with opened(folder) as db:
        subject = current_subject(plan.topic, folder, db)
        found = pages_for(db, key)
    terms = expand_query(parse_query(query), subject, plan.search.mode)
    counts = Counter(kinds(found))
    return Expansion(
        terms={" ".join(term): near for term, near in terms.items()},
        pages=len(found),
        kept=counts["kept"],
        irrelevant=counts["irrelevant"],
        copies=counts["copy"],
        unread=counts["unusable"],
        noindex=counts["noindex"],
        failed=0,
        urls=[page["url"] for page in found if page["state"] != "copy"],
        ended=ended,
    )


def kinds(pages: list[dict[str, Any]]) -> Iterator[str]:
    """What each page came to."""
    for page in pages:
        hidden = page["state"] == "kept" and page["noindex"]
        yield "noindex" if hidden else page["state"]
