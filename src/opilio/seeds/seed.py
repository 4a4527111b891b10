"""The record of a seed, and the interfaces that seed sources use for requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from opilio.records import Headers, Response

GIVEN, SITEMAP, FEED = "given", "sitemap", "feed"
LISTS = frozenset((SITEMAP, FEED))


class Priority(StrEnum):
    """How many engines found a seed (Kumar & Vig, III.A)."""

    HIGH = "high"  # more than one; or the user
    MEDIUM = "medium"  # one, more than once
    LOW = "low"  # one, once; or only the site itself


class Seed(msgspec.Struct, frozen=True, gc=False):
    """A URL to start from."""

    url: str  # in canonical form
    priority: Priority
    promise: float  # in (0, 1]: more is visited earlier, all of High before any Medium
    sources: tuple[str, ...]  # where it came from: given, brave, sitemap, feed, ...
    ranks: Mapping[str, int] = {}  # engine -> its place among the results, from 1

    @property
    def listed_by_site(self) -> bool:
        """Whether it only comes from its site's own sitemap or feed."""
        return LISTS.issuperset(self.sources)


class EngineDescription(Protocol):
    """The table [seeds.engines.NAME] of a topic file."""

    @property
    def url(self) -> str: ...
    @property
    def links(self) -> str: ...


class SeedSettings(Protocol):
    """The table [seeds] of a topic file."""

    @property
    def urls(self) -> Sequence[str]: ...
    @property
    def search(self) -> Sequence[str]: ...
    @property
    def engines(self) -> Mapping[str, EngineDescription]: ...
    @property
    def query(self) -> str: ...
    @property
    def limit(self) -> int: ...
    @property
    def common(self) -> bool: ...
    @property
    def sitemaps(self) -> bool: ...
    @property
    def feeds(self) -> bool: ...


class Get(Protocol):
    """The one guarded way out: one request, redirects not followed, no robots.txt.

    Raises Transient or Unusable.
    """

    async def __call__(
        self,
        url: str,
        *,
        headers: Headers = (),
        max_bytes: int | None = None,
        form: bytes | None = None,
    ) -> Response: ...


class Site(Protocol):
    """Fetches files of a site, if robots.txt allows it."""

    async def fetch(self, url: str) -> Response:
        """A file of the site, redirects followed; raises Transient or Unusable."""
        ...

    async def sitemaps(self, origin: str) -> Sequence[str]:
        """The sitemaps that robots.txt of an origin names."""
        ...
