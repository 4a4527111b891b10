"""A web in a few words for the frontier's tests, and a clock that obeys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import Lease, Link, Ranked, State
from opilio.stage_protocols import Frontier
from opilio.text.urls import fingerprint

Make = Callable[..., Frontier]
Open = Callable[..., SqliteFrontier]


class HandClock:
    """Time that passes when it is told to."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


def url_of(name: str) -> str:
    """`a/1` as a URL on the host a.test."""
    host, _, path = name.partition("/")
    return f"http://{host}.test/{path}"


def found(
    name: str,
    promise: float = 0.5,
    reason: str = "",
    anchor: str = "",
    parts: Mapping[str, float] | None = None,
    **more: Any,
) -> Ranked:
    url = url_of(name)
    link = Link(url, fingerprint(url), anchor)
    return Ranked(link, promise, parts or {}, reason=reason, **more)


async def take_now(frontier: Frontier) -> Lease | None:
    """What may be had without waiting."""
    task = asyncio.ensure_future(frontier.take())
    await asyncio.sleep(0)
    if not task.done():
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return None
    return task.result()


async def take(frontier: Frontier) -> Lease:
    """What must be to be had without waiting."""
    lease = await take_now(frontier)
    assert lease is not None, "nothing may be visited now"
    return lease


def name_of(lease: Lease | None) -> str:
    """`a/1` of http://a.test/1; "" of no lease."""
    return lease.url.removeprefix("http://").replace(".test/", "/") if lease else ""


async def drain(frontier: Frontier) -> list[str]:
    """Visit all that may be visited without waiting."""
    names = []
    while lease := await take_now(frontier):
        names.append(name_of(lease))
        await frontier.done(lease, State.KEPT)
    return names
