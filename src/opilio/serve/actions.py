"""What forms and programs can do: steer a crawl, fetch more pages, resume, start."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlencode

import msgspec
import tomli_w
from msgspec import Meta

from opilio.assembly.ontology_loop import Loop
from opilio.assembly.plan import without_none
from opilio.assembly.tell import send_and_wait
from opilio.assembly.topic_update import decide
from opilio.errors import BadInput
from opilio.serve.processes import expand_crawl, resume_crawl, start_opilio
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import Action
from opilio.serve.views.search import SINCE
from opilio.serve.views.start import START, NewCrawl, StartedCrawl, start_crawl
from opilio.store.lifecycle import owner_of, workers_note
from opilio.store.messages import AskQuery, checked_message, parse_message
from opilio.topic import Keyword, check_topic

WAIT = 2.0  # seconds for what comes of a message
Verb: TypeAlias = Literal[
    "pause", "resume", "stop", "seed", "block", "unblock", "boost", "label"
]
Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=8_000)]

PAGES = r"^(/[a-z-]*(\?id=[0-9]+)?)?$"  # of a crawl
Back: TypeAlias = Annotated[str, Meta(max_length=200, pattern=PAGES)]
Terms: TypeAlias = Annotated[list[Word], Meta(max_length=200)]


class TellRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message to a crawl, as `opilio tell` sends it."""

    verb: Verb
    words: Annotated[list[Word], Meta(max_length=3)] = []
    back: Back = ""
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
    """How many pages to crawl."""

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


def in_words(told: MessageOutcome) -> str:
    """What became of a message, for the one who sent it."""
    if told.state == "waiting":
        return "The crawl is not running. It does that when it is resumed."
    is_seen = told.outcome in ("paused", "resumed", "stopped")  # by its state
    return "" if is_seen else told.outcome


def fetch_more(crawl: ServedCrawl, asked: MoreRequest) -> FetchStarted:
    """Fetch pages for a query: by the crawl that runs, or by a process that does only
    that. The key tells the pages that were fetched for it."""
    if owner_of(crawl.folder):
        message = checked_message(AskQuery(asked.q, asked.pages))
        return FetchStarted(asked.q, send_and_wait(crawl.folder, message, WAIT).key)
    if workers_note(crawl.folder):
        raise BadInput(
            "a crawl on many machines fetches no pages for a query; copy it with: "
            "opilio pull DSN DIR"
        )
    with crawl.reading() as db:
        (last,) = db.execute("SELECT coalesce(max(number), 0) FROM page").fetchone()
    expand_crawl(crawl, asked.q, asked.pages)
    return FetchStarted(asked.q, f"{SINCE}{last}")


def resume_it(crawl: ServedCrawl, asked: ResumeRequest) -> StartedRun:
    """Resume a crawl, in a process of its own."""
    if owner_of(crawl.folder):
        raise BadInput("the crawl is running already")
    if workers_note(crawl.folder):
        raise BadInput("start workers with: opilio crawl TOPIC.toml --store DSN")
    return StartedRun(crawl.name, resume_crawl(crawl, max_pages=asked.max_pages))


class ProposalDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do with proposals."""

    accept: Terms = []
    reject: Terms = []
    of: Literal["keywords", "ontology"] = "keywords"
    back: Back = "/topic"


class Decided(msgspec.Struct, frozen=True):
    """What was accepted."""

    accepted: list[str]
    back: str


class NewKeywords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keywords by which all pages are to be judged again."""

    keywords: Annotated[str, Meta(min_length=1, max_length=100_000)]
    """One per line; a weight may follow after a colon."""


def decide_it(crawl: ServedCrawl, asked: ProposalDecision) -> Decided:
    """Accept and reject proposals; a running or resumed crawl uses the result."""
    if workers_note(crawl.folder):
        raise BadInput("the topic of a crawl on many machines cannot be changed here")
    if asked.of == "keywords":
        changes = decide(crawl.folder, asked.accept, asked.reject)
        return Decided([one.term for one in changes], asked.back)
    loop = Loop(crawl.folder)
    if asked.reject:
        loop.reject(asked.reject)
    accepted = loop.accept(asked.accept)[0] if asked.accept else []
    return Decided([one.term for one in accepted], asked.back)


def rejudge_it(crawl: ServedCrawl, asked: NewKeywords) -> StartedRun:
    """Judge all pages again by other keywords, in a process of its own."""
    if owner_of(crawl.folder):
        raise BadInput("stop the crawl first: its pages cannot be judged while it runs")
    if workers_note(crawl.folder):
        raise BadInput("copy the crawl into a folder first: opilio pull DSN DIR")
    keywords = tuple(map(keyword_of, filter(str.strip, asked.keywords.splitlines())))
    topic = msgspec.structs.replace(crawl.plan.topic, keywords=keywords)
    check_topic(topic, "the keywords")
    file = crawl.folder.path / "topic.toml"
    tables = without_none(msgspec.to_builtins(topic))
    file.write_text(tomli_w.dumps(tables), encoding="utf-8")
    words = ["rejudge", str(crawl.folder.path), str(file), "--json"]
    return StartedRun(crawl.name, start_opilio(words, crawl.log))


def keyword_of(line: str) -> Keyword:
    """A keyword with its weight, as the form has them.

    >>> keyword_of("queen bee: 0.5").weight
    0.5
    """
    term, _, weight = line.rpartition(":")
    try:
        return Keyword(term=" ".join(term.split()), weight=float(weight))
    except ValueError:
        return Keyword(term=" ".join(line.split()))


CRAWL_ACTIONS = (
    Action(
        path="tell",
        help="Steer a crawl: pause, resume, stop, seed, block, boost, label.",
        body=TellRequest,
        result=MessageOutcome,
        act=tell_it,
        next_page=lambda told: told.back,
        say=in_words,
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
        help="Resume a crawl that has stopped.",
        body=ResumeRequest,
        result=StartedRun,
        act=resume_it,
        next_page=lambda _: "",
    ),
    Action(
        path="decide",
        help="Accept or reject proposals for keywords or the ontology.",
        body=ProposalDecision,
        result=Decided,
        act=decide_it,
        next_page=lambda decided: decided.back,
        say=lambda decided: (
            f"accepted what was proposed for: {', '.join(decided.accepted)}"
            if decided.accepted
            else "nothing was accepted"
        ),
    ),
    Action(
        path="rejudge",
        help="Judge all pages again by other keywords.",
        body=NewKeywords,
        result=StartedRun,
        act=rejudge_it,
        next_page=lambda _: "/topic",
        say=lambda _: "All pages are judged again. The figures change when it is done.",
    ),
)
LIBRARY_ACTIONS = (
    Action(
        path="start",
        help="Start a new crawl: write its topic file and fetch its first pages.",
        body=NewCrawl,
        result=StartedCrawl,
        act=start_crawl,
        next_page=lambda started: "/preview?" + urlencode({"name": started.name}),
        again=START,
    ),
)
