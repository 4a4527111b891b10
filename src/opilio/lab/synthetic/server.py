"""Serves a synthetic web on loopback, as origin of all its hosts and as proxy.

    async with serve(SyntheticWeb(Dials())) as server:
        server.proxy_url, server.requests

As a process, `python -m opilio.lab.synthetic.server --pages 5000` prints one line of
JSON with its port and serves until its standard input closes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Protocol, cast

import msgspec
import uvloop

from opilio.errors import OpilioError
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticAnswer, SyntheticWeb
from opilio.records import Clock
from opilio.settings import load_toml

MAX_HEAD = 64 * 2**10
REASONS = {status.value: status.phrase for status in HTTPStatus}


class Web(Protocol):
    """What can be served."""

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer: ...


class Request(msgspec.Struct, frozen=True):
    """A request as the server saw it."""

    at: float  # on the server's clock
    method: str
    host: str
    url: str
    status: int  # 304: the client had it already


Log = Callable[[Request], None]


class Server:
    """A running server: where it listens and what it was asked."""

    def __init__(self, web: Web, clock: Clock, log: Log | None) -> None:
        self.web = web
        self.clock = clock
        self.requests: list[Request] = []
        self.port = 0
        self.connections = 0  # opened so far
        self._log: Log = log or self.requests.append
        self._attempts: Counter[str] = Counter()
        self._open: set[Connection] = set()

    @property
    def address(self) -> tuple[str, int]:
        """The address it listens on."""
        return "127.0.0.1", self.port

    @property
    def proxy_url(self) -> str:
        """What to give a client as its proxy."""
        return f"http://127.0.0.1:{self.port}"

    def answer(
        self, method: str, url: str, host: str, headers: Mapping[str, str]
    ) -> SyntheticAnswer:
        """Get the web's answer, count the attempt and log the request."""
        at = self.clock()
        answer = unless_known(self.web.respond(url, self._attempts[url]), headers)
        if answer.status >= 500:
            # Only failures depend on how often a URL was asked for.
            self._attempts[url] += 1
        self._log(Request(at, method, host, url, answer.status))
        return answer

    def opened(self, connection: Connection) -> None:
        """A client has come."""
        self.connections += 1
        self._open.add(connection)

    def closed(self, connection: Connection) -> None:
        """A client has gone."""
        self._open.discard(connection)

    def close(self) -> None:
        """Drop every client."""
        for connection in list(self._open):
            connection.transport.abort()


class Connection(asyncio.Protocol):
    """One client; its requests are answered one after the other."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.received = b""
        self.timer: asyncio.TimerHandle | None = None  # of an answer that is due

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.server.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.closed(self)
        if self.timer:
            self.timer.cancel()

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.serve_waiting()

    def serve_waiting(self) -> None:
        """Answer the requests whose heads are here, until one has to wait."""
        while self.timer is None and not self.transport.is_closing():
            head, end, rest = self.received.partition(b"\r\n\r\n")
            if len(head) > MAX_HEAD:
                self.send(SyntheticAnswer(431), body=True, keep=False)
            elif end:
                self.received = rest
                self.serve(head)
            else:
                break

    def serve(self, head: bytes) -> None:
        """Answer one request, after the delay that its answer asks for."""
        try:
            line, *lines = head.decode("latin-1").split("\r\n")
            method, target, version = line.split(" ")
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines)
            }
            url, host = locate(target, headers.get("host", ""))
        except ValueError:
            self.send(SyntheticAnswer(400), body=True, keep=False)
            return
        wish = headers.get("connection", headers.get("proxy-connection", "")).lower()
        keep = wish != "close" and (version != "HTTP/1.0" or wish == "keep-alive")
        if method not in ("GET", "HEAD"):
            status = 501 if method == "CONNECT" else 405
            self.send(SyntheticAnswer(status), body=True, keep=False)
            return
        answer = self.server.answer(method, url, host, headers)
        if not answer.delay:
            self.send(answer, body=method == "GET", keep=keep)
            return
        self.timer = asyncio.get_running_loop().call_later(
            answer.delay, self.send_late, answer, method == "GET", keep
        )

    def send_late(self, answer: SyntheticAnswer, body: bool, keep: bool) -> None:
        """Send the delayed answer, then handle what arrived in the meantime."""
        self.timer = None
        self.send(answer, body=body, keep=keep)
        self.serve_waiting()

    def send(self, answer: SyntheticAnswer, *, body: bool, keep: bool) -> None:
        """Write an answer to the wire."""
        status = answer.status
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, '')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        if status != 304:  # the length would be that of the page
            lines.append(f"content-length: {len(answer.body)}")
        if not keep:
            lines.append("connection: close")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        self.transport.write(head + answer.body if body else head)
        if not keep:
            self.transport.close()


def unless_known(
    answer: SyntheticAnswer, headers: Mapping[str, str]
) -> SyntheticAnswer:
    """The answer, or 304 if the request says that the client has it already.

    RFC 9110, 13.2.2: a tag goes before a date.
    """
    told = dict(answer.headers)
    tag, date = told.get("etag"), told.get("last-modified")
    asked, since = headers.get("if-none-match"), headers.get("if-modified-since")
    if answer.status != 200:
        return answer
    if asked is not None:
        known = tag is not None and tag in (one.strip() for one in asked.split(","))
    else:
        known = date is not None and since == date
    if not known:
        return answer
    return msgspec.structs.replace(answer, status=304, body=b"")


def locate(target: str, host_header: str) -> tuple[str, str]:
    """The URL asked for and its host, from the request line and the Host header.

    A proxy is asked for a whole URL. An origin is asked for a path; its port is where
    we happen to listen and not part of the web.
    """
    if target.lower().startswith("http://"):
        host = target[7:].partition("/")[0]
        return target, host.partition(":")[0].lower()
    host = host_header.partition(":")[0].lower()
    if not host or not target.startswith("/"):
        if ":" in target:  # CONNECT host:port, refused by its method
            return target, host
        raise ValueError("the request names no host")
    return f"http://{host}{target}", host


@contextlib.asynccontextmanager
async def serve(
    web: Web, *, port: int = 0, log: Log | None = None, clock: Clock = time.monotonic
) -> AsyncIterator[Server]:
    """Serve a web while the block lasts; `log` gets each request instead of a list."""
    server = Server(web, clock, log)
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(
        lambda: Connection(server), "127.0.0.1", port, backlog=1024
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        server.close()
        await listener.wait_closed()


@contextlib.contextmanager
def request_log(path: Path | None) -> Iterator[Log]:
    """A log that appends each request to a file as a line of JSON, or drops it."""
    if path is None:
        yield lambda request: None
        return
    encode = msgspec.json.Encoder().encode
    with path.open("ab", buffering=0) as file:

        def write(request: Request) -> None:
            file.write(encode(request) + b"\n")

        yield write


async def run(web: SyntheticWeb, port: int, log: Path | None) -> None:
    """Serve a web until standard input closes."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait_for_end() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    with request_log(log) as write:
        async with serve(web, port=port, log=write) as server:
            started = {
                "port": server.port,
                "proxy": server.proxy_url,
                "pages": web.dials.pages,
                "hosts": len(web.hosts),
                "topics": web.topics,
            }
            print(json.dumps(started), flush=True)
            # A thread, since a file or a terminal cannot be polled by every loop.
            threading.Thread(target=wait_for_end, daemon=True).start()
            await ended.wait()


def main(arguments: list[str] | None = None) -> int:
    """The command `python -m opilio.lab.synthetic.server`; every dial is an option."""
    parser = argparse.ArgumentParser(prog="python -m opilio.lab.synthetic.server")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--dials", type=Path, help="a TOML file of dials")
    parser.add_argument("--log", type=Path, help="a file for requests, as JSON lines")
    for field in msgspec.structs.fields(Dials):
        option = "--" + field.name.replace("_", "-")
        if field.type is bool or field.type == "bool":
            parser.add_argument(option, action="store_true", default=None)
        else:
            parser.add_argument(option, type=type(field.default), metavar=field.type)
    given = vars(parser.parse_args(arguments))
    port, file, log = given.pop("port"), given.pop("dials"), given.pop("log")
    try:
        dials = load_toml(file, Dials) if file else Dials()
        chosen = {name: value for name, value in given.items() if value is not None}
        began = time.time()
        web = SyntheticWeb(
            msgspec.structs.replace(dials, **chosen), lambda: time.time() - began
        )
    except OpilioError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    uvloop.run(run(web, port, log))
    return 0


if __name__ == "__main__":
    sys.exit(main())
