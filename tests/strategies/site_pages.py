"""Pages, links and leases on several hosts, for the tests of strategies."""

from collections.abc import Mapping, Sequence

from opilio.protocols import Strategy
from opilio.records import (
    Counted,
    Knowledge,
    Lease,
    Link,
    LinkTerms,
    Page,
    Subject,
    Verdict,
)
from opilio.strategies import load_strategy, strategies
from opilio.text.urls import canonical, fingerprint, host

BEES = Subject(weights={"bee": 1.0, "hive": 1.0})


def url(place: str) -> str:
    """`a/b` as http://a.test/b."""
    site, _, path = place.partition("/")
    return canonical(f"http://{site}.test/{path}")


def of(place: str) -> int:
    """The fingerprint of a place."""
    return fingerprint(url(place))


def link(place: str, anchor: str = "", terms: Mapping[str, int] | None = None) -> Link:
    """A link with its anchor, and the topic terms in that."""
    counted = Counted(terms, 1.0) if terms else None
    return Link(
        url(place),
        of(place),
        anchor,
        terms=LinkTerms(anchor=counted) if counted else None,
    )


def make(
    name: str,
    options: Mapping[str, object] | None = None,
    subject: Subject = BEES,
) -> Strategy:
    """The strategy of that name."""
    made = load_strategy(strategies()[name])
    return made(made.Options(**(options or {})), Knowledge(subject=subject))


def lease(place: str, promise: float = 1.0) -> Lease:
    """The right to visit a place."""
    return Lease(1, url(place), of(place), host(url(place)), promise)


def page_at(
    place: str, links: Sequence[Link | str], terms: Mapping[str, int] | None
) -> Page:
    """A page with these links and terms."""
    found = [link(one) if isinstance(one, str) else one for one in links]
    return Page(url(place), "", "en", "utf-8", 9, terms or {}, 3.0, 0, found)


class Crawl:
    """What the frontier would make of a strategy's words: one promise a link."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.waiting: dict[int, float] = {}
        self.places: dict[int, str] = {}
        self.parts: dict[int, Mapping[str, float]] = {}

    def visit(
        self,
        place: str,
        links: Sequence[Link | str] = (),
        score: float = 0.0,
        terms: Mapping[str, int] | None = None,
    ) -> None:
        """A page that has this score, relevant from a half on, and these links."""
        page = page_at(place, links, terms)
        self.waiting.pop(of(place), None)
        verdict = Verdict(score, score >= 0.5)
        for ranked in self.strategy.rank(page, verdict, lease(place)):
            one = ranked.link.fingerprint
            self.places[one] = ranked.link.url[7:].replace(".test", "")
            if not ranked.reason and ranked.promise > self.waiting.get(one, -1e9):
                self.waiting[one] = ranked.promise
                self.parts[one] = ranked.parts
        for one, promise, parts in getattr(self.strategy, "revise", tuple)():
            if one in self.waiting:
                self.waiting[one] = promise
                self.parts[one] = parts

    def rescore(
        self,
        place: str,
        links: Sequence[Link | str],
        score: float,
        terms: Mapping[str, int],
    ) -> None:
        """The same page again, after something else is sought."""
        page, verdict = page_at(place, links, terms), Verdict(score, score >= 0.5)
        for ranked in self.strategy.rescore(page, verdict, lease(place)):
            self.waiting[ranked.link.fingerprint] = ranked.promise

    def promise(self, place: str) -> float:
        """Of a link that waits."""
        return self.waiting[of(place)]

    def next(self) -> str:
        """The place that is visited next; of equal ones the one found first."""
        best = max(self.waiting, key=self.waiting.__getitem__)
        return self.places[best]
