"""The interface of each part of a crawl, as a typing.Protocol.

Any object with these methods will do; `records.py` has the records they exchange.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from opilio.progress import Counts, Estimate
from opilio.records import (
    Fingerprint,
    Headers,
    Lease,
    Link,
    MainText,
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
    """Fetches a URL if its robots.txt allows it; raises Transient or Unusable.

    `validators` are header lines that request a page only if it has changed; the
    response may then be a 304.
    """

    async def fetch(self, url: str, validators: Headers = ()) -> Response: ...

    async def close(self) -> None: ...


class Readers(Protocol):
    """Read responses, several at a time."""

    async def start(self) -> None: ...

    async def read(self, response: Response) -> Reading: ...

    async def extract(self, response: Response) -> MainText | None:
        """The main text of a response; None: there is none."""
        ...

    def renew(self, setup: bytes) -> None:
        """Read all later responses with this setup, a ReaderSetup in msgpack."""
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

    is_learning: bool  # False: it no longer learns from pages

    def judge(self, page: Page) -> Verdict: ...

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        ...

    def learners(self) -> Mapping[str, Learner]:
        """The parts whose state is stored, in the order in which they are restored."""
        ...

    def follow(self, before: Any) -> None:
        """Take over what a judge of the same kind learnt before the topic changed."""
        ...


@runtime_checkable
class Doubting(Protocol):
    """A judge that weighs second opinions on pages that it is unsure of."""

    def doubts(self, page: Page) -> bool:
        """Whether an opinion on this page is wanted; without side effects."""
        ...


class Adviser(Protocol):
    """Gives second opinions on pages. It may take long, and may fail."""

    name: str

    def seek(self, subject: Subject) -> None:
        """Compare pages with this subject from now on."""
        ...

    async def opinion(self, url: str, title: str, text: str) -> float:
        """What it thinks of a page, in a unit of its own; raises FetchError."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class SeedRequest:
    """What a seed source is asked for."""

    query: str  # the words to send to search engines
    language: str  # of the topic, "en"
    limit: int  # pages wanted at most
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
        """A page was judged; `again`: it may have been judged before."""
        ...

    def missed(self, lease: Lease, state: State) -> None:
        """A visit brought no new page."""
        ...

    def forget(self, lease: Lease) -> None:
        """A page is no longer there."""
        ...

    def flush(self) -> None:
        """Write everything in memory to the transaction, for all hosts."""
        ...


class Sharing(Protocol):
    """The other workers of a crawl, each of which has sites of its own."""

    def own_part(self, page: Page) -> Page:
        """The page with only those links that belong to this worker."""
        ...

    async def tell(
        self,
        page: Page,
        verdict: Verdict,
        lease: Lease,
        content: Fingerprint,
        fetched_at: float,
    ) -> list[int]:
        """Tell the others of a page that was judged, and of its links that belong to
        them; returns the ids of these links."""
        ...

    async def record(self) -> None:
        """Record what has changed where all workers see it, before it is committed
        here."""
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

    every: float  # seconds between two checks

    @property
    def asked(self) -> Sequence[str]:
        """Some terms that people ask for now, the most frequent first."""
        ...

    @property
    def changes(self) -> Sequence[str]:
        """How the keywords changed last, in words."""
        ...

    @property
    def subject(self) -> Subject:
        """What is sought now."""
        ...

    def look(self) -> Any:
        """Changes of the topic, or None; may take long, and has no side effects."""
        ...

    def take(self, news: Any) -> tuple[Judge, bytes] | None:
        """Apply changes; returns a new judge and reader setup, if they are needed."""
        ...


@runtime_checkable
class Learner(Protocol):
    """A judge or strategy that learns; what it learnt survives a restart."""

    def dump(self) -> bytes | None:
        """What was learnt since the last dump; None: nothing new."""
        ...

    def load(self, learnt: bytes) -> None:
        """Restore what an earlier dump returned."""
        ...


@runtime_checkable
class Teachable(Protocol):
    """A judge or strategy that learns from labels given while the crawl runs."""

    def teach(self, page: Page, relevant: bool) -> None:
        """Learn the true label of a page that was judged before."""
        ...


@runtime_checkable
class LabelComparing(Teachable, Protocol):
    """A judge that can tell what labels have changed."""

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        ...

    def without_labels(self) -> Self:
        """The judge as it would be now if nobody had labelled a page."""
        ...


class Strategy(Protocol):
    """Says how promising each link of a page is.

    It is constructed as `Strategy(options, knowledge)`. `Options`, an attribute of the
    class, is a settings.Section with all its settings. It may also be a Learner,
    Reviser, Seeker, Observer, Estimator or Remembering.
    """

    reads: Reads
    # calibrated: bool, optional: each promise is the chance that the page is relevant
    # settled: Sequence[Fingerprint], optional: links of the page ranked last that it
    # need not see again; later pages have them in Page.settled alone

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterable[Ranked]:
        """The links of a page that was just judged, each with its promise.

        A link that already waits keeps the higher of its promises; use `revise` to
        lower a promise, or to change that of a link which is not on this page.
        """
        ...


@runtime_checkable
class Reviser(Protocol):
    """A strategy that changes the promises of waiting links."""

    def revise(self) -> Iterable[Revision]:
        """Promises that changed since the last call; called after every page."""
        ...


@runtime_checkable
class Seeker(Protocol):
    """A strategy that can switch to a new subject when the topic changes."""

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
    """A strategy that is notified of visits which brought no new page."""

    def missed(self, lease: Lease, state: State) -> None:
        """A link ended as a copy or unusable."""
        ...


@runtime_checkable
class DeadLinkLearner(Protocol):
    """A strategy that learns from links behind which servers have no page."""

    def dead(self, lease: Lease) -> None:
        """A server answered 404 or 410; called in place of `missed`."""
        ...


@runtime_checkable
class Estimator(Protocol):
    """A strategy with calibrated promises that estimates how much is left to find."""

    def estimate(self) -> Estimate | None:
        """The relevant pages still to be found; None: too early to tell. Cheap, however
        many links wait, and without side effects."""
        ...


@runtime_checkable
class Experienced(Protocol):
    """A strategy that learns from links that were visited, and that many workers use:
    each visits its own links, and all learn from what came of them."""

    def experiences(self) -> Sequence[tuple[Fingerprint, bytes]]:
        """What each link taught that was visited since the last call."""
        ...

    def learn_from(self, others: Iterable[bytes]) -> None:
        """Learn from links that other workers have visited."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A strategy that keeps notes by URL, which are committed with the page."""

    def changes(self) -> Iterable[tuple[int, bytes | None]]:
        """Notes that changed since the last call, by key; None: drop it."""
        ...

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the notes of earlier runs."""
        ...


class Frontier(Protocol):
    """The queue of links; leases the most promising one that may be visited now.

    A link is identified by the fingerprint of its canonical URL and is never leased
    twice at a time. Methods change the frontier at once; the caller's transaction makes
    the change durable.
    """

    async def add(
        self,
        found: Iterable[Ranked],
        via: Lease | None = None,
        *,
        redirect: bool = False,
    ) -> list[int]:
        """Queue links; returns the id of each, known before or not.

        A known link keeps the higher of its two promises, with the evidence for it. One
        that was parked for lack of capacity may come back. A link with a reason is not
        wanted: it is recorded as unusable, and waits if it is later found without a
        reason. `redirect`: `via` redirects to these, so they have its depth and one hop
        more.
        """
        ...

    def unchanging(self, links: Sequence[Fingerprint]) -> Mapping[Fingerprint, int]:
        """Those of these links whose state does not change when they are found again
        with the promise that they have, and their ids."""
        ...

    def support(self, ids: Sequence[int], host: str) -> None:
        """Note that a page of this host links to known links that are not added again,
        because they do not change."""
        ...

    def heard(self, host: str, stems: bytes | None, size: int = 0) -> None:
        """Note the words of a page of this host, as in Page.stems, and how many bytes
        it takes. None: they are not known; no words: it is a copy of another page."""
        ...

    def without_floods(self, links: Sequence[Link], host: str) -> Sequence[Link]:
        """The links of a page of this host, without those to new hosts if its site has
        linked to too many of them."""
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
        need not rest. `likeness`: a key that pages without anything new share; if a
        page of the same URL template had the same key, this one is not new."""
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
        """Queue the link again, for `after` seconds at least. Returns False, and the
        link is unusable for this reason, when its attempts are used up.
        `counted=False`: this attempt does not count. `contacted=False`: no request was
        made."""
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
        """Note what was learnt about a host: its crawl delay, how many seconds it must
        rest from now and why, its address. Returns whether any of it was new."""
        ...

    def retry_due(self) -> int:
        """Queue links again that failed some time ago; returns how many."""
        ...

    def overlook(self, lease: Lease) -> None:
        """Hold no link back for the page of this lease any longer: it is slow."""
        ...

    def steer(
        self, *, haste: float = 1.0, breadth: float = 0.0, calibrated: bool = False
    ) -> None:
        """Change how the next links are chosen.

        `haste`: 0 keeps to the order of promises and holds links back while better ones
        are expected soon, 1 holds nothing back. `breadth`: 0 has no preference between
        hosts, 1 visits the least visited of the best hosts first. `calibrated`:
        promises are probabilities, so they can be compared.
        """
        ...

    def counts(self) -> Counts:
        """The numbers of links and hosts by state; cheap."""
        ...

    async def flush(self) -> None:
        """Write everything in memory to the transaction; the caller commits it."""
        ...

    def close(self) -> None:
        """Let every waiting `take` return None; open leases stay valid."""
        ...
