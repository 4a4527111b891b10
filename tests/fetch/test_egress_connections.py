"""Connections: kept, never poisoned, freed when a request is given up."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest
import uvloop

from fetch.hostile_server import PAGE, Connection, answer, saying, serve
from fetch.local_egress import opened
from opilio.errors import Transient
from opilio.settings import FetchSettings


async def until(is_so: object, patience: float = 20.0) -> None:
    """Wait for what must come soon."""
    async with asyncio.timeout(patience):
        while not is_so():
            await asyncio.sleep(0.01)


async def test_one_connection_serves_many_requests() -> None:
    async with serve(saying(answer(), keep=True)) as server, opened() as egress:
        for _ in range(5):
            await egress.get(server.url())
    assert (server.connections, len(server.requests)) == (1, 5)


async def test_small_errors_and_redirects_keep_the_connection() -> None:
    replies = {
        "/a": answer(b"gone", status=b"404 Not Found"),
        "/b": answer(b"", b"Location: /a", status=b"302 Found"),
        "/c": b"HTTP/1.1 204 No Content\r\n\r\n",
        "/d": answer(),
    }

    async def script(connection: Connection) -> None:
        connection.keep = True
        await connection.send(replies[connection.path])

    async with serve(script) as server, opened() as egress:
        statuses = [(await egress.get(server.url(path))).status for path in replies]
    assert statuses == [404, 302, 204, 200]
    assert server.connections == 1


async def test_a_connection_is_not_used_again_when_it_was_idle_too_long() -> None:
    script = saying(answer(), keep=True)
    async with serve(script) as server, opened(keep_alive=1) as egress:
        await egress.get(server.url())
        await asyncio.sleep(1.1)
        await egress.get(server.url())
    assert server.connections == 2


async def test_an_idle_connection_is_kept_for_a_minute_unless_told_otherwise() -> None:
    """Paper A: keep-alive "for a fixed time interval", which it does not give."""
    assert FetchSettings().keep_alive == 60.0
    async with serve(saying(answer(), keep=True)) as server, opened() as egress:
        await egress.get(server.url())
        await asyncio.sleep(1.2)
        await egress.get(server.url())
    assert server.connections == 1


async def test_a_connection_that_the_server_closed_meanwhile_is_replaced() -> None:
    async with serve(saying(answer())) as server, opened() as egress:
        for _ in range(3):
            assert (await egress.get(server.url())).body == PAGE
    assert server.connections == 3


@pytest.mark.parametrize("pause", [0.0, 0.05])
@pytest.mark.parametrize(
    "first",
    [
        answer(),
        b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nabc",
        answer(b"", b"Location: /", status=b"302 Found"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    ],
)
async def test_an_answer_nobody_asked_for_is_not_given_to_the_next_request(
    first: bytes, pause: float
) -> None:
    fake = answer(b"<html>poison</html>")

    async def script(connection: Connection) -> None:
        connection.keep = True
        if connection.path == "/first":
            pieces = (first, fake) if pause else (first + fake,)
            await connection.send(*pieces, pause=pause)
        else:
            await connection.send(answer())

    async with serve(script) as server, opened() as egress:
        await egress.get(server.url("/first"))
        await asyncio.sleep(2 * pause)
        for _ in range(3):
            assert (await egress.get(server.url("/next"))).body == PAGE


async def test_a_cancelled_request_frees_its_connection_and_handle() -> None:
    async def script(connection: Connection) -> None:
        if connection.path == "/never":
            await connection.reader.read()
        else:
            await connection.send(answer())

    async with serve(script) as server, opened() as egress:
        waiting = [
            asyncio.create_task(egress.get(server.url("/never"))) for _ in range(10)
        ]
        await until(lambda: server.open == 10)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert all(task.cancelled() for task in waiting)
        await until(lambda: server.open == 0)
        assert (await egress.get(server.url("/"))).body == PAGE
        assert len(egress._idle) == 10


async def test_closing_ends_what_is_under_way() -> None:
    async def never(connection: Connection) -> None:
        await connection.reader.read()

    async with serve(never) as server, opened() as egress:
        waiting = asyncio.create_task(egress.get(server.url()))
        await until(lambda: server.open == 1)
        await egress.close()
        with pytest.raises(Transient) as caught:
            await waiting
        assert caught.value.reason == "network"
        await until(lambda: server.open == 0)
        await egress.close()  # again does no harm


async def test_nothing_stays_open_in_the_end() -> None:
    gc.collect()
    before = open_files()
    async with serve(saying(answer(), keep=True)) as server, opened() as egress:
        await asyncio.gather(*(egress.get(server.url()) for _ in range(20)))
        assert open_files() > before
    gc.collect()
    await until(lambda: open_files() <= before)


def open_files() -> int:
    """Descriptors that this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def fetch_many() -> None:
    """A few hundred requests to many hosts at a time, each with its own answer."""

    async def script(connection: Connection) -> None:
        connection.keep = True
        host = connection.request.split(b"Host: ")[1].split(b":")[0]
        await connection.send(answer(host + connection.path.encode() + b"." * 50_000))

    async with serve(script) as server, opened() as egress:

        async def ask(number: int) -> None:
            host = f"h{number % 20}.test"
            response = await egress.get(server.url(f"/{number}", host))
            assert response.body == f"{host}/{number}".encode() + b"." * 50_000

        await asyncio.gather(*(ask(number) for number in range(300)))


def test_many_requests_at_a_time_each_get_their_own_answer_under_uvloop() -> None:
    uvloop.run(fetch_many())


def test_many_requests_at_a_time_each_get_their_own_answer_under_asyncio() -> None:
    asyncio.run(fetch_many())
