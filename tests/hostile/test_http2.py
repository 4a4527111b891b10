"""Attacks with HTTP/2: each ends with a reason, in little memory and time."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Iterator

import pytest
import trustme
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PushPromiseFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from fetch.local_egress import opened
from hostile.http2_server import Http2Client, Script, serve_http2
from opilio.errors import Transient, Unusable
from opilio.fetch.limited_response import Limits

BODY = b"<title>Bees</title><p>honey</p>"
MUCH = 40_000  # frames
MEMORY, CPU = 40, 5.0  # MB and seconds that one attack may cost
TIMEOUT = 4.0
REFUSED_STREAM, PROTOCOL_ERROR, ENHANCE_YOUR_CALM = 7, 1, 11


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def body(stream: int, data: bytes = BODY) -> DataFrame:
    return DataFrame(stream, data, flags=["END_STREAM"])


async def good(client: Http2Client, stream: int) -> None:
    await client.send(client.headers(stream), body(stream))


async def rapid_reset(client: Http2Client, stream: int) -> None:
    await client.send(RstStreamFrame(stream, REFUSED_STREAM))


async def reset_after_headers(client: Http2Client, stream: int) -> None:
    reset = RstStreamFrame(stream, PROTOCOL_ERROR)
    await client.send(client.headers(stream), DataFrame(stream, b"<p>"), reset)


async def reset_flood(client: Http2Client, stream: int) -> None:
    for _ in range(MUCH):
        await client.send(RstStreamFrame(stream, REFUSED_STREAM))
    await asyncio.sleep(60)


async def header_bomb(client: Http2Client, stream: int) -> None:
    """A header of 3,000 bytes, and then 10,000 times a reference of one byte to it."""
    block = client.encode([(":status", "200"), ("x-bomb", "x" * 3000)])
    frame = HeadersFrame(stream, block + b"\xbe" * 10_000, flags=["END_HEADERS"])
    await client.send(frame, body(stream))


async def many_headers(client: Http2Client, stream: int) -> None:
    fields = [(f"x-{number}", "honey") for number in range(400)]
    await client.send(client.headers(stream, *fields), body(stream))


async def endless_continuation(client: Http2Client, stream: int) -> None:
    await client.send(HeadersFrame(stream, client.encode([(":status", "200")])))
    for number in range(MUCH):
        block = client.encode([(f"x-{number}", "honey" * 100)])
        await client.send(ContinuationFrame(stream, block))


async def empty_continuations(client: Http2Client, stream: int) -> None:
    await client.send(HeadersFrame(stream, client.encode([(":status", "200")])))
    while True:
        await client.send(ContinuationFrame(stream, b"").serialize() * 100)


async def endless_hints(client: Http2Client, stream: int) -> None:
    for _ in range(MUCH):
        block = client.encode([(":status", "103"), ("link", "</x>")])
        await client.send(HeadersFrame(stream, block, flags=["END_HEADERS"]))


async def endless_trailers(client: Http2Client, stream: int) -> None:
    await client.send(client.headers(stream), DataFrame(stream, BODY))
    fields = [(f"x-{number}", "honey" * 20) for number in range(500)]
    block = client.encode(fields)
    await client.send(HeadersFrame(stream, block[:16_000], flags=["END_STREAM"]))
    for start in range(16_000, len(block), 16_000):
        flags = ["END_HEADERS"] if start + 16_000 >= len(block) else []
        piece = block[start : start + 16_000]
        await client.send(ContinuationFrame(stream, piece, flags=flags))


async def stalled(client: Http2Client, stream: int) -> None:
    """The headers, a little, and then nothing: its window is never used."""
    zero = SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
    await client.send(zero, client.headers(stream), DataFrame(stream, b"<p>"))


async def silent(client: Http2Client, stream: int) -> None:
    await asyncio.sleep(60)


async def pings(client: Http2Client, stream: int) -> None:
    """A client that answers all of them without reading would fill its memory."""
    while True:
        await client.send(PingFrame(0, b"12345678").serialize() * 500)


async def settings(client: Http2Client, stream: int) -> None:
    table = {SettingsFrame.HEADER_TABLE_SIZE: 2**16}
    while True:
        await client.send(SettingsFrame(0, settings=table).serialize() * 500)


async def empty_data(client: Http2Client, stream: int) -> None:
    await client.send(client.headers(stream))
    while True:
        await client.send(DataFrame(stream, b"").serialize() * 500)


async def window_updates(client: Http2Client, stream: int) -> None:
    await client.send(client.headers(stream))
    for _ in range(3):  # together more than a window may have
        await client.send(WindowUpdateFrame(stream, 2**31 - 1))
    await asyncio.sleep(60)


async def endless_body(client: Http2Client, stream: int) -> None:
    """More than the windows of the client allow, without waiting for them."""
    await client.send(client.headers(stream))
    while True:
        await client.send(DataFrame(stream, b"honey bee " * 1600))


async def push(client: Http2Client, stream: int) -> None:
    block = client.encode([(":path", "/"), (":method", "GET"), (":scheme", "https")])
    promise = PushPromiseFrame(stream, 2, block, flags=["END_HEADERS"])
    await client.send(promise, client.headers(stream), body(stream))


async def go_away(client: Http2Client, stream: int) -> None:
    await client.send(GoAwayFrame(0, error_code=ENHANCE_YOUR_CALM))
    client.writer.close()


async def huge_frame(client: Http2Client, stream: int) -> None:
    await client.send(b"\xff\xff\xff\x00\x00" + stream.to_bytes(4, "big"))
    while True:
        await client.send(bytes(2**16))


async def odd_status(client: Http2Client, stream: int) -> None:
    block = client.encode([(":status", "two hundred"), ("x", "y")])
    await client.send(HeadersFrame(stream, block, flags=["END_HEADERS"]), body(stream))


async def control_bytes(client: Http2Client, stream: int) -> None:
    odd = client.headers(stream, ("x-odd", "a\r\nset-cookie: b\x00\x1b[2J"))
    await client.send(odd, body(stream))


async def other_stream(client: Http2Client, stream: int) -> None:
    """An answer to what was never asked."""
    await client.send(client.headers(stream + 2), body(stream + 2))
    await asyncio.sleep(60)


async def not_http2(client: Http2Client, stream: int) -> None:
    await client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhoney")


# What an attack may end as; "": a page, or what there was of it.
NETWORK = {"network", "timeout", "bad_http"}
ATTACKS: dict[Script, set[str]] = {
    good: {""},
    rapid_reset: NETWORK,
    reset_after_headers: {"", *NETWORK},
    reset_flood: NETWORK,
    header_bomb: {"too_many_headers", *NETWORK},
    many_headers: {"too_many_headers"},
    endless_continuation: {"too_many_headers", *NETWORK},
    empty_continuations: NETWORK,
    endless_hints: {"too_many_headers", *NETWORK},
    endless_trailers: {"", "too_many_headers", *NETWORK},
    stalled: {"", *NETWORK},
    silent: {"timeout"},
    pings: NETWORK,
    settings: NETWORK,
    empty_data: {"", *NETWORK},
    window_updates: NETWORK,
    endless_body: {"", *NETWORK},
    push: {"", *NETWORK},
    go_away: NETWORK,
    huge_frame: NETWORK,
    odd_status: NETWORK,
    control_bytes: {"", *NETWORK},
    other_stream: NETWORK,
    not_http2: NETWORK,
}


@pytest.fixture(scope="module")
def certificate(authority: trustme.CA) -> Iterator[trustme.LeafCert]:
    yield authority.issue_cert("h2.test")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.__name__)
async def test_an_attack_costs_one_page(
    attack: Script, certificate: trustme.LeafCert, ca_file: str
) -> None:
    reason, size = "", 0
    async with (
        serve_http2(attack, certificate) as server,
        serve_http2(good, certificate) as other,
        opened(
            ca_file=ca_file,
            timeout=TIMEOUT,
            max_bytes=2**20,
            limits=Limits(slow_seconds=2),
        ) as egress,
    ):
        await egress.get(other.url)
        before = memory()
        began, cpu = time.monotonic(), time.process_time()
        try:
            response = await egress.get(server.url)
            size = len(response.body)
            assert response.protocol == "h2"
            told = "".join(f"{name}: {value}\n" for name, value in response.headers)
            assert "set-cookie" not in told and "\x1b" not in told and "\0" not in told
        except (Transient, Unusable) as error:
            reason = error.reason
        took, cpu = time.monotonic() - began, time.process_time() - cpu
        grown = memory() - before
        assert (await egress.get(other.url)).body == BODY
    assert reason in ATTACKS[attack], reason
    assert size <= 2**20
    assert grown < MEMORY, f"{grown} MB"
    assert cpu < CPU, f"{cpu} s"  # that of the server is in it
    assert took < TIMEOUT + 10  # a busy machine
    assert server.frames["HeadersFrame"] <= 6, "requests are not repeated for ever"


def memory() -> float:
    """MB that this process has used at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
