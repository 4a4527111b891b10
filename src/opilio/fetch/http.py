"""Fetches the page or redirect at a URL, if robots.txt allows it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from opilio import settings
from opilio.errors import BadInput, Transient, Unusable
from opilio.fetch.answers import WantedBody, is_retried, refuse_unusable
from opilio.fetch.back_off import BackOff, remember
from opilio.fetch.egress import Egress
from opilio.records import Clock, Headers, Response
from opilio.text import urls

if TYPE_CHECKING:
    from opilio.fetch.tdm_files import TdmFiles

UNCHANGED = 304
Keep = Callable[[Response], None]
"""Takes every response that is final: pages, redirects and errors."""


class ParsedRobots(Protocol):
    """A parsed robots.txt file."""

    @property
    def sitemaps(self) -> Iterable[str]: ...


class AskedRules(Protocol):
    """The rules in the robots.txt of an origin."""

    @property
    def parsed(self) -> ParsedRobots | None: ...

    @property
    def fresh(self) -> bool: ...

    @property
    def ip(self) -> str: ...

    @property
    def delay(self) -> float | None: ...

    def allows(self, url: str) -> bool: ...


class AskedRobots(Protocol):
    """Fetches or remembers robots.txt; raises Transient while it is unreachable."""

    async def rules(self, origin: str) -> AskedRules: ...


class Learn(Protocol):
    """Notes the delay and address of a host; returns whether that was new."""

    def __call__(
        self, host: str, *, delay: float | None = None, ip: str | None = None
    ) -> Awaitable[bool | None]: ...


class HttpFetch:
    """Fetches from the network, robots.txt first."""

    def __init__(
        self,
        egress: Egress,
        robots: AskedRobots,
        politeness: settings.PolitenessSettings,
        settings: settings.FetchSettings,
        learn: Learn,
        *,
        documents: settings.DocumentSettings = settings.DOCUMENTS,
        keep: Keep | None = None,
        tdm: TdmFiles | None = None,
        now: Clock = time.monotonic,
    ) -> None:
        self.keep = keep
        self.egress = egress
        self.robots = robots
        self.tdm = tdm  # fetches tdmrep.json, if reservations matter
        self._politeness = politeness
        self._settings = settings
        self._documents = documents
        self._learn = learn
        self._addresses: OrderedDict[str, str] = OrderedDict()
        self._delays: OrderedDict[str, float] = OrderedDict()
        self._back_off = BackOff(politeness, now)
        self._outage = self._back_off.outage

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """The page or redirect at a URL; a 304 if the validators asked for one."""
        host = urls.host(url)
        wanted = WantedBody(url, self._documents, self._settings.max_bytes)
        self._back_off.refuse_dead(host)
        try:
            await self._look_up(url, host)
            await self._ask_robots(url, host)
            if self.tdm:
                await self.tdm.ask_first(url)
            response = await self.egress.get(
                url,
                headers=validators,
                max_bytes=wanted.limit,
                accept=wanted.refuse,
            )
        except Unusable as error:
            if error.contacted:
                self._outage.answer(host)  # though not with a page
            raise
        except Transient as error:
            if error.reason == "proxy" and not self._outage.was_there:
                raise BadInput(
                    f"the proxy {urls.redact(self._settings.proxy)} does not work "
                    f"({error}); check --proxy. A crawl continues through the proxy "
                    "it was made with; that of `opilio demo` ends with the demo"
                ) from error
            if error.reason in ("robots_first", "tdmrep_first"):
                self._outage.answer(host)
            if error.reason in ("address_first", "robots_first", "tdmrep_first"):
                raise
            raise self._back_off.after_failure(host, error) from error
        self._outage.answer(host)
        await self._remember_address(host, response.ip)
        if is_retried(response.status):
            raise self._back_off.after_response(host, response)
        self._back_off.succeeded(host)
        if self.keep and not validators:
            self.keep(response)
        if not (validators and response.status == UNCHANGED):
            refuse_unusable(response, self._documents)
        return response

    async def close(self) -> None:
        """Close every connection."""
        await self.egress.close()

    async def _look_up(self, url: str, host: str) -> None:
        """Return if the host may be requested now, as far as its address goes.

        Many hosts may share one address. The address of a new host is reported before
        the host is requested, and its link waits for that address.
        """
        if host in self._addresses or not self._politeness.ip_delay:
            return
        if await self._remember_address(host, await self.egress.locate(url)):
            raise Transient(
                "address_first",
                f"{url} waits: its host was looked up just now",
                after=0.0,
                counted=False,
                contacted=False,
            )

    async def _ask_robots(self, url: str, host: str) -> None:
        """Return if robots.txt allows the URL and is known already.

        Requesting robots.txt counts as a visit, after which the host rests as usual.
        The page has to wait for a later lease; the host's delay is known by then.
        """
        rules = await self.robots.rules(urls.origin(url))
        if rules.ip:
            await self._remember_address(host, rules.ip)
        if rules.delay is not None:
            await self._remember_delay(host, rules.delay)
        if not rules.allows(url):
            raise Unusable("robots", f"robots.txt forbids {url}", contacted=rules.fresh)
        if rules.fresh:
            raise Transient(
                "robots_first",
                f"{url} waits: robots.txt was fetched just now",
                after=0.0,
                counted=False,
            )

    async def _remember_delay(self, host: str, delay: float) -> None:
        delay = min(delay, self._politeness.max_delay)
        if self._delays.get(host) != delay:
            remember(self._delays, host, delay)
            await self._learn(host, delay=delay)

    async def _remember_address(self, host: str, ip: str) -> bool:
        """Report the address of a host, if it changed; returns whether it was new."""
        if not ip or self._addresses.get(host) == ip:
            return False
        remember(self._addresses, host, ip)
        return bool(await self._learn(host, ip=ip))
