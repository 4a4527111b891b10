"""Looks up the addresses of hosts in threads, and caches them.

Some name servers never answer, and the system waits long for them. So the hosts of one
domain get a few threads only, and a look-up that waits for a thread does not fail.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol
from weakref import WeakValueDictionary

from opilio.errors import FetchError, Transient, Unusable
from opilio.records import Clock
from opilio.text import urls

MAX_ADDRESSES = 8  # of one host; some answer with a thousand
CACHED_HOSTS = 20_000
GOOD_FOR = 300.0  # seconds; the system does not tell us the record's time to live
BAD_FOR = 3600.0  # a name that does not exist
DOUBTFUL_FOR = 60.0  # a name server that does not answer
PATIENCE = 15.0  # seconds for one look-up
THREADS = 32  # the system's resolver blocks
PER_DOMAIN = 4  # threads for hosts of one registrable domain

NO_SUCH_NAME = frozenset(
    getattr(socket, name)
    for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")
    if hasattr(socket, name)
)

Lookup = Callable[[str, int], Sequence[str]]
"""Blocks; raises socket.gaierror."""

Answer = Sequence[str] | OSError | UnicodeError
"""The addresses of a host, or the error of looking them up."""


class Resolver(Protocol):
    """Finds the addresses of a host; raises Unusable "dns", Transient "dns_temporary".

    An address may name another port to connect to, as in `127.0.0.1:8080`.
    """

    async def resolve(self, host: str, port: int) -> Sequence[str]: ...


class SystemResolver:
    """Asks the system's resolver in threads, once at a time per host."""

    def __init__(
        self,
        lookup: Lookup | None = None,
        now: Clock = time.monotonic,
        capacity: int = CACHED_HOSTS,
    ) -> None:
        self._lookup = lookup or ask_system
        self._now = now
        self._capacity = capacity
        self._known: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._asked: dict[str, asyncio.Task[Answer]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="dns")
        self._free = asyncio.Semaphore(THREADS)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host, at most eight."""
        until, answer = self._known.get(host, (0.0, ()))
        if self._now() >= until:
            asked = self._asked.get(host)
            if asked is None:
                asked = asyncio.create_task(self._ask(host, port))
                self._asked[host] = asked
            answer = await asyncio.shield(asked)  # others may wait for it too
        if isinstance(answer, Exception):
            raise explain_lookup(host, answer)
        return answer

    async def _ask(self, host: str, port: int) -> Answer:
        good_for = GOOD_FOR
        answer: Answer
        try:
            found = await self._look_up(host, port)
            answer = tuple(dict.fromkeys(found))[:MAX_ADDRESSES]
        except (OSError, UnicodeError) as error:  # a TimeoutError is an OSError
            answer = error
            good_for = BAD_FOR if means_no_such_name(error) else DOUBTFUL_FOR
        finally:
            del self._asked[host]
        self._known[host] = (self._now() + good_for, answer)
        self._known.move_to_end(host)
        if len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return answer

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        """Ask in a thread, when it is the turn of the domain and a thread is free."""
        loop, domain = asyncio.get_running_loop(), urls.domain(host)
        turn = self._turns.get(domain)
        if turn is None:
            turn = self._turns[domain] = asyncio.Semaphore(PER_DOMAIN)
        async with asyncio.timeout(PATIENCE):  # its other hosts are not answered
            await turn.acquire()
        try:
            await self._free.acquire()
        except BaseException:
            turn.release()
            raise
        asked = self._threads.submit(self._lookup, host, port)

        def leave() -> None:
            turn.release()
            self._free.release()

        def end(_: object) -> None:  # only then is the thread free, not when we give up
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(leave)

        asked.add_done_callback(end)
        async with asyncio.timeout(PATIENCE):
            return await asyncio.wrap_future(asked)

    async def close(self) -> None:
        """Release the threads; one that still waits for an answer ends with it."""
        for asked in self._asked.values():
            asked.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)


def ask_system(host: str, port: int) -> Sequence[str]:
    """The addresses that the system knows, in its order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def means_no_such_name(error: OSError | UnicodeError) -> bool:
    """Whether the host certainly does not exist. Python itself refuses odd labels."""
    return isinstance(error, UnicodeError) or error.errno in NO_SUCH_NAME


def explain_lookup(host: str, error: OSError | UnicodeError) -> FetchError:
    """What a failed look-up means for the links of this host."""
    if means_no_such_name(error):
        return Unusable("dns", f"{host} does not exist", contacted=False)
    return Transient(
        "dns_temporary",
        f"looking up {host} failed: {str(error) or 'no answer'}",
        after=DOUBTFUL_FOR,
        contacted=False,
    )
