"""Fetches URLs from the network if robots.txt allows it, and backs off from
failures."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Iterable
from typing import NamedTuple, Protocol, TypeVar

from opilio import settings
from opilio.errors import BadInput, FetchError, Transient, Unusable
from opilio.fetch.answers import (
    is_retried,
    refuse_other_types,
    refuse_unusable,
    retry_after,
)
from opilio.fetch.egress import Egress
from opilio.fetch.outage import Outage
from opilio.records import Clock, Headers, Response
from opilio.text import urls

UNCHANGED = 304
OVERLOADED = frozenset((429, 503))  # the host asks for rest, not this page alone
REMEMBERED_HOSTS = 20_000
FIRST_WAIT = 10  # times the delay; doubled with every failure in succession
# A host is dead after this many failures without a success in between: a response that
# asks to retry counts once, silence or an unreachable robots.txt twice. Its other links
# are then parked, so that a crawl does not wait for ever.
DEAD_AFTER = 8
LATER, SILENCE = 1, 2
# Failures that prove that the network works.
ANSWERS = frozenset(("refused", "robots_unreachable", "tls"))
OFFLINE_REST = 30.0  # seconds between two attempts at a host while offline

V = TypeVar("V")


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


class Trouble(NamedTuple):
    """Failures of a host since its last success."""

    times: int
    weight: int


NO_TROUBLE = Trouble(0, 0)


class HttpFetch:
    """Fetches from the network; keeps count of each host's failures in a row."""

    def __init__(
        self,
        egress: Egress,
        robots: AskedRobots,
        politeness: settings.PolitenessSettings,
        settings: settings.FetchSettings,
        learn: Learn,
        *,
        now: Clock = time.monotonic,
    ) -> None:
        self.egress = egress
        self.robots = robots
        self._politeness = politeness
        self._settings = settings
        self._learn = learn
        self._failures: OrderedDict[str, Trouble] = OrderedDict()
        self._addresses: OrderedDict[str, str] = OrderedDict()
        self._delays: OrderedDict[str, float] = OrderedDict()
        self._outage = Outage(politeness.max_rest, now)

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """The page or redirect at a URL; a 304 if the validators asked for one."""
        host = urls.host(url)
        self._refuse_dead(host)
        try:
            await self._look_up(url, host)
            await self._ask_robots(url, host)
            response = await self.egress.get(
                url,
                headers=validators,
                max_bytes=self._settings.max_bytes,
                accept=refuse_other_types,
            )
        except Unusable as error:
            if error.contacted:
                self._outage.answer(host)  # though not with a page
            raise
        except Transient as error:
            if error.reason == "proxy" and not self._outage.was_there:
                raise BadInput(
                    f"the proxy {urls.redact(self._settings.proxy)} does not work "
                    f"({error}); check --proxy"
                ) from error
            if error.reason == "robots_first":
                self._outage.answer(host)
            if error.reason in ("address_first", "robots_first"):
                raise
            raise self._backed_off(host, error) from error
        self._outage.answer(host)
        await self._remember_address(host, response.ip)
        if is_retried(response.status):
            raise self._postponed(host, response)
        self._failures.pop(host, None)
        if not (validators and response.status == UNCHANGED):
            refuse_unusable(response)
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

    def _refuse_dead(self, host: str) -> None:
        trouble = self._failures.get(host, NO_TROUBLE)
        if trouble.weight >= DEAD_AFTER:
            raise Unusable(
                "dead_host",
                f"{host} failed {trouble.times} times in a row",
                contacted=False,
            )

    def _backed_off(self, host: str, error: Transient) -> FetchError:
        """The same error with a waiting time that grows with every failure."""
        if error.reason not in ANSWERS:
            self._outage.silence(host, by_proxy=error.reason == "proxy")
        elif error.contacted:
            self._outage.answer(host)
        if self._outage.is_on:
            return self._while_away(host, error)
        failures = self._count_failure(host, SILENCE)
        return Transient(
            error.reason,
            str(error),
            after=max(error.after, self._wait(failures)),
            counted=error.counted,
            host_rests=error.host_rests or failures > 1,
            contacted=error.contacted,
        )

    def _while_away(self, host: str, error: Transient) -> FetchError:
        """The error while our own network is down. The attempt is not counted; after
        too long, the link waits for the next run."""
        if self._outage.is_hopeless:
            times = self._failures.get(host, NO_TROUBLE).times
            remember(self._failures, host, Trouble(times + 1, DEAD_AFTER))
            return Unusable(
                "dead_host",
                f"no host could be reached for too long, {host} last: {error}",
                contacted=error.contacted,
            )
        return Transient(
            "proxy" if error.reason == "proxy" else "offline",
            f"no host answers, {host} last ({error}); check the network",
            after=error.after or OFFLINE_REST,
            counted=False,
            host_rests=True,
            contacted=error.contacted,
        )

    def _postponed(self, host: str, response: Response) -> Transient:
        """The error for a response that asks to retry later."""
        status = response.status
        wait = self._wait(self._count_failure(host, LATER))
        asked = retry_after(response)
        if asked is not None:
            wait = min(max(asked, self._politeness.delay), self._politeness.max_rest)
        return Transient(
            f"http_{status}",
            f"{response.url} answered {status}",
            after=wait,
            host_rests=status in OVERLOADED,
        )

    def _count_failure(self, host: str, weight: int) -> int:
        times, so_far = self._failures.get(host, NO_TROUBLE)
        remember(self._failures, host, Trouble(times + 1, so_far + weight))
        return times + 1

    def _wait(self, failures: int) -> float:
        first = FIRST_WAIT * max(self._politeness.delay, 0.1)
        return min(first * 2.0 ** min(failures - 1, 20), self._politeness.max_rest)


def remember(memory: OrderedDict[str, V], host: str, value: V) -> None:
    """Store a value for a host, and forget the host stored longest ago."""
    memory[host] = value
    memory.move_to_end(host)
    if len(memory) > REMEMBERED_HOSTS:
        memory.popitem(last=False)
