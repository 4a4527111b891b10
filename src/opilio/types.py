"""The records and protocols that the stages share; imports nothing of ours.

Records hold no references to each other's holders, so none of them can be part of a
cycle: `gc=False` keeps millions of them out of the garbage collector's rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

Clock = Callable[[], float]
"""Seconds; only differences mean anything (`time.monotonic`, or a test's own)."""

Fingerprint = int
"""64 bits as a signed integer, so that SQLite and numpy hold it as it is."""

Headers = Sequence[tuple[str, str]]
"""Header lines in the order of the wire; names in lower case."""


class State(StrEnum):
    """Where a link is in its life; always exactly one of these."""

    WAITING = "waiting"
    LEASED = "leased"
    KEPT = "kept"
    IRRELEVANT = "irrelevant"
    COPY = "copy"
    UNUSABLE = "unusable"
    PARKED = "parked"


class Link(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """A link as it stands on a page."""

    url: str  # absolute, in canonical form
    fingerprint: Fingerprint  # of that form
    anchor: str = ""
    before: str = ""  # the words before it, cut at word boundaries
    after: str = ""
    rel: str = ""


class Page(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the reader made of a response."""

    url: str  # the canonical form of the URL that answered
    title: str
    language: str  # BCP 47 primary tag in lower case, "" when unknown
    charset: str  # the encoding that was used, WHATWG name
    words: int  # tokens of the visible text
    terms: Mapping[str, int]  # topic term -> times it occurs on the page
    norm: float  # length of the page's vector over all its terms: √Σ(1+ln tf)²
    simhash: Fingerprint  # of text and title; 0 when it is too short to compare
    links: Sequence[Link]  # http and https only, each URL once, in document order
    canonical: str = ""  # <link rel=canonical>, if it names the same site
    refresh: str = ""  # the target of an immediate <meta http-equiv=refresh>
    noindex: bool = False  # meta robots or X-Robots-Tag
    nofollow: bool = False
    degraded: str = ""  # why the page could not be read as a whole, if so


class ReaderSetup(msgspec.Struct, frozen=True):
    """What a reader process must know of the topic and the strategy."""

    terms: tuple[str, ...]
    language: str
    context: bool = False  # does the strategy read the words around links?


class Reading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a reader process hands back for one response."""

    page: Page | None
    record: bytes = b""  # the exchange as finished WARC records, to be appended
    reason: str = ""  # why there is no page: not_html, parse_crashed, parse_timeout


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """How relevant a page is, and why."""

    score: float  # in [0, 1]
    relevant: bool
    parts: Mapping[str, float] = {}


class Ranked(msgspec.Struct, frozen=True, gc=False):
    """A link with its promise, the frontier's only sort key, and why."""

    link: Link
    promise: float
    parts: Mapping[str, float] = {}
    level: int = 0  # irrelevant pages in a row on the way here: depth in a tunnel
    reason: str = ""  # why it is not wanted; empty: it is


class Lease(msgspec.Struct, frozen=True, gc=False):
    """The right to visit one link, until it expires."""

    id: int  # of the link, in the catalogue
    url: str
    fingerprint: Fingerprint
    host: str
    promise: float
    depth: int = 0  # links followed from a seed
    level: int = 0
    redirects: int = 0  # hops since the last real link
    attempts: int = 0  # how often it was tried before
    found_on: int = 0  # id of the page it was found on; 0: a seed


class Response(msgspec.Struct, frozen=True, gc=False):
    """What came over the wire for one URL."""

    url: str
    status: int
    headers: Headers
    body: bytes  # content codings removed
    fetched_at: float  # seconds since 1970
    wire: bytes | None = None  # the body before that, if it differs
    ip: str = ""  # the address actually connected to; "" behind a proxy
    protocol: str = "http/1.1"
    truncated: str = ""  # why the body is not whole: "length", "time", "disconnect"
    request: Headers = ()  # the header lines we sent

    def header(self, name: str) -> str:
        """The value of a header, repeated lines joined by commas."""
        return ", ".join(value for key, value in self.headers if key == name)


class RobotsRecord(msgspec.Struct, frozen=True):
    """The robots.txt of an origin as last seen; a row of the table `robots`."""

    origin: str  # scheme://host[:port]
    status: str  # rules, unavailable or unreachable
    fetched_at: float  # seconds since 1970; of the first failure while unreachable
    expires_at: float  # ask again then
    body: bytes = b""  # the last one that was had, also while unreachable
    failures: int = 0  # in a row, while unreachable


class Fetch(Protocol):
    """Turns a URL into a response, robots first; raises Transient or Unusable."""

    async def fetch(self, url: str) -> Response: ...

    async def close(self) -> None: ...


class Judge(Protocol):
    """Says how relevant a page is."""

    def judge(self, page: Page) -> Verdict: ...


class Strategy(Protocol):
    """Says how promising each link of a page is."""

    reads_context: bool  # False: links come without the words around them

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterable[Ranked]: ...


class Counts(msgspec.Struct, frozen=True):
    """How a frontier stands."""

    waiting: int
    leased: int
    hosts: int
    ready: int  # hosts that may be visited now and have something to visit
    resting: int  # hosts that have, but may not be visited yet
    ended: Mapping[tuple[State, str], int]  # all other links, by state and reason

    @property
    def reasons(self) -> Mapping[str, int]:
        """The unusable links, by reason."""
        return {
            reason: count
            for (state, reason), count in self.ended.items()
            if state is State.UNUSABLE
        }


class Frontier(Protocol):
    """Every link that waits; leases the most promising one that may be visited now.

    A link is known by the fingerprint of its canonical URL and is never leased twice
    at a time. Verbs change the frontier at once; what makes the change durable is the
    caller's transaction.
    """

    async def add(
        self,
        found: Iterable[Ranked],
        via: Lease | None = None,
        *,
        redirect: bool = False,
    ) -> list[int]:
        """Let links wait; answer the id of each, known before or not.

        A link that is known already keeps the better of its two promises (and the
        evidence that set it). One that the capacity had parked may come back. An
        unwanted link, one with a reason, is recorded as unusable and its id is given;
        it waits once it is found where it is wanted. A URL that is too long is not
        recorded: its id is 0. `redirect`: `via` was sent on to these, so they are as
        deep as it is and one hop further.
        """
        ...

    async def take(self) -> Lease | None:
        """The best link whose host may be visited now; waits while there may be one.

        None: nothing waits and no lease is out, or the frontier was closed.
        """
        ...

    async def done(
        self, lease: Lease, state: State, reason: str = "", *, contacted: bool = True
    ) -> None:
        """End a lease for good. `contacted=False`: no request was made, so the host
        need not rest."""
        ...

    async def retry(
        self,
        lease: Lease,
        after: float,
        reason: str,
        *,
        counted: bool = True,
        contacted: bool = True,
    ) -> bool:
        """Let the link wait again, for `after` seconds at least; False, and the link is
        unusable for this reason, when its attempts are used up. `counted=False`: this
        was no fault of the link's. `contacted=False`: no request was made."""
        ...

    async def revise(self, promises: Iterable[tuple[Fingerprint, float]]) -> int:
        """Give waiting links new promises; answers how many were waiting."""
        ...

    async def pace(
        self,
        host: str,
        *,
        delay: float | None = None,
        rest: float | None = None,
        ip: str | None = None,
    ) -> None:
        """What was learnt of a host: its crawl delay, that it wants rest for so many
        seconds from now, the address it answers at."""
        ...

    def counts(self) -> Counts:
        """How many links and hosts there are, by what they do; cheap."""
        ...

    async def flush(self) -> None:
        """Hand everything over to the transaction; the caller commits next."""
        ...

    def close(self) -> None:
        """Wake every waiting `take` with None; leases that are out stay valid."""
        ...
