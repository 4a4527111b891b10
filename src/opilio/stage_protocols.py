"""The interfaces between the stages of a crawl: fetch, readers, frontier, profiles …

`protocols.py` has those of judges and strategies, which users write themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from opilio.progress import Counts
from opilio.protocols import Judge
from opilio.records import (
    Fingerprint,
    Headers,
    Lease,
    Link,
    MainText,
    Page,
    Ranked,
    Reading,
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

    def beyond_room(self, links: Sequence[Link], host: str) -> Collection[int]:
        """The places of the links of a page of this host that the strategy need not
        look at: new ones to the site itself, of which enough wait."""
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
