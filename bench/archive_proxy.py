"""A proxy on loopback that answers for every host of a WARC archive, over TLS too."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

import trustme

from opilio.fetch.replay import ReplayFetch
from opilio.lab.conditions import latency_of
from opilio.lab.web_pages import cache_folder
from opilio.text import urls

KEPT = ("content-type", "location")


class Asked(NamedTuple):
    """A request for an archived URL."""

    at: float  # time.monotonic
    url: str  # canonical


class ArchiveProxy:
    """Answers each URL after its own latency; a URL that is not archived is a 404."""

    def __init__(
        self, warcs: Sequence[Path], latency: float, hosts: Iterable[str]
    ) -> None:
        self.replay = ReplayFetch(warcs, cache_folder())
        self.latency = latency
        self.asked: dict[str, Asked] = {}  # the first request for each URL
        self.authority = trustme.CA()
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(*hosts).configure_cert(self.tls)
        self.port = 0

    def answer(self, url: str) -> tuple[bytes, float]:
        """The whole response, and how long it takes."""
        with suppress(ValueError):
            canonical = urls.canonical(url)
            key = urls.fingerprint(canonical)
            if found := self.replay.places.get(key):
                self.asked.setdefault(canonical, Asked(time.monotonic(), canonical))
                number, place = found
                if place.same_as:
                    number, place = self.replay.places.get(place.same_as, found)
                response = self.replay.read(number, place.offset)
                lines = [(name, response.header(name)) for name in KEPT]
                delay = latency_of(key, self.latency)
                return encoded(response.status, lines, response.body), delay
        return encoded(404, [("content-type", "text/html")], b"Not found"), 0.0

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one client until it goes away."""
        origin = ""
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
                if method == "CONNECT":
                    origin = f"https://{target.removesuffix(':443')}"
                    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                    await writer.drain()
                    await writer.start_tls(self.tls)
                    continue
                data, delay = self.answer(f"{origin}{target}")
                await asyncio.sleep(delay)
                writer.write(data)
                await writer.drain()
        writer.close()


def encoded(status: int, lines: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """A response as it goes over the wire."""
    head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    head += [f"{name}: {value}" for name, value in lines if value]
    head.append(f"content-length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode("latin-1", "replace") + body


@asynccontextmanager
async def serving(proxy: ArchiveProxy) -> AsyncIterator[str]:
    """Serve while the block lasts; gives the address of the proxy."""
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, backlog=1024)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()
        await proxy.replay.close()
