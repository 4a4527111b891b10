"""The interfaces of judges, strategies, advisers and seed sources, as protocols.

Any object with these methods will do; `records.py` has the records they exchange, and
`stage_protocols.py` the interfaces of the other stages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from opilio.progress import Estimate
from opilio.records import (
    Fingerprint,
    Lease,
    Page,
    Ranked,
    Reads,
    Response,
    Revision,
    State,
    Subject,
    Verdict,
)


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
    addresses. Follows redirects; raises FetchError, also for an answer such as 404."""


class SeedSource(Protocol):
    """Names pages to start a crawl from. Asked once, when the crawl begins."""

    async def find(self, request: SeedRequest) -> Iterable[str]:
        """URLs, the best first."""
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
class MeasuresWaiting(Protocol):
    """A strategy that measures links by what waits. It is not shown thousands of links
    of one domain, beside which those of others would all look alike."""

    measures_waiting: bool


@runtime_checkable
class Publishing(Protocol):
    """A judge or strategy that can pass on what it learnt from all pages, to others of
    its kind. Evidence of links and of their hosts is no part of that."""

    def publish(self) -> bytes:
        """What was learnt."""
        ...

    def adopt(self, model: bytes) -> None:
        """Replace what was learnt by what another has published; a strategy then scores
        what waits again."""
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
