"""What forms and programs can do: steer a crawl, fetch more pages, resume, start."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from opilio.assembly.tell import send_and_wait
from opilio.errors import BadInput
from opilio.serve.processes import expand_crawl, resume_crawl
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import Action
from opilio.serve.views.search import SINCE
from opilio.store.lifecycle import owner_of
from opilio.store.messages import AskQuery, checked_message, parse_message

WAIT = 2.0  # seconds for what comes of a message
Verb: TypeAlias = Literal[
    "pause", "resume", "stop", "seed", "block", "unblock", "boost", "label"
]
Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=8_000)]


class TellRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message to a crawl, as `opilio tell` sends it."""

    verb: Verb
    words: Annotated[list[Word], Meta(max_length=3)] = []
    back: Annotated[str, Meta(max_length=200, pattern=r"^(/[a-z-]*)?$")] = ""
    """The page of the crawl to show then."""


class MessageOutcome(msgspec.Struct, frozen=True):
    """What became of a message."""

    key: str
    state: str  # waiting, serving, done or refused
    outcome: str
    back: str = ""


class MoreRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query for which pages are to be fetched."""

    q: Annotated[str, Meta(min_length=1, max_length=1_000)]
    pages: Annotated[int, Meta(ge=1, le=200)] = 20


class FetchStarted(msgspec.Struct, frozen=True):
    """More pages are being fetched for a query."""

    q: str
    asked: str  # give it to the search, to see how far that is


class ResumeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far to go on."""

    max_pages: Annotated[int, Meta(ge=0, le=100_000_000)] | None = None
    """In all; 0: no limit; by default as before."""


class StartedRun(msgspec.Struct, frozen=True):
    """A crawl that was started."""

    crawl: str
    process: int


def tell_it(crawl: ServedCrawl, asked: TellRequest) -> MessageOutcome:
    """Send a message to a crawl, and wait a moment for what comes of it."""
    message = parse_message(asked.verb, asked.words)
    told = send_and_wait(crawl.folder, message, WAIT)
    return MessageOutcome(told.key, told.state, told.outcome, asked.back)


def fetch_more(crawl: ServedCrawl, asked: MoreRequest) -> FetchStarted:
    """Fetch pages for a query: by the crawl that runs, or by a process that does only
    that. The key tells the pages that were fetched for it."""
    if owner_of(crawl.folder):
        message = checked_message(AskQuery(asked.q, asked.pages))
        return FetchStarted(asked.q, send_and_wait(crawl.folder, message, WAIT).key)
    with crawl.reading() as db:
        (last,) = db.execute("SELECT coalesce(max(number), 0) FROM page").fetchone()
    expand_crawl(crawl, asked.q, asked.pages)
    return FetchStarted(asked.q, f"{SINCE}{last}")


def resume_it(crawl: ServedCrawl, asked: ResumeRequest) -> StartedRun:
    """Go on with a crawl, in a process of its own."""
    if owner_of(crawl.folder):
        raise BadInput("the crawl is running already")
    return StartedRun(crawl.name, resume_crawl(crawl, max_pages=asked.max_pages))


CRAWL_ACTIONS = (
    Action(
        path="tell",
        help="Steer a crawl: pause, resume, stop, seed, block, boost, label.",
        body=TellRequest,
        result=MessageOutcome,
        act=tell_it,
        next_page=lambda told: told.back,
    ),
    Action(
        path="more",
        help="Fetch more pages for a query.",
        body=MoreRequest,
        result=FetchStarted,
        act=fetch_more,
        next_page=lambda started: (
            "/search?" + urlencode({"q": started.q, "asked": started.asked})
        ),
    ),
    Action(
        path="resume",
        help="Go on with a crawl that has stopped.",
        body=ResumeRequest,
        result=StartedRun,
        act=resume_it,
        next_page=lambda _: "",
    ),
)
LIBRARY_ACTIONS: tuple[Action, ...] = ()
