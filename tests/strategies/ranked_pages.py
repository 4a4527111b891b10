"""Pages, links and leases made by hand, for the tests of strategies."""

from collections.abc import Iterable, Mapping, Sequence

from opilio.protocols import Strategy
from opilio.records import (
    NOTHING,
    Block,
    Counted,
    Knowledge,
    Lease,
    Link,
    LinkTerms,
    Page,
    Ranked,
    Subject,
    Verdict,
)
from opilio.strategies import load_strategy, strategies
from opilio.text.urls import fingerprint


def strategy(name: str, weights: Mapping[str, float], **options: object) -> Strategy:
    """The strategy of that name, for a topic with these weights."""
    made = load_strategy(strategies()[name])
    return made(made.Options(**options), Knowledge(subject=Subject(weights=weights)))


def link(
    name: str,
    *,
    anchor: Counted = NOTHING,
    around: Counted = NOTHING,
    url: Counted = NOTHING,
    block: int = 0,
) -> Link:
    """The link http://web.test/NAME with these terms."""
    terms = LinkTerms(anchor, around, url)
    address = f"http://web.test/{name}"
    return Link(
        address,
        fingerprint(address),
        block=block,
        terms=None if terms == LinkTerms() else terms,
    )


def page(
    links: Iterable[Link | str],
    *,
    blocks: Sequence[Block] = (),
    terms: Mapping[str, int] | None = None,
    norm: float = 0.0,
) -> Page:
    """A page with these links, or links of these names that have no terms."""
    return Page(
        url="http://web.test/",
        title="",
        language="en",
        charset="utf-8",
        words=100,
        terms=terms or {},
        norm=norm,
        simhash=0,
        links=[link(one) if isinstance(one, str) else one for one in links],
        blocks=blocks,
    )


def lease(name: str, *, depth: int = 0, level: int = 0) -> Lease:
    """The right to visit http://web.test/NAME."""
    url = f"http://web.test/{name}"
    return Lease(1, url, fingerprint(url), "web.test", 0.5, depth=depth, level=level)


def verdict(score: float, relevant: bool | None = None) -> Verdict:
    """A verdict; relevant if the score is at least a half, unless told."""
    return Verdict(score, score >= 0.5 if relevant is None else relevant)


def promises(ranked: Iterable[Ranked]) -> dict[str, float]:
    """The last part of each address -> its promise; links not wanted are left out."""
    return {name(one): one.promise for one in ranked if not one.reason}


def reasons(ranked: Iterable[Ranked]) -> dict[str, str]:
    """The last part of each address -> why the link is not wanted."""
    return {name(one): one.reason for one in ranked}


def name(ranked: Ranked) -> str:
    """The last part of the address of a link."""
    return ranked.link.url.rpartition("/")[2]
