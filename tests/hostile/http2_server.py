"""A raw HTTP/2 server with TLS, which can send any frames, legal or not."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import trustme
from hpack import Encoder
from hyperframe.frame import Frame, HeadersFrame, PingFrame, SettingsFrame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD = 9  # bytes of the head of a frame
LOTS = 2**26  # bytes that are written at most, if the client goes on reading


class Http2Client:
    """The other side of a connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.encode = Encoder().encode
        self.sent = 0

    async def send(self, *frames: Frame | bytes) -> None:
        """Send frames as they are."""
        for frame in frames:
            data = frame if isinstance(frame, bytes) else frame.serialize()
            self.sent += len(data)
            if self.sent > LOTS:
                raise ConnectionError("the client takes everything")
            self.writer.write(data)
            await self.writer.drain()
            await asyncio.sleep(0)  # the client is in the same loop

    def headers(self, stream: int, *fields: tuple[str, str], end: str = "") -> Frame:
        """The headers of a page."""
        told = [(":status", "200"), ("content-type", "text/html"), *fields]
        frame = HeadersFrame(stream, self.encode(told))
        frame.flags.add("END_HEADERS")
        if end:
            frame.flags.add("END_STREAM")
        return frame

    async def receive(self) -> Frame:
        """The next frame."""
        frame, length = Frame.parse_frame_header(
            memoryview(await self.reader.readexactly(HEAD))
        )
        frame.parse_body(memoryview(await self.reader.readexactly(length)))
        return frame


Script = Callable[[Http2Client, int], Awaitable[None]]
"""What is done about a request, with the number of its stream."""


class Http2Server:
    """Plays a script for each request, and counts frames."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.frames: Counter[str] = Counter()
        self.connections = 0
        self.port = 0
        self.tasks: set[asyncio.Task[None] | None] = set()

    async def meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection."""
        self.connections += 1
        task = asyncio.current_task()
        self.tasks.add(task)
        client = Http2Client(reader, writer)
        try:
            with suppress(OSError, EOFError):
                await self.talk(client)
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self.tasks.discard(task)
            with suppress(OSError):
                writer.close()

    async def talk(self, client: Http2Client) -> None:
        """Answer requests, pings and settings."""
        await client.reader.readexactly(len(PREFACE))
        await client.send(SettingsFrame(0))
        while True:
            frame = await client.receive()
            self.frames[type(frame).__name__] += 1
            if isinstance(frame, HeadersFrame):
                await self.script(client, frame.stream_id)
            elif isinstance(frame, SettingsFrame) and "ACK" not in frame.flags:
                await client.send(SettingsFrame(0, flags=["ACK"]))
            elif isinstance(frame, PingFrame) and "ACK" not in frame.flags:
                await client.send(PingFrame(0, frame.opaque_data, flags=["ACK"]))

    @property
    def url(self) -> str:
        """An address of the server."""
        return f"https://h2.test:{self.port}/"


@asynccontextmanager
async def serve_http2(
    script: Script, certificate: trustme.LeafCert
) -> AsyncIterator[Http2Server]:
    """Serve while the block lasts."""
    server = Http2Server(script)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(tls)
    tls.set_alpn_protocols(["h2"])
    listener = await asyncio.start_server(server.meet, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        tasks = [task for task in server.tasks if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
