"""The interface of the storage behind a frontier: rows of links and hosts."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

import msgspec

from opilio.frontier.hosts import RegisteredDomain
from opilio.records import Fingerprint, Parts, PartsText, State

NOT_TOLD = "{}"  # kept for a link that was revised, nobody said by what

_json = msgspec.json.Encoder().encode


class LinkRow(NamedTuple):
    """A link as it is stored: the columns of the table `link`, in their order."""

    id: int
    url: str
    fingerprint: Fingerprint
    host: int
    template: int
    state: str
    reason: str | None
    promise: float
    level: int
    depth: int
    redirects: int
    attempts: int
    found_on: int
    anchor: str | None
    parts: str | None

    def improved(self, better: PromiseEvidence) -> LinkRow:
        """The link with better evidence, waiting; the smallest depth is kept."""
        new = better._asdict()
        if better.template is None:
            new["template"] = self.template
        new["depth"] = min(self.depth, better.depth)
        return self._replace(**new, state=State.WAITING.value, reason=None)


Cells = tuple[int | float | str | None, ...]
"""A LinkRow as a plain tuple, which SQLite stores at two thirds of the cost."""


class PromiseEvidence(NamedTuple):
    """Where a link was found, and the promise that it has because of that."""

    template: int | None  # None: unchanged
    promise: float
    level: int
    depth: int
    redirects: int
    found_on: int
    anchor: str | None
    parts: str | None
    id: int

    def after(self, before: PromiseEvidence) -> PromiseEvidence:
        """This evidence as it stands after an earlier one that was not stored."""
        template = before.template if self.template is None else self.template
        return self._replace(template=template, depth=min(self.depth, before.depth))


NewPromise = tuple[int, float, Parts | PartsText | None]
"""The id of a link, what it promises, and the parts of that, if they are told."""


def parts_text(parts: Parts | PartsText | None) -> PartsText:
    """The parts of a promise as they are kept."""
    if isinstance(parts, str):
        return parts
    return NOT_TOLD if parts is None else _json(parts).decode()


class Ledger(Protocol):
    """Stores rows by id; hosts are numbered from 1 as well."""

    def append(self, rows: list[Cells]) -> None:
        """Store new links."""
        ...

    def read(self, id: int) -> LinkRow:
        """A link as it is stored now."""
        ...

    def improve(self, evidence: list[PromiseEvidence]) -> None:
        """Queue links with this evidence; the smallest depth is kept."""
        ...

    def revise(self, promises: list[NewPromise]) -> None:
        """Give links new promises."""
        ...

    def settle(self, id: int, state: State, reason: str, tries: int) -> None:
        """Change the state of a link, and add to its attempts."""
        ...

    def parked(self, reason: str, hosts: Collection[int]) -> list[int]:
        """The links of these hosts that were parked for a reason."""
        ...

    def add_host(self, number: int, name: str, domain: str) -> None:
        """Store a new host."""
        ...

    def visited(self, number: int) -> None:
        """Count a visit to a host."""
        ...

    def pace(
        self, number: int, delay: float | None, rest_until: float | None, ip: str | None
    ) -> None:
        """Store the given values of a host; its rest ends at a wall-clock time."""
        ...

    def rest(self, number: int, why: str) -> None:
        """Store why a host rests."""
        ...

    def save_standing(self, domain: RegisteredDomain) -> None:
        """Store who supports a domain."""
        ...

    def save_words(self, domain: str, stale: int, words: bytes) -> None:
        """Store the words of a domain, and how many of its pages repeat them."""
        ...

    def schedule(self, id: int, due: float) -> None:
        """Store when a link is tried again, by the wall clock."""
        ...

    def unschedule(self, ids: list[int]) -> None:
        """Forget when links are tried again."""
        ...

    def scheduled(self) -> list[tuple[float, int]]:
        """The times and ids of links that are tried again."""
        ...

    def save_silent(self, host: int, since: float | None) -> None:
        """Store since when a host is silent, by the wall clock; None: it is not."""
        ...

    def silent_hosts(self) -> dict[int, float]:
        """The silent hosts, and since when they are."""
        ...

    def flush(self, *, last: bool) -> None:
        """Write everything in memory to the transaction; `last`: the crawl ends."""
        ...
