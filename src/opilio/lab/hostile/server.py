"""A raw server on loopback that sends whatever a case says, legal or not.

A case is chosen by the first label of the host, if the server is used as a proxy
(`http://gzip-bomb.test/`), or by the first segment of the path
(`http://127.0.0.1:8000/gzip-bomb/`).
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

HTML = "text/html; charset=utf-8"
LONGEST_REQUEST = 2**16
GOOD = "good"


class HostileVisit:
    """One request, and the connection to answer it."""

    def __init__(
        self, writer: asyncio.StreamWriter, host: str, path: str, root: str
    ) -> None:
        self.writer = writer
        self.host = host
        self.path = path  # within the case
        self.root = root  # what links of the case begin with
        self.kept = False  # is the connection used again?

    async def send(self, *pieces: bytes, pause: float = 0.0) -> None:
        """Send each piece by itself, with pauses between them."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            if pause:
                await asyncio.sleep(pause)

    async def answer(
        self,
        body: bytes | str = b"",
        *headers: str,
        status: str = "200 OK",
        content_type: str = HTML,
    ) -> None:
        """Send a whole, valid response."""
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(raw)}"]
        head += [f"Content-Type: {content_type}"] if content_type else []
        lines = "\r\n".join([*head, "Connection: close", *headers, "", ""])
        await self.send(lines.encode("latin-1") + raw)

    def page(self, text: str, *links: str, title: str = "Honey bees") -> str:
        """A page about bees with these links."""
        items = "".join(f'<li><a href="{link}">honey bees</a></li>' for link in links)
        return f"<!doctype html><title>{title}</title><p>{text}</p><ul>{items}</ul>"

    def reset(self) -> None:
        """Break the connection off with RST."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Play = Callable[[HostileVisit], Awaitable[None]]


class HostileCase(NamedTuple):
    """An attack."""

    name: str
    sends: str  # in a sentence
    play: Play
    plays_robots: bool = False  # also for robots.txt; otherwise that is a 404


class HostileServer:
    """Plays cases, and counts the requests for each."""

    def __init__(self, cases: Mapping[str, HostileCase]) -> None:
        self.cases = cases
        self.port = 0
        self.requests: Counter[str] = Counter()
        self.tasks: set[asyncio.Task[None] | None] = set()

    async def meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one request after another on a connection."""
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            with suppress(OSError, EOFError, asyncio.LimitOverrunError):
                while True:
                    request = await reader.readuntil(b"\r\n\r\n")
                    visit = self.visit_of(writer, request.decode("latin-1"))
                    await self.play(visit)
                    if not visit.kept:
                        break
        except asyncio.CancelledError:
            writer.transport.abort()  # the server ends
        finally:
            self.tasks.discard(task)
            with suppress(OSError):
                writer.close()
                await writer.wait_closed()

    async def close(self) -> None:
        """End all connections."""
        tasks = [task for task in self.tasks if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def visit_of(self, writer: asyncio.StreamWriter, request: str) -> HostileVisit:
        """The case and path that a request is for."""
        target = request.split(" ", 2)[1]
        if target.startswith("http://"):  # as to a proxy
            host, _, path = target.removeprefix("http://").partition("/")
            return HostileVisit(writer, host, f"/{path}", f"http://{host}/")
        _, name, path = (*target.split("/", 2), "", "")[:3]
        if name == "robots.txt":
            name, path = "", name
        return HostileVisit(writer, f"{name}.test", f"/{path}", f"/{name}/")

    async def play(self, visit: HostileVisit) -> None:
        """Play the case of a visit."""
        name = visit.host.partition(".")[0]
        if name not in self.cases:  # hosts that a case makes up: x.farm.test
            name = visit.host.split(".")[-2] if "." in visit.host else name
        self.requests[name] += 1
        case = self.cases.get(name)
        if case is None:
            links = [f"/{each}/" for each in self.cases]
            await visit.answer(visit.page("All cases", *links))
        elif visit.path == "/robots.txt" and not case.plays_robots:
            await visit.answer("none", status="404 Not Found")
        else:
            await case.play(visit)


@asynccontextmanager
async def serve_cases(
    cases: Mapping[str, HostileCase], port: int = 0
) -> AsyncIterator[HostileServer]:
    """Serve on loopback for as long as the context is open."""
    server = HostileServer(cases)
    listener = await asyncio.start_server(
        server.meet, "127.0.0.1", port, limit=LONGEST_REQUEST
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.close()
