"""An Egress for tests: loopback allowed, closed at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from opilio.fetch.egress import Egress
from opilio.fetch.limited_response import Limits
from opilio.settings import FetchSettings

LOOPBACK = ("127.0.0.0/8",)


class Names:
    """A resolver that answers from a dictionary or a function, and notes questions."""

    def __init__(self, known: dict[str, Sequence[str]] | Callable[[str], Any]) -> None:
        self.known = known
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.known(host) if callable(self.known) else self.known[host]


@asynccontextmanager
async def opened(
    resolver: Any = None,
    *,
    limits: Limits | None = None,
    ca_file: str = "",
    now: Callable[[], float] = lambda: 1000.0,
    **settings: Any,
) -> AsyncIterator[Egress]:
    """The Egress, as long as the block runs."""
    egress = Egress(
        FetchSettings(**({"allow_networks": LOOPBACK} | settings)),
        resolver or Names(lambda host: ["127.0.0.1"]),
        limits=limits or Limits(),
        ca_file=ca_file,
        now=now,
    )
    try:
        yield egress
    finally:
        await egress.close()
