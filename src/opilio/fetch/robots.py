"""Fetches, caches and applies robots.txt by RFC 9309, including its rules for errors.

response                            consequence                      fetched again
2xx                                 its rules                        in 24 hours
3xx                                 up to 5 hops, to any host
4xx, no usable or too many hops     unavailable: all is allowed      in 24 hours
429, 5xx, network, cut short        unreachable: nothing is allowed  in 1 min … 1 h
the same for 30 days                the last copy, if any, or all    in 1 h
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakValueDictionary

import ada_url
import msgspec

from opilio.errors import Transient, Unusable
from opilio.records import Clock, Response, RobotsRecord
from opilio.text import urls

if TYPE_CHECKING:
    from opilio.fetch.host_turns import HostTurns
    from opilio.fetch.robots_rules import RobotRules

UNREACHED = "robots_unreachable"
RULES, UNAVAILABLE, UNREACHABLE = "rules", "unavailable", "unreachable"

DAY = 86_400.0
PATIENCE = 30 * DAY  # unreachable for this long, the last copy is used again
FIRST_WAIT, LONGEST_WAIT = 60.0, 3600.0
MAX_HOPS = 5
HOP_LIFE = 600.0  # seconds that the target of a redirect is remembered
MAX_HOP_RESPONSES = 32
MAX_BYTES = 512 * 1024  # RFC 9309 asks for 500 KiB at least
BIG = 16 * 1024  # bytes; more are parsed in a thread
CACHED_ORIGINS = 4096
CACHED_RULES = 200_000  # of about 150 bytes each
# With these reasons the host answered; with others it did not.
UNREADABLE = frozenset(("bad_encoding", "bad_http", "too_many_headers"))


T = TypeVar("T")


class GetRobots(Protocol):
    """One guarded request, redirects not followed; raises Transient or Unusable."""

    async def __call__(self, url: str, *, max_bytes: int) -> Response: ...


class RobotsMemory(Protocol):
    """Stores records across restarts."""

    def load(self, origin: str) -> RobotsRecord | None: ...

    def save(self, record: RobotsRecord) -> None: ...


class RobotsRules(msgspec.Struct, frozen=True):
    """The rules of an origin for us."""

    parsed: RobotRules | None  # None: everything
    fresh: bool = False  # this very call made the request
    ip: str = ""  # the address that answered it

    def allows(self, url: str) -> bool:
        """Whether this URL may be visited."""
        return self.parsed is None or self.parsed.allows(url)

    @property
    def delay(self) -> float | None:
        """Seconds the origin wants between two visits (Crawl-delay)."""
        return None if self.parsed is None else self.parsed.delay


class Robots:
    """The rules of every origin, fetched once a day and cached in between."""

    def __init__(
        self,
        get: GetRobots,
        memory: RobotsMemory,
        user_agent: str,
        now: Clock = time.time,
        *,
        pause: float = 0.0,
        turns: HostTurns | None = None,
    ) -> None:
        self.get = get
        self.memory = memory
        self.token = product_token(user_agent)
        self.pause = pause  # seconds between two requests to one host
        self.turns = turns or own_turns(pause)  # of hosts that redirects lead to
        self.hops: OrderedDict[str, Response] = OrderedDict()  # what they led to
        self.now = now  # seconds since 1970: records outlive the process
        self.cache: OrderedDict[str, tuple[RobotsRecord, RobotRules | None]] = (
            OrderedDict()
        )
        self.cached_rules = 0
        # Each lock lives as long as it is held or waited for.
        self.locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def rules(self, origin: str) -> RobotsRules:
        """The rules of `scheme://host[:port]`; Transient while unreachable."""
        known = self.cache.get(origin)
        if known and self.holds(known[0]):
            self.cache.move_to_end(origin)
            return self.answer(*known)
        lock = self.locks.setdefault(origin, asyncio.Lock())
        async with lock:
            known = self.cache.get(origin)  # perhaps fetched by the last holder
            if known and self.holds(known[0]):
                return self.answer(*known)
            last = self.memory.load(origin)
            if last and was_for_another(last, self.token):
                last = None
            if last is not None and self.holds(last):
                return self.answer(last, await self.keep(last))
            ip = ""
            try:
                record, ip = await self.ask(origin)
            except Transient as error:
                if error.reason != UNREACHED:
                    raise  # no response at all: the host is silent
                record = self.failed(origin, last, error)
            self.memory.save(record)
            rules = self.answer(record, await self.keep(record), fresh=True)
            return msgspec.structs.replace(rules, ip=ip)

    def holds(self, record: RobotsRecord) -> bool:
        """Whether a record is still valid; not if the clock was set back meanwhile."""
        return self.now() < record.expires_at <= self.now() + DAY

    def answer(
        self, record: RobotsRecord, parsed: RobotRules | None, *, fresh: bool = False
    ) -> RobotsRules:
        """The rules of a record; Transient while it is unreachable."""
        now = self.now()
        if record.status == UNREACHABLE and now - record.fetched_at < PATIENCE:
            raise Transient(
                UNREACHED,
                f"{record.origin}/robots.txt could not be fetched {record.failures} "
                "times in a row; nothing there may be visited until it can",
                after=record.expires_at - now,
                counted=False,
                host_rests=True,
                contacted=fresh,
            )
        return RobotsRules(parsed, fresh)

    async def keep(self, record: RobotsRecord) -> RobotRules | None:
        """Parse a record and cache both, dropping the least recently used ones."""
        parsed = None
        if record.body:
            from opilio.fetch.robots_rules import read_rules  # with the first file

            parsed = await self.off_loop(read_rules, record.body)
        self.forget(record.origin)
        self.cache[record.origin] = record, parsed
        self.cached_rules += parsed.size if parsed else 0
        while len(self.cache) > CACHED_ORIGINS or (
            self.cached_rules > CACHED_RULES and len(self.cache) > 1
        ):
            self.forget(next(iter(self.cache)))
        return parsed

    def forget(self, origin: str) -> None:
        """Drop the rules of an origin from memory."""
        _, parsed = self.cache.pop(origin, (None, None))
        self.cached_rules -= parsed.size if parsed else 0

    async def off_loop(self, work: Callable[[bytes, str], T], body: bytes) -> T:
        """Do something with a file, in a thread if it is big."""
        if len(body) <= BIG:
            return work(body, self.token)
        return await asyncio.to_thread(work, body, self.token)

    async def ask(self, origin: str) -> tuple[RobotsRecord, str]:
        """Request the file; Transient if the origin counts as unreachable.

        Also returns the address of the origin.
        """
        url, status, body, ip = f"{origin}/robots.txt", UNAVAILABLE, b"", ""
        for hop in range(MAX_HOPS + 1):
            try:
                response = (
                    await self.follow(origin, url)
                    if hop
                    else await self.get(url, max_bytes=MAX_BYTES)
                )
            except Unusable as error:
                if hop == 0 and error.reason not in UNREADABLE:
                    raise  # it is the origin itself that cannot be visited
                raise unreachable(url, str(error)) from error
            refuse_failures(response)
            ip = ip or response.ip
            if response.status < 300:
                status = RULES
                from opilio.fetch.robots_rules import reduce_file

                body = await self.off_loop(reduce_file, cut(response.body))
            if response.status // 100 != 3:
                break
            url = target(response)
            if not url:
                break
        now = self.now()
        return RobotsRecord(origin, status, now, now + DAY, body), ip

    async def follow(self, origin: str, url: str) -> Response:
        """Request the target of a redirect, when the turn of its host comes.

        Many hosts may redirect to one. What one of them was led to holds for the
        others, too.
        """
        host = urls.host(url)
        if host == urls.host(f"{origin}/"):  # the caller has its turn
            await asyncio.sleep(self.pause)
            return await self.get(url, max_bytes=MAX_BYTES)
        async with self.locks.setdefault(url, asyncio.Lock()):
            known = self.hops.get(url)
            if known and 0 <= self.now() - known.fetched_at < HOP_LIFE:
                return known
            async with self.turns.turn_at(host) as may_request:
                if not may_request:
                    raise unreachable(url, f"{host} is too busy to be asked for it")
                response = await self.get(url, max_bytes=MAX_BYTES)
            self.hops[url] = response
            if len(self.hops) > MAX_HOP_RESPONSES:
                self.hops.popitem(last=False)
            return response

    def failed(
        self, origin: str, last: RobotsRecord | None, error: Transient
    ) -> RobotsRecord:
        """Count a failure: try again after twice the time, an hour at most."""
        now, since, failures = self.now(), self.now(), 1
        if last is not None and last.status == UNREACHABLE:
            since, failures = min(last.fetched_at, now), last.failures + 1
        wait = max(error.after, FIRST_WAIT * 2.0 ** min(failures - 1, 10))
        return RobotsRecord(
            origin,
            UNREACHABLE,
            since,
            now + min(wait, LONGEST_WAIT),
            last.body if last else b"",
            failures,
        )


def own_turns(pause: float) -> HostTurns:
    """Clocks for callers without a frontier."""
    from opilio.fetch.host_turns import OwnTurns

    return OwnTurns(pause)


def refuse_failures(response: Response) -> None:
    """Raise Transient for a response that counts as unreachable."""
    status = response.status
    if status == 429 or status >= 500 or status < 200:
        after = response.header("retry-after")
        raise unreachable(
            response.url, f"status {status}", float(after) if after.isdecimal() else 0.0
        )
    if status < 300 and response.truncated in ("time", "disconnect"):
        raise unreachable(response.url, f"cut short ({response.truncated})")


def unreachable(url: str, trouble: str, after: float = 0.0) -> Transient:
    """The error for an unreachable robots.txt, which is caught and counted."""
    return Transient(UNREACHED, f"{url}: {trouble}", after=after)


def target(response: Response) -> str:
    """The target of a redirect; "" if it is not one to follow."""
    location = response.location
    try:
        url = ada_url.join_url(response.url, location) if location else ""
    except ValueError:
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def product_token(user_agent: str) -> str:
    """`opilio/1.0 (…)` as `opilio`, our name in robots.txt files."""
    found = re.match(r"[a-z_-]+", user_agent.strip(), re.IGNORECASE)
    return found[0].lower() if found else "opilio"


def cut(body: bytes) -> bytes:
    """At most 512 KiB, cut at the end of a line."""
    if len(body) < MAX_BYTES:
        return body
    head = body[:MAX_BYTES]
    return head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]


def was_for_another(record: RobotsRecord, token: str) -> bool:
    """Whether a stored robots.txt was reduced for another crawler than this one."""
    from opilio.fetch.robots_rules import is_for_another

    return is_for_another(record.body, token)
