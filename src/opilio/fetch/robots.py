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
from typing import Protocol
from weakref import WeakValueDictionary

import ada_url
import msgspec
from protego import Protego

from opilio.errors import Transient, Unusable
from opilio.records import Clock, Response, RobotsRecord

UNREACHED = "robots_unreachable"
RULES, UNAVAILABLE, UNREACHABLE = "rules", "unavailable", "unreachable"

DAY = 86_400.0
PATIENCE = 30 * DAY  # unreachable for this long, the last copy is used again
FIRST_WAIT, LONGEST_WAIT = 60.0, 3600.0
MAX_HOPS = 5
MAX_BYTES = 512 * 1024  # RFC 9309 asks for 500 KiB at least
MAX_LINES = 50_000
BIG = 16 * 1024  # bytes; more are parsed in a thread (100,000 take a tenth of a second)
CACHED_ORIGINS = 4096
CACHED_BYTES = 4 * 2**20  # of files; parsed, each byte takes about 20
# With these reasons the host answered; with others it did not.
UNREADABLE = frozenset(("bad_encoding", "bad_http", "too_many_headers"))

AGENT_LINE = re.compile(r"\s*user[- ]?agent\s*:?\s*(.*)", re.IGNORECASE)
PRODUCT_TOKEN = re.compile(r"\*|[a-z_-]+", re.IGNORECASE)


class GetRobots(Protocol):
    """One guarded request, redirects not followed; raises Transient or Unusable."""

    async def __call__(self, url: str, *, max_bytes: int) -> Response: ...


class RobotsMemory(Protocol):
    """Stores records across restarts."""

    def load(self, origin: str) -> RobotsRecord | None: ...

    def save(self, record: RobotsRecord) -> None: ...


class RobotsRules(msgspec.Struct, frozen=True):
    """The rules of an origin for us."""

    parsed: Protego | None  # None: everything
    token: str
    fresh: bool = False  # this very call made the request
    ip: str = ""  # the address that answered it

    def allows(self, url: str) -> bool:
        """Whether this URL may be visited."""
        return self.parsed is None or self.parsed.can_fetch(url, self.token)

    @property
    def delay(self) -> float | None:
        """Seconds the origin wants between two visits (Crawl-delay)."""
        return None if self.parsed is None else self.parsed.crawl_delay(self.token)


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
    ) -> None:
        self.get = get
        self.memory = memory
        self.token = product_token(user_agent)
        self.pause = pause  # seconds between two requests to one host
        self.now = now  # seconds since 1970: records outlive the process
        self.cache: OrderedDict[str, tuple[RobotsRecord, Protego | None]] = (
            OrderedDict()
        )
        self.cached_bytes = 0
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
        self, record: RobotsRecord, parsed: Protego | None, *, fresh: bool = False
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
        return RobotsRules(parsed, self.token, fresh)

    async def keep(self, record: RobotsRecord) -> Protego | None:
        """Parse a record and cache both, dropping the least recently used ones."""
        if not record.body:
            parsed = None
        elif len(record.body) <= BIG:
            parsed = parse(record.body, self.token)
        else:
            parsed = await asyncio.to_thread(parse, record.body, self.token)
        if record.origin in self.cache:
            self.cached_bytes -= len(self.cache.pop(record.origin)[0].body)
        self.cache[record.origin] = record, parsed
        self.cached_bytes += len(record.body)
        while len(self.cache) > CACHED_ORIGINS or (
            self.cached_bytes > CACHED_BYTES and len(self.cache) > 1
        ):
            _, (forgotten, _) = self.cache.popitem(last=False)
            self.cached_bytes -= len(forgotten.body)
        return parsed

    async def ask(self, origin: str) -> tuple[RobotsRecord, str]:
        """Request the file; Transient if the origin counts as unreachable.

        Also returns the address of the origin.
        """
        url, status, body, ip = f"{origin}/robots.txt", UNAVAILABLE, b"", ""
        for hop in range(MAX_HOPS + 1):
            try:
                response = await self.get(url, max_bytes=MAX_BYTES)
            except Unusable as error:
                if hop == 0 and error.reason not in UNREADABLE:
                    raise  # it is the origin itself that cannot be visited
                raise unreachable(url, str(error)) from error
            refuse_failures(response)
            ip = ip or response.ip
            if response.status < 300:
                status, body = RULES, cut(response.body)
            if response.status // 100 != 3:
                break
            url = target(response)
            if not url:
                break
            if url.startswith(f"{origin}/"):
                await asyncio.sleep(self.pause)  # the same host is requested again
        now = self.now()
        return RobotsRecord(origin, status, now, now + DAY, body), ip

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


def parse(body: bytes, token: str) -> Protego:
    """Parse a file so that only lines for `*` and for exactly our token apply.

    Protego by itself also matches prefixes of our token, but not `opilio/2.0`.
    """
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.splitlines()[:MAX_LINES]
    for number, line in enumerate(lines):
        if agent := AGENT_LINE.fullmatch(line):
            name = PRODUCT_TOKEN.match(agent[1])
            known = name[0].lower() if name else ""
            if known not in (token, "*"):
                known = "someone-else"
            lines[number] = f"User-agent: {known}"
    return Protego.parse("\n".join(lines))
