"""A network that goes away is waited for, but not for ever; dead hosts are not taken
for it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import count

import pytest

from fetch.hostile_server import Connection, HostileServer, answer, saying, serve
from fetch.local_egress import Names, opened
from opilio.errors import FetchError, Transient, Unusable
from opilio.fetch.http import HttpFetch
from opilio.fetch.outage import DOUBT
from opilio.fetch.robots import Robots
from opilio.records import Response, RobotsRecord
from opilio.settings import FetchSettings, PolitenessSettings

HOUR = 3600.0
POLITE = PolitenessSettings(delay=1.0, ip_delay=0.0, max_rest=HOUR)
HOSTS = ("a.test", "b.test", "c.test", "d.test", "e.test", "f.test")


class Allowed:
    """Stands for Robots: everything is allowed, nothing is asked."""

    parsed, fresh, ip, delay = None, False, "", None

    async def rules(self, origin: str) -> Allowed:
        return self

    def allows(self, url: str) -> bool:
        return True


@dataclass
class Web:
    """Hosts at one server, which answers unless they are silent; and a clock."""

    answers: bytes = field(default_factory=answer)
    silent: bool = False
    time: float = 0.0
    port: int = 0
    http: HttpFetch = None  # type: ignore[assignment]

    async def script(self, connection: Connection) -> None:
        if not self.silent:
            await connection.send(self.answers)

    async def ask(self, host: str) -> Response | FetchError:
        """The page of a host, or the error instead."""
        try:
            return await self.http.fetch(f"http://{host}:{self.port}/")
        except FetchError as error:
            return error

    async def ask_all(self) -> list[str]:
        """Ask every host; "" is a page, and else there is the reason why not."""
        return [getattr(await self.ask(host), "reason", "") for host in HOSTS]


async def learn(host: str, **facts: object) -> None:
    """Nobody wants to know."""


@asynccontextmanager
async def web(**settings: object) -> AsyncIterator[Web]:
    """All hosts at one server."""
    made = Web()
    async with serve(made.script) as server, opened(**settings) as egress:
        made.port = server.port
        made.http = HttpFetch(
            egress, Allowed(), POLITE, FetchSettings(), learn, now=lambda: made.time
        )
        yield made


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of which nobody takes calls."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


async def test_many_hosts_that_refuse_are_no_network_that_is_away() -> None:
    async with web() as it:
        with closed_port() as it.port:
            for host in HOSTS:
                error = await it.ask(host)
                assert isinstance(error, Transient)
                assert (error.reason, error.counted) == ("refused", True)


async def test_hosts_that_never_answered_are_waited_for_some_minutes_only() -> None:
    async with web() as it:
        it.silent = True
        assert await it.ask_all() == ["network"] * 4 + ["offline"] * 2
        it.time = DOUBT - 1
        assert await it.ask_all() == ["offline"] * 6
        it.time = DOUBT
        assert await it.ask_all() == ["offline"] * 6


async def test_a_network_that_was_there_is_waited_for_as_long_as_for_anyone() -> None:
    async with web() as it:
        assert await it.ask_all() == [""] * 6
        it.silent = True
        assert await it.ask_all() == ["network"] * 4 + ["offline"] * 2
        it.time = HOUR - 1
        assert await it.ask_all() == ["offline"] * 6
        it.silent = False
        assert await it.ask_all() == [""] * 6
        it.silent = True
        it.time = 10 * HOUR  # another time, and waited for again
        assert (await it.ask_all())[-1] == "offline"
        it.time = 11 * HOUR
        assert await it.ask_all() == ["offline"] * 6


async def test_while_the_network_is_away_nobody_is_blamed_and_hosts_rest() -> None:
    async with web() as it:
        it.silent = True
        await it.ask_all()
        for _ in range(9):  # more often than a dead host is tried
            error = await it.ask(HOSTS[0])
            assert isinstance(error, Transient)
            assert (error.reason, error.after) == ("offline", 30.0)
            assert (error.counted, error.host_rests) == (False, True)


async def test_a_host_is_tried_once_when_there_is_no_hope_and_then_left() -> None:
    async with web() as it:
        it.silent = True
        await it.ask_all()
        it.time = DOUBT
        first, second = [await it.ask(HOSTS[0]) for _ in range(2)]
        assert isinstance(first, Unusable) and isinstance(second, Unusable)
        assert (first.contacted, second.contacted) == (True, False)
        it.silent = False  # but a host that was not tried meanwhile is asked
        assert (await it.ask_all())[1:] == [""] * 5


@pytest.mark.parametrize(
    "reply",
    [
        answer(content_type=b"application/pdf"),
        answer(status=b"503 Later"),
        b"SSH-2.0\r\n\r\n",
    ],
    ids=["no page", "later", "no HTTP"],
)
async def test_any_answer_says_that_the_network_is_there(reply: bytes) -> None:
    async with web() as it:
        it.answers, numbers = reply, count()
        for _ in range(3):
            it.silent = True
            for _ in range(4):
                error = await it.ask(f"dead-{next(numbers)}.test")
                assert isinstance(error, Transient)
                assert error.reason == "network"
            it.silent = False
            await it.ask(f"live-{next(numbers)}.test")


async def test_a_robots_txt_that_was_had_says_so_too() -> None:
    class Memory(dict[str, RobotsRecord]):
        def load(self, origin: str) -> RobotsRecord | None:
            return self.get(origin)

        def save(self, record: RobotsRecord) -> None:
            self[record.origin] = record

    async with web() as it:
        it.http.robots = Robots(it.http.egress.get, Memory(), "opilio/1.0")
        for number in range(3):
            it.silent = True
            for host in range(4):
                error = await it.ask(f"dead-{number}-{host}.test")
                assert getattr(error, "reason", "") == "network"
            it.silent = False
            error = await it.ask(f"live-{number}.test")
            assert getattr(error, "reason", "") == "robots_first"


async def test_a_proxy_that_ends_is_not_waited_for_for_ever() -> None:
    time = [0.0]
    async with AsyncExitStack() as proxy:
        server: HostileServer
        server = await proxy.enter_async_context(serve(saying(answer())))
        async with opened(Names({}), proxy=server.url("")) as egress:
            settings = FetchSettings(proxy=server.url(""))
            http = HttpFetch(
                egress, Allowed(), POLITE, settings, learn, now=lambda: time[0]
            )
            await http.fetch("http://a.test/")
            await http.fetch("http://b.test/")
            await proxy.aclose()
            for time[0], host in ((0, "a.test"), (HOUR - 1, "b.test")):
                with pytest.raises(Transient) as caught:
                    await http.fetch(f"http://{host}/")
                assert (caught.value.reason, caught.value.counted) == ("proxy", False)
            time[0] = HOUR
            with pytest.raises(Unusable) as gone:
                await http.fetch("http://a.test/")
            assert gone.value.reason == "offline"
