"""HttpFetch: robots first, then what each answer means for the link and its host."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import pytest

from fetch.hostile_server import (
    PAGE,
    Connection,
    HostileServer,
    answer,
    saying,
    serve,
)
from fetch.local_egress import Names, opened
from opilio.errors import FetchError, Transient, Unusable
from opilio.fetch.http import HttpFetch
from opilio.settings import FetchSettings, PolitenessSettings

POLITE = PolitenessSettings(delay=1.0, max_delay=30.0, max_rest=100.0)


@dataclass
class Rules:
    """The rules of a site, in the test's hand."""

    fresh: bool = False
    ip: str = ""
    delay: float | None = None
    forbidden: str = "/private"

    def allows(self, url: str) -> bool:
        return self.forbidden not in url


@dataclass
class World:
    """A server, the rules it has, and what was learnt of it."""

    server: HostileServer
    rules: Rules = field(default_factory=Rules)
    learnt: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    addresses_count: bool = False  # is it new to whoever waits where a host is?
    http: HttpFetch = None  # type: ignore[assignment]

    async def learn(self, host: str, **facts: Any) -> bool:
        assert host == f"127.0.0.1:{self.server.port}"
        self.learnt.append(facts)
        return self.addresses_count

    async def failure(self, path: str = "/") -> FetchError:
        """The error that fetching ends in."""
        with pytest.raises(FetchError) as caught:
            await self.http.fetch(self.server.url(path))
        return caught.value


class RobotsOf:
    """Stands for Robots: the same rules for everyone."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def rules(self, origin: str) -> Rules:
        self.world.asked.append(origin)
        return self.world.rules


@asynccontextmanager
async def world(script: Callable[[Connection], Any], **rules: Any) -> AsyncIterator:
    """A fetcher and the server it fetches from; the time is 1000 s after 1970."""
    async with serve(script) as server, opened() as egress:
        made = World(server, Rules(**rules))
        made.http = HttpFetch(
            egress, RobotsOf(made), POLITE, FetchSettings(), made.learn
        )
        yield made
        await made.http.close()


async def test_a_page_that_robots_allows_is_fetched() -> None:
    async with world(saying(answer())) as it:
        response = await it.http.fetch(it.server.url("/a"))
        assert response.body == PAGE
        assert it.asked == [it.server.url("")]


async def test_what_robots_forbids_is_not_asked_for() -> None:
    async with world(saying(answer())) as it:
        error = await it.failure("/private/x")
        assert isinstance(error, Unusable)
        assert (error.reason, error.contacted) == ("robots", False)
    assert it.server.connections == 0


async def test_after_robots_txt_was_asked_for_the_page_waits_for_its_turn() -> None:
    async with world(saying(answer()), fresh=True, delay=5.0) as it:
        error = await it.failure("/a")
        assert isinstance(error, Transient)
        assert (error.reason, error.after) == ("robots_first", 0.0)
        assert (error.counted, error.contacted) == (False, True)
        assert it.learnt == [{"ip": "127.0.0.1"}, {"delay": 5.0}]
        forbidden = await it.failure("/private")
        assert (forbidden.reason, forbidden.contacted) == ("robots", True)
    assert it.server.connections == 0


@pytest.mark.parametrize(("told", "learnt"), [(1000.0, [{"delay": 30.0}]), (None, [])])
async def test_a_crawl_delay_is_obeyed_up_to_a_limit(
    told: float | None, learnt: list[dict[str, float]]
) -> None:
    async with world(saying(answer()), fresh=True, delay=told) as it:
        await it.failure()
    assert it.learnt == [{"ip": "127.0.0.1"}, *learnt]


async def test_a_new_address_of_a_host_is_told_once() -> None:
    async with world(saying(answer(), keep=True)) as it:
        for _ in range(3):
            await it.http.fetch(it.server.url())
    assert it.learnt == [{"ip": "127.0.0.1"}]


async def test_a_host_is_looked_up_before_anything_is_asked_of_it() -> None:
    async with world(saying(answer(), keep=True)) as it:
        it.addresses_count = True
        error = await it.failure()
        assert isinstance(error, Transient)
        assert (error.reason, error.after) == ("address_first", 0.0)
        assert (error.counted, error.contacted) == (False, False)
        assert (it.asked, it.server.connections) == ([], 0)
        await it.http.fetch(it.server.url())
    assert it.learnt == [{"ip": "127.0.0.1"}]


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
async def test_a_redirect_is_handed_on_not_followed(status: int) -> None:
    reply = answer(b"", b"Location: file:///etc/passwd", status=b"%d X" % status)
    async with world(saying(reply)) as it:
        response = await it.http.fetch(it.server.url())
    assert response.status == status
    assert response.header("location") == "file:///etc/passwd"
    assert len(it.server.requests) == 1


HUGE = b"HTTP/1.1 200 Yes\r\nContent-Type: application/pdf\r\nContent-Length: 99999999"
HUGE += b"\r\n\r\n%PDF-1.4"  # of which no more is read

UNUSABLE = {
    "404": (answer(b"x", status=b"404 No"), "http_404"),
    "401": (answer(b"x", status=b"401 No"), "http_401"),
    "410": (answer(b"x", status=b"410 No"), "http_410"),
    "999": (answer(b"x", status=b"999 No"), "http_999"),
    "302 to nowhere": (answer(b"x", status=b"302 Found"), "bad_redirect"),
    "304": (b"HTTP/1.1 304 Not Modified\r\n\r\n", "http_304"),
    "305": (answer(b"", b"Location: /", status=b"305 Use Proxy"), "http_305"),
    "206": (answer(status=b"206 Partial Content"), "http_206"),
    "101": (b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\nabc", "http_101"),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", "empty"),
    "nothing": (answer(b""), "empty"),
    "huge pdf": (HUGE, "too_large"),
    "zip": (answer(content_type=b"application/zip"), "not_html"),
    "plain": (answer(content_type=b"text/plain"), "not_html"),
    "zip as html": (answer(b"PK\x03\x04" + bytes(100)), "not_html"),
    "untold image": (answer(b"\x89PNG\r\n\x1a\n", content_type=b""), "not_html"),
    "untold words": (answer(b"just some words", content_type=b""), "not_html"),
    "no gzip": (answer(PAGE, b"Content-Encoding: gzip"), "bad_encoding"),
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_what_will_never_be_a_page_is_unusable(name: str) -> None:
    reply, reason = UNUSABLE[name]
    async with world(saying(reply)) as it:
        error = await it.failure()
    assert isinstance(error, Unusable)
    assert (error.reason, error.contacted) == (reason, True)


@pytest.mark.parametrize(
    "content_type",
    [b"text/html", b"Text/HTML; charset=utf-8", b"application/xhtml+xml", b""],
)
async def test_html_is_known_by_its_type_or_without_one_by_its_looks(
    content_type: bytes,
) -> None:
    async with world(saying(answer(content_type=content_type))) as it:
        assert (await it.http.fetch(it.server.url())).body == PAGE


@pytest.mark.parametrize(
    ("status", "host_rests"),
    [(408, False), (425, False), (429, True), (500, False), (502, False), (503, True)],
)
async def test_an_overloaded_host_rests_others_only_retry(
    status: int, host_rests: bool
) -> None:
    async with world(saying(answer(b"x", status=b"%d Later" % status))) as it:
        error = await it.failure()
    assert isinstance(error, Transient)
    assert error.reason == f"http_{status}"
    assert error.host_rests == host_rests
    assert error.counted


@pytest.mark.parametrize(
    ("told", "after"),
    [
        (b"7", 7.0),
        (b"0", 1.0),  # never less than the delay
        (b"999999999999999999999", 100.0),
        (formatdate(1050, usegmt=True).encode(), 50.0),
        (formatdate(10, usegmt=True).encode(), 1.0),
        (b"Fri, 31 Dec 9999 23:59:59 GMT", 100.0),
        (b"soon", 10.0),
        (b"-5", 10.0),
        (b"\xb2", 10.0),
    ],
)
async def test_retry_after_is_obeyed_up_to_a_limit(told: bytes, after: float) -> None:
    reply = answer(b"", b"Retry-After: " + told, status=b"503 Later")
    async with world(saying(reply)) as it:
        error = await it.failure()
    assert isinstance(error, Transient)
    assert error.after == after


async def test_a_host_that_fails_again_and_again_is_left_alone_ever_longer() -> None:
    async def script(connection: Connection) -> None:
        if connection.path == "/good":
            await connection.send(answer())

    async with world(script) as it:
        errors = [await it.failure() for _ in range(3)]
        assert [error.reason for error in errors] == ["network"] * 3
        assert [error.after for error in errors] == [10, 20, 40]
        assert [error.host_rests for error in errors] == [False, True, True]
        await it.http.fetch(it.server.url("/good"))
        assert (await it.failure()).after == 10


async def test_a_host_that_stays_silent_is_given_up() -> None:
    async def script(connection: Connection) -> None:
        return None

    async with world(script) as it:
        for _ in range(4):
            assert (await it.failure()).reason == "network"
        with pytest.raises(Unusable) as caught:
            await it.http.fetch(it.server.url("/"))
        assert (caught.value.reason, caught.value.contacted) == ("dead_host", False)


async def test_a_name_server_that_fails_is_given_the_time_it_asks_for() -> None:
    def fails(host: str) -> list[str]:
        raise Transient("dns_temporary", "no answer", after=60.0, contacted=False)

    async with opened(Names(fails)) as egress:
        robots = RobotsOf(World(HostileServer(saying(b""))))
        http = HttpFetch(egress, robots, POLITE, FetchSettings(), None)
        with pytest.raises(Transient) as caught:
            await http.fetch("http://a.test/")
    assert (caught.value.reason, caught.value.after) == ("dns_temporary", 60.0)
    assert not caught.value.contacted


async def test_robots_that_cannot_be_had_stop_the_page() -> None:
    class Unreachable:
        async def rules(self, origin: str) -> Rules:
            raise Transient("robots_unreachable", "no", after=60.0, counted=False)

    async with serve(saying(answer())) as server, opened() as egress:
        learn = World(server).learn
        http = HttpFetch(egress, Unreachable(), POLITE, FetchSettings(), learn)
        with pytest.raises(Transient) as caught:
            await http.fetch(server.url())
    assert caught.value.reason == "robots_unreachable"
    assert server.connections == 0
