"""What Egress makes of answers: good, cut short, illegal, endless, slow."""

from __future__ import annotations

import asyncio
import gzip
import resource
import socket
import time

import pytest

from fetch.hostile_server import PAGE, Connection, answer, saying, serve
from fetch.local_egress import opened
from opilio.errors import Transient, Unusable
from opilio.fetch.limited_response import Limits

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


async def test_an_answer_comes_with_all_that_is_to_be_kept_of_it() -> None:
    page = answer(PAGE, b"X-Twice: a", b"x-twice:  b ")
    async with serve(saying(page)) as server, opened(now=lambda: 17.0) as egress:
        response = await egress.get(server.url("/a?b=c"))
    assert (response.url, response.status) == (server.url("/a?b=c"), 200)
    assert response.body == PAGE
    assert response.wire is None
    assert response.header("content-type") == "text/html"
    assert response.header("x-twice") == "a, b"
    assert response.fetched_at == 17.0
    assert response.ip == "127.0.0.1"
    assert response.protocol == "http/1.1"
    assert response.truncated == ""


async def test_the_request_is_what_the_response_says_it_was() -> None:
    agent = "tester/1 (+http://x.test)"
    async with serve(saying(answer())) as server, opened(user_agent=agent) as egress:
        response = await egress.get(server.url(), headers=[("if-match", '"x"')])
        plain = await egress.get(server.url())
    lines = server.requests[0].decode().split("\r\n")
    assert lines[0] == "GET / HTTP/1.1"
    sent = [line.partition(": ") for line in lines[1:-2]]
    assert [(name.lower(), value) for name, _, value in sent] == list(response.request)
    assert ("host", f"127.0.0.1:{server.port}") in response.request
    assert ("user-agent", agent) in response.request
    assert ("accept-encoding", "gzip, deflate, br") in response.request
    assert ("if-match", '"x"') in response.request
    assert b"if-match" not in server.requests[1]
    assert ("if-match", '"x"') not in plain.request


async def test_no_cookie_and_no_password_is_ever_sent() -> None:
    page = answer(PAGE, b"Set-Cookie: a=b", b"WWW-Authenticate: Basic")
    async with serve(saying(page, keep=True)) as server, opened() as egress:
        await egress.get(server.url())
        await egress.get(server.url())
        with pytest.raises(Unusable) as caught:
            await egress.get(f"http://user:secret@127.0.0.1:{server.port}/")
    assert caught.value.reason == "bad_url"
    assert len(server.requests) == 2
    assert not any(b"cookie" in request.lower() for request in server.requests)
    assert not any(b"auth" in request.lower() for request in server.requests)


async def test_codings_are_removed_and_the_wire_is_kept() -> None:
    packed = gzip.compress(PAGE)
    page = answer(packed, b"Content-Encoding: gzip")
    async with serve(saying(page)) as server, opened() as egress:
        response = await egress.get(server.url())
    assert (response.body, response.wire) == (PAGE, packed)
    assert response.truncated == ""


async def test_what_is_not_coded_as_it_says_is_unusable() -> None:
    page = answer(PAGE, b"Content-Encoding: gzip")
    async with serve(saying(page)) as server, opened() as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url())
    assert caught.value.reason == "bad_encoding"


async def test_a_bomb_is_cut_off_and_takes_little_memory() -> None:
    bomb = gzip.compress(bytes(300 * 2**20), 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    page = answer(bomb, b"Content-Encoding: gzip")
    async with serve(saying(page)) as server, opened(max_bytes=2**20) as egress:
        response = await egress.get(server.url())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert response.truncated == "length"
    assert len(response.body) <= 2**20
    assert grown < 30 * 1024  # KiB


@pytest.mark.parametrize("status", [b"302 Found", b"404 No", b"500 Oh"])
async def test_bodies_of_redirects_and_errors_are_not_decoded(status: bytes) -> None:
    packed = gzip.compress(bytes(10**6))
    page = answer(
        packed,
        b"Content-Encoding: gzip",
        b"Location: file:///etc/passwd",
        status=status,
    )
    async with serve(saying(page)) as server, opened() as egress:
        response = await egress.get(server.url())
    assert (response.body, response.wire) == (packed, None)
    assert response.header("location") == "file:///etc/passwd"
    assert len(server.requests) == 1


async def test_of_an_error_only_the_beginning_is_taken_in() -> None:
    page = answer(bytes(10**6), status=b"404 No")
    async with serve(saying(page)) as server, opened() as egress:
        response = await egress.get(server.url())
    assert len(response.body) == Limits().error_bytes
    assert response.truncated == "length"


async def test_an_endless_body_is_cut_and_its_connection_closed() -> None:
    async def endless(connection: Connection) -> None:
        await connection.send(CHUNKED)
        while True:
            await connection.send(b"10000\r\n" + bytes(65536) + b"\r\n")

    async with serve(endless) as server, opened() as egress:
        response = await egress.get(server.url(), max_bytes=200_000)
        assert len(response.body) == 200_000
        assert response.truncated == "length"
        await until(lambda: server.open == 0)


async def test_a_body_said_to_be_huge_is_still_read_up_to_the_limit() -> None:
    page = HEAD + b"Content-Length: 10000000000\r\n\r\n" + bytes(3000)
    async with serve(saying(page)) as server, opened() as egress:
        response = await egress.get(server.url(), max_bytes=1000)
    assert (len(response.body), response.truncated) == (1000, "length")


async def test_a_body_of_just_the_limit_is_whole() -> None:
    async with serve(saying(answer(b"x" * 1000))) as server, opened() as egress:
        response = await egress.get(server.url(), max_bytes=1000)
    assert (len(response.body), response.truncated) == (1000, "")


@pytest.mark.parametrize(
    "page",
    [
        HEAD + b"Content-Length: 1000\r\n\r\npart",
        CHUNKED + b"5\r\npart",
        CHUNKED + b"4\r\npart\r\n",
    ],
)
async def test_a_page_that_breaks_off_is_kept_as_far_as_it_came(page: bytes) -> None:
    async with serve(saying(page)) as server, opened() as egress:
        response = await egress.get(server.url())
    assert (response.body, response.truncated) == (b"part", "disconnect")


async def test_a_reset_in_the_body_keeps_the_part_and_before_it_is_transient() -> None:
    async def script(connection: Connection) -> None:
        if connection.path == "/part":
            await connection.send(HEAD + b"Content-Length: 1000\r\n\r\npart")
        if connection.path == "/head":
            await connection.send(HEAD + b"Content-Length: 1000\r\n\r\n")
        await connection.reset()

    async with serve(script) as server, opened() as egress:
        response = await egress.get(server.url("/part"))
        assert (response.body, response.truncated) == (b"part", "disconnect")
        for path in ("/none", "/head"):
            with pytest.raises(Transient) as caught:
                await egress.get(server.url(path))
            assert caught.value.reason == "network"


async def test_nobody_there_is_refused() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody else gets the port meanwhile
        async with opened() as egress:
            with pytest.raises(Transient) as caught:
                await egress.get(f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert caught.value.reason == "refused"


ILLEGAL = {
    "NUL in a header": HEAD + b"X: a\0b\r\nContent-Length: 1\r\n\r\nx",
    "header without colon": HEAD + b"hello\r\nContent-Length: 1\r\n\r\nx",
    "second status line": HEAD + b"HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx",
    "two lengths": HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
    "length and chunks": HEAD
    + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "no body, two lengths": b"HTTP/1.1 302 F\r\nLocation: /\r\nContent-Length: 0\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative length": HEAD + b"Content-Length: -1\r\n\r\nx",
    "odd chunk size": CHUNKED + b"zz\r\nx\r\n0\r\n\r\n",
    "no HTTP": b"<html>hello</html>",
    "SSH": b"SSH-2.0-OpenSSH_9\r\n",
    "binary": b"\x16\x03\x01\x02" * 100,
    "two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 1\r\n\r\nx",
}


@pytest.mark.parametrize("name", ILLEGAL)
async def test_illegal_http_is_unusable_and_its_connection_closed(name: str) -> None:
    async with serve(saying(ILLEGAL[name], keep=True)) as server, opened() as egress:
        with pytest.raises(Unusable) as caught:
            await asyncio.wait_for(egress.get(server.url()), 15)
        assert caught.value.reason == "bad_http"
        assert server.url() in str(caught.value)
        await until(lambda: server.open == 0)


async def test_control_characters_do_not_get_into_headers() -> None:
    odd = b"X-Odd: a\x1b[2J\x07b\xc2\x9b\r\nX-Fold: a\r\n  b\r\nX Y: z\r\n"
    async with serve(saying(HEAD + odd + b"\r\nx")) as server, opened() as egress:
        response = await egress.get(server.url())
    assert response.header("x-odd") == "a [2J bÂ\x9b"  # bytes beyond ASCII stay
    assert response.header("x-fold") == "a b"
    assert "x y" not in dict(response.headers)


async def test_bare_line_feeds_and_http_1_0_are_understood() -> None:
    page = b"HTTP/1.0 200 OK\nContent-Type: text/html\n\nbody"
    async with serve(saying(page)) as server, opened() as egress:
        response = await egress.get(server.url())
    assert (response.body, response.protocol) == (b"body", "http/1.0")


async def flood(connection: Connection) -> None:
    start, again = {
        "/lines": (HEAD, b"A: b\r\n" * 1000),
        "/line": (HEAD + b"X: ", b"x" * 10_000),
        "/long": (HEAD + b"X: " + b"y" * 40_000 + b"\r\n\r\n", b""),
        "/trailers": (CHUNKED + b"1\r\nx\r\n0\r\n", b"A: b\r\n" * 1000),
        "/early": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 100),
        "/100": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    }[connection.path]
    await connection.send(start)
    while again:
        await connection.send(again)


@pytest.mark.parametrize(
    "path", ["/lines", "/line", "/long", "/trailers", "/early", "/100"]
)
async def test_a_flood_of_headers_is_stopped(path: str) -> None:
    async with serve(flood) as server, opened() as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url(path))
        assert caught.value.reason == "too_many_headers"


async def test_a_few_announcements_and_trailers_are_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nContent-Type: text/plain\r\n\r\n" * 10
    page = CHUNKED + b"1\r\nx\r\n0\r\nContent-Type: text/plain\r\n\r\n"
    async with serve(saying(hints, page)) as server, opened() as egress:
        response = await egress.get(server.url())
    assert response.status == 200
    assert response.header("content-type") == "text/html"


async def drip(connection: Connection) -> None:
    if connection.path == "/headers":
        await connection.send(HEAD + b"X: ", *[b"x"] * 100, pause=0.05)
    if connection.path == "/body":
        await connection.send(HEAD + b"Content-Length: 99999\r\n\r\n")
        await connection.send(*[b"x"] * 100, pause=0.05)
    await connection.reader.read()


@pytest.mark.parametrize("path", ["/never", "/headers", "/body"])
async def test_a_server_that_drips_is_given_up(path: str) -> None:
    """Far sooner than a page that takes long as a whole, which is borne with 60 s."""
    limits = Limits(slow_seconds=1)
    async with serve(drip) as server, opened(limits=limits) as egress:
        began = time.monotonic()
        with pytest.raises(Transient) as caught:
            await egress.get(server.url(path))
        assert caught.value.reason == "timeout"
        assert time.monotonic() - began < 30
        await until(lambda: server.open == 0)


async def test_a_page_that_takes_too_long_as_a_whole_is_given_up() -> None:
    async def steady(connection: Connection) -> None:
        await connection.send(HEAD + b"\r\n", *[bytes(1000)] * 100, pause=0.05)

    async with serve(steady) as server, opened(timeout=0.4) as egress:
        with pytest.raises(Transient) as caught:
            await egress.get(server.url())
    assert caught.value.reason == "timeout"


async def test_what_accept_refuses_is_not_downloaded() -> None:
    sent = 0

    async def film(connection: Connection) -> None:
        nonlocal sent
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
        while True:
            await connection.send(bytes(65536))
            sent += 65536

    def accept(status: int, headers: object) -> str:
        assert (status, headers) == (200, [("content-type", "video/mp4")])
        return "not_html"

    async with serve(film) as server, opened() as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url(), accept=accept)
        await until(lambda: server.open == 0)
    assert caught.value.reason == "not_html"
    assert sent < 10 * 2**20


async def test_an_error_in_accept_comes_out_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(status: int, headers: object) -> str:
        raise ZeroDivisionError

    async with serve(saying(answer())) as server, opened() as egress:
        with pytest.raises(ZeroDivisionError):
            await egress.get(server.url(), accept=broken)
        assert (await egress.get(server.url())).status == 200
    assert capsys.readouterr() == ("", "")


async def until(is_so: object, patience: float = 20.0) -> None:
    """Wait for what must come soon."""
    async with asyncio.timeout(patience):
        while not is_so():
            await asyncio.sleep(0.01)
