"""Waits for the turn of a host, for requests that the frontier gave no lease for."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from math import inf
from typing import Protocol

from opilio.records import Clock

PATIENCE = 10.0  # seconds to wait for a host, and at least two of its delays
REMEMBERED_HOSTS = 10_000


class HostTurns(Protocol):
    """The clocks of hosts. One request at a time waits for a host."""

    def turn_at(self, host: str) -> AbstractAsyncContextManager[bool]:
        """Wait until the host may be requested, for as long as the context is open;
        False if that would take too long."""
        ...


class OwnTurns:
    """Clocks for callers without a frontier: so many seconds between two requests."""

    def __init__(self, delay: float, now: Clock = time.monotonic) -> None:
        self._delay = delay
        self._now = now
        self._free: OrderedDict[str, float] = OrderedDict()  # host -> when it may be

    @asynccontextmanager
    async def turn_at(self, host: str) -> AsyncIterator[bool]:
        """Wait until the host may be requested; False if another request waits."""
        free, now = self._free.pop(host, -inf), self._now()
        if free == inf or free - now > max(PATIENCE, 2 * self._delay):
            self._free[host] = free
            yield False
            return
        self._free[host] = inf
        try:
            await asyncio.sleep(free - now)
            yield True
        finally:
            self._free[host] = self._now() + self._delay
            if len(self._free) > REMEMBERED_HOSTS:
                self._free.popitem(last=False)
