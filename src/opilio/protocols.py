"""What the stages ask of each other: a protocol for each part of a crawl.

A part is whatever has these verbs; `records.py` has the records that go in and out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from opilio.records import (
    Counts,
    Estimate,
    Fingerprint,
    Headers,
    Lease,
    Page,
    Ranked,
    Reading,
    Reads,
    Response,
    Revision,
    State,
    Subject,
    Verdict,
)


class Fetch(Protocol):
    """Turns a URL into a response, robots first; raises Transient or Unusable.

    `validators` are header lines that ask for a page only if it has changed; then a
    response may be a 304.
    """

    async def fetch(self, url: str, validators: Headers = ()) -> Response: ...

    async def close(self) -> None: ...


class Readers(Protocol):
    """Read responses, several at a time."""

    async def start(self) -> None: ...

    async def read(self, response: Response) -> Reading: ...

    def renew(self, setup: bytes) -> None:
        """Read what comes from now on by another setup, a ReaderSetup in msgpack."""
        ...

    def settle(self, links: bytes) -> None:
        """Tell no more of these links than Page.settled does, given the fingerprint and
        the id of each as little-endian int64. This may be forgotten."""
        ...

    async def close(self) -> None: ...


class Judge(Protocol):
    """Says how relevant a page is.

    A judge may also have `reads: Reads`, which names the parts of a page that it needs
    (`Reads(text=True)`); it may be a LearningJudge and Teachable.
    """

    def judge(self, page: Page) -> Verdict: ...


@runtime_checkable
class LearningJudge(Protocol):
    """A judge that learns from the pages it sees."""

    is_learning: bool  # False: it judges by what it knows, and takes no note of pages

    def judge(self, page: Page) -> Verdict: ...

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        ...

    def learners(self) -> Mapping[str, Learner]:
        """What is kept of it, part by part; in this order it is taken up again."""
        ...

    def follow(self, before: Any) -> None:
        """Take up what another of the kind learnt, whose topic was a little other."""
        ...


@dataclass(frozen=True, kw_only=True)
class SeedRequest:
    """What a seed source is asked for."""

    query: str  # the words that search engines are asked for
    language: str  # of the topic, "en"
    limit: int  # pages that are wanted at most
    get: Callable[[str], Awaitable[Response]]
    """Fetches a URL under the rules of the crawl: its proxy, its timeouts, no private
    addresses. Raises FetchError."""


class SeedSource(Protocol):
    """Names pages to start a crawl from. Asked once, when the crawl begins."""

    async def find(self, request: SeedRequest) -> Iterable[str]:
        """URLs, the best first."""
        ...


class Profiles(Protocol):
    """Keeps profiles of pages and of their sites, within the store's transaction."""

    def keep(
        self,
        lease: Lease,
        response: Response,
        page: Page,
        verdict: Verdict,
        *,
        again: bool = True,
    ) -> None:
        """A page was judged; `again`: perhaps once more."""
        ...

    def missed(self, lease: Lease, state: State) -> None:
        """A visit brought no new page."""
        ...

    def forget(self, lease: Lease) -> None:
        """A page is no longer there."""
        ...

    def flush(self) -> None:
        """Hand everything over to the transaction; all hosts are in it."""
        ...


class QueryJudges(Protocol):
    """Judges pages that are fetched for a query by what it asks for too."""

    def judge_for(self, asked: Mapping[str, float]) -> Judge:
        """A judge that seeks these terms beside the topic's, and learns nothing."""
        ...

    def also_read(self, terms: Iterable[str]) -> bytes:
        """A setup for readers that count these terms too, until the next call."""
        ...


class TopicUpdates(Protocol):
    """A topic that changes while it is crawled for, as a query log grows."""

    every: float  # seconds between two looks

    @property
    def asked(self) -> Sequence[str]:
        """What people ask for now, most first; some terms of it."""
        ...

    @property
    def subject(self) -> Subject:
        """What is sought now."""
        ...

    def look(self) -> Any:
        """News of the topic, or None; may take long, and changes nothing."""
        ...

    def take(self, news: Any) -> tuple[Judge, bytes] | None:
        """Follow the news: a new judge and a new setup for the readers, if need be."""
        ...


@runtime_checkable
class Learner(Protocol):
    """A judge or strategy that learns; what it learnt survives a restart."""

    def dump(self) -> bytes | None:
        """What was learnt since the last dump; None: nothing new."""
        ...

    def load(self, learnt: bytes) -> None:
        """Take up what an earlier dump gave."""
        ...


@runtime_checkable
class Teachable(Protocol):
    """A judge or strategy that learns from labels given while the crawl runs."""

    def teach(self, page: Page, relevant: bool) -> None:
        """A page that was judged before is relevant, or is not: someone looked."""
        ...


class Strategy(Protocol):
    """Says how promising each link of a page is.

    Made as `Strategy(options, knowledge)`; `Options`, an attribute of the class, is a
    config.Section with everything that can be set. It may also be a Learner, a Reviser,
    an Observer, and have notes: see there.
    """

    reads: Reads
    # calibrated: bool, optional: each promise is the chance that the page is relevant
    # settled: Sequence[Fingerprint], optional: links of the page ranked last that it
    # need not see again; later pages have them in Page.settled alone

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterable[Ranked]:
        """The links of a page that was just judged, each with its promise.

        A link that is known and waits keeps the better of two promises; what is to
        lower one, or change one that is not on this page, goes through `revise`.
        """
        ...


@runtime_checkable
class Reviser(Protocol):
    """A strategy whose mind changes while links wait."""

    def revise(self) -> Iterable[Revision]:
        """New promises since the last call; asked after every page, so mostly few."""
        ...


@runtime_checkable
class Seeker(Protocol):
    """A strategy that can seek something else from now on, as its topic changes."""

    def seek(self, subject: Subject) -> None:
        """Rank what is read from now on by this subject."""
        ...


@runtime_checkable
class Rescorer(Protocol):
    """A strategy that can rank the links of a page again after it was told to `seek`
    something else. One that scores waiting links by itself then is none."""

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterable[Ranked]:
        """The links of a page that was ranked before, by what is sought now. It was
        read and judged again; this is no new visit."""
        ...


@runtime_checkable
class Observer(Protocol):
    """A strategy that wants to know of visits which brought no new page."""

    def missed(self, lease: Lease, state: State) -> None:
        """A link ended as a copy or unusable."""
        ...


@runtime_checkable
class Estimator(Protocol):
    """A strategy with calibrated chances, which can tell how much is left to find."""

    def estimate(self) -> Estimate | None:
        """The relevant pages still to be found; None: too early to tell. Cheap, however
        many links wait, and changes nothing."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A strategy that keeps notes of URLs; they are durable together with the page."""

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """Notes that changed since the last call, by key; None: drop it."""
        ...

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Take up all notes of earlier runs."""
        ...


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
        it waits once it is found where it is wanted. `redirect`: `via` was sent on to
        these, so they are as deep as it is and one hop further.
        """
        ...

    def unchanging(self, links: Sequence[Fingerprint]) -> Mapping[Fingerprint, int]:
        """Those of these links whose state does not change when they are found again
        with the promise that they have, and their ids."""
        ...

    async def take(self) -> Lease | None:
        """The best link whose host may be visited now; waits while there may be one.

        None: nothing waits and no lease is out, or the frontier was closed.
        """
        ...

    async def done(
        self,
        lease: Lease,
        state: State,
        reason: str = "",
        *,
        contacted: bool = True,
        likeness: str = "",
    ) -> None:
        """End a lease for good. `contacted=False`: no request was made, so the host
        need not rest. `likeness`: what the page has in common with those that say
        nothing else; if a page of the same template had it too, this one is not new."""
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

    async def reopen(self, id: int, reason: str) -> Fingerprint:
        """Let a link wait again that was parked for this reason; answers its
        fingerprint, or 0 if there is no such link."""
        ...

    async def revise(self, revisions: Iterable[Revision]) -> int:
        """Give waiting links new promises, and new parts with them, or none where they
        are not told; answers how many were waiting."""
        ...

    async def pace(
        self,
        host: str,
        *,
        delay: float | None = None,
        rest: float | None = None,
        ip: str | None = None,
        why: str = "",
    ) -> bool:
        """What was learnt of a host: its crawl delay, that it wants rest for so many
        seconds from now and why, the address it answers at. Was any of it new?"""
        ...

    def steer(
        self, *, haste: float = 1.0, breadth: float = 0.0, calibrated: bool = False
    ) -> None:
        """Choose from now on in another way.

        `haste`: 0 keeps to the order of promises and holds links back while better ones
        will be had soon, 1 holds nothing back. `breadth`: 0 has no preference between
        hosts, 1 visits the least visited of the best hosts first. `calibrated`:
        promises are chances, so that two can be compared.
        """
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
