"""A web server for tests that sends exactly the bytes it is told to, legal or not."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

PAGE = b"<html><title>A page</title><p>Hello.</p></html>"


class Connection:
    """One client, after it has sent a request."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.request = b""
        self.keep = False

    @property
    def path(self) -> str:
        return self.request.split(b" ")[1].decode()

    async def send(self, *pieces: bytes, pause: float = 0.0) -> None:
        """Send each piece by itself."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            if pause:
                await asyncio.sleep(pause)

    async def reset(self) -> None:
        """Break the connection off with RST."""
        await asyncio.sleep(0.05)  # so that what was sent arrives before
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Script = Callable[[Connection], Awaitable[None]]


class HostileServer:
    """Runs the script for every request; counts what it saw."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.connections = 0
        self.open = 0
        self.requests: list[bytes] = []
        self.port = 0
        self.scheme = "http"

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    async def meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        self.open += 1
        connection = Connection(reader, writer)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    connection.request = await reader.readuntil(b"\r\n\r\n")
                    self.requests.append(connection.request)
                    connection.keep = False
                    await self.script(connection)
                    if not connection.keep:
                        break
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def serve(
    script: Script, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[HostileServer]:
    """The server on a free port, as long as the block runs."""
    hostile = HostileServer(script)
    tasks: set[asyncio.Task[None]] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        with suppress(asyncio.CancelledError):
            await hostile.meet(reader, writer)

    server = await asyncio.start_server(meet, host, 0, ssl=tls, backlog=1024)
    hostile.port = server.sockets[0].getsockname()[1]
    hostile.scheme = "https" if tls else "http"
    try:
        yield hostile
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answer(
    body: bytes = PAGE,
    *headers: bytes,
    status: bytes = b"200 OK",
    content_type: bytes = b"text/html",
) -> bytes:
    """A whole and correct answer."""
    lines = [
        b"HTTP/1.1 " + status,
        b"Content-Type: " + content_type,
        b"Content-Length: %d" % len(body),
        *headers,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def saying(*pieces: bytes, keep: bool = False, pause: float = 0.0) -> Script:
    """A script that sends the same bytes to everyone."""

    async def script(connection: Connection) -> None:
        connection.keep = keep
        await connection.send(*pieces, pause=pause)

    return script
