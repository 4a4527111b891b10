"""The server of the synthetic web, asked over real connections."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import pytest

from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import Server, serve
from opilio.lab.synthetic.web import SyntheticWeb

DIALS = Dials(
    pages=300,
    hosts=10,
    slow_hosts=0.2,
    slow_delay=0.1,
    failing_hosts=0.2,
    failure_rate=0.0,
    first_failures=1,
)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """Speaks HTTP by hand over one connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, request: str) -> Answer:
        self.send(request)
        return await self.answer(request.startswith("HEAD"))

    def send(self, request: str) -> None:
        self.writer.write(request.replace("\n", "\r\n").encode() + b"\r\n\r\n")

    async def answer(self, head_only: bool = False) -> Answer:
        head = await self.reader.readuntil(b"\r\n\r\n")
        line, *lines = head.decode().strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = 0 if head_only else int(headers["content-length"])
        body = await self.reader.readexactly(length)
        return Answer(int(line.split()[1]), headers, body)


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection(*server.address)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.fixture(scope="module")
def web() -> SyntheticWeb:
    return SyntheticWeb(DIALS)


@pytest.fixture
async def server(web: SyntheticWeb) -> AsyncIterator[Server]:
    async with asyncio.timeout(20), serve(web) as server:
        yield server


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    async with connected(server) as client:
        yield client


def host_that(web: SyntheticWeb, *, slow: bool = False, failing: bool = False) -> str:
    return next(
        host.name
        for host in web.graph.hosts
        if (host.slow, host.failing) == (slow, failing)
    )


async def test_an_origin_is_chosen_by_the_host_header(
    web: SyntheticWeb, client: Client
) -> None:
    host = host_that(web)
    answer = await client.ask(f"GET /imprint.html HTTP/1.1\nHost: {host}:8080")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body == web.respond(f"http://{host}/imprint.html").body


async def test_a_proxy_is_asked_for_a_whole_url(
    web: SyntheticWeb, server: Server, client: Client
) -> None:
    url = web.seeds("chess", 1)[0]
    answer = await client.ask(f"GET {url} HTTP/1.1\nHost: anything.test")
    assert answer.body == web.respond(url).body
    (request,) = server.requests
    assert (request.method, request.url, request.status) == ("GET", url, 200)
    assert request.host == url.split("/")[2]


async def test_a_connection_is_kept_for_many_requests(
    web: SyntheticWeb, server: Server, client: Client
) -> None:
    host = host_that(web)
    for _ in range(20):
        answer = await client.ask(f"GET / HTTP/1.1\nHost: {host}")
        assert answer.status == 200
    assert server.connections == 1
    times = [request.at for request in server.requests]
    assert len(times) == 20
    assert times == sorted(times)


@pytest.mark.parametrize("slow", [False, True])
async def test_two_requests_sent_at_once_are_both_answered(
    web: SyntheticWeb, client: Client, slow: bool
) -> None:
    host = host_that(web, slow=slow)
    client.send(f"GET / HTTP/1.1\nHost: {host}")
    client.send(f"GET /robots.txt HTTP/1.1\nHost: {host}")
    assert b"<html" in (await client.answer()).body
    assert b"User-agent" in (await client.answer()).body


async def test_a_head_request_gets_no_body(web: SyntheticWeb, client: Client) -> None:
    host = host_that(web)
    head = await client.ask(f"HEAD / HTTP/1.1\nHost: {host}")
    page = await client.ask(f"GET / HTTP/1.1\nHost: {host}")
    assert head.status == page.status == 200
    assert int(head.headers["content-length"]) == len(page.body) > 0


async def test_missing_pages_and_hosts_and_redirects_are_told_by_status(
    web: SyntheticWeb, client: Client
) -> None:
    host = host_that(web)
    missing = await client.ask(f"GET /nothing HTTP/1.1\nHost: {host}")
    assert missing.status == 404
    unknown = await client.ask("GET / HTTP/1.1\nHost: elsewhere.test")
    assert unknown.status == 502
    moved = next(
        node
        for node in web.nodes()
        if node.moved == 1
        and not any(
            web.host(url.split("/")[2]).failing
            for url in (web.addresses.old(node), web.addresses.page(node))
        )
    )
    redirect = await client.ask(f"GET {web.addresses.old(moved)} HTTP/1.1\nHost: x")
    assert redirect.status in (301, 302)
    assert redirect.headers["location"] == web.addresses.page(moved)


async def test_a_slow_host_takes_its_time_and_others_do_not_wait(
    web: SyntheticWeb, server: Server
) -> None:
    slow, quick = host_that(web, slow=True), host_that(web)
    finished: list[str] = []

    async def ask(host: str) -> None:
        async with connected(server) as client:
            await client.ask(f"GET / HTTP/1.1\nHost: {host}")
            finished.append(host)

    started = time.monotonic()
    async with asyncio.TaskGroup() as group:
        group.create_task(ask(slow))
        group.create_task(ask(quick))
    assert finished == [quick, slow]
    assert time.monotonic() - started >= DIALS.slow_delay


async def test_a_failing_host_fails_first_and_answers_then(
    web: SyntheticWeb, client: Client
) -> None:
    request = f"GET / HTTP/1.1\nHost: {host_that(web, failing=True)}"
    statuses = [(await client.ask(request)).status for _ in range(3)]
    assert statuses == [500, 200, 200]


async def test_many_clients_are_served_at_once(
    web: SyntheticWeb, server: Server
) -> None:
    urls = [url for url in web.urls() if not web.host(url.split("/")[2]).failing]

    async def ask(some: list[str]) -> None:
        async with connected(server) as client:
            for url in some:
                answer = await client.ask(f"GET {url} HTTP/1.1\nHost: x")
                assert answer.body == web.respond(url).body

    async with asyncio.TaskGroup() as group:
        for start in range(50):
            group.create_task(ask(urls[start::50]))
    assert sorted(request.url for request in server.requests) == sorted(urls)


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        ("CONNECT www.ex.test:443 HTTP/1.1\nHost: www.ex.test:443", 501),
        ("POST / HTTP/1.1\nHost: www.ex.test", 405),
        ("GET / HTTP/1.1", 400),
        ("nonsense", 400),
        ("GET / HTTP/1.1\nHost: x\nConnection: close", 502),
        ("GET / HTTP/1.0\nHost: x", 502),
        ("GET /" + "a" * 70_000, 431),
    ],
)
async def test_a_connection_ends_after_what_cannot_be_kept(
    client: Client, request_head: str, status: int
) -> None:
    answer = await client.ask(request_head)
    assert answer.status == status
    assert answer.headers["connection"] == "close"
    assert await client.reader.read() == b""


async def test_clients_are_dropped_when_the_server_stops(web: SyntheticWeb) -> None:
    async with serve(web) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        await Client(reader, writer).ask("GET / HTTP/1.1\nHost: x")
    with pytest.raises(ConnectionError):
        if await reader.read() == b"":
            raise ConnectionResetError
    writer.close()
    with pytest.raises(OSError):
        await asyncio.open_connection(*server.address)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "opilio.lab.synthetic.server", "--pages", "200"]
    command += ["--hosts", "5", "--log", str(tmp_path / "log.jsonl")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        yield process
        process.kill()


def test_a_process_serves_until_its_input_closes(
    process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert process.stdout and process.stdin
    started = json.loads(process.stdout.readline())
    host = SyntheticWeb(Dials(pages=200, hosts=5)).hosts[0]
    client = HTTPConnection("127.0.0.1", started["port"], timeout=60)
    client.request("GET", f"http://{host}/")
    assert client.getresponse().status == 200
    client.close()
    (line,) = (tmp_path / "log.jsonl").read_text().splitlines()
    assert json.loads(line)["url"] == f"http://{host}/"
    process.stdin.close()
    assert process.wait(60) == 0


def test_a_bad_dial_ends_the_process_with_its_reason(tmp_path: Path) -> None:
    dials = tmp_path / "dials.toml"
    dials.write_text("localty = 0.5\n")
    command = [
        sys.executable,
        "-m",
        "opilio.lab.synthetic.server",
        "--dials",
        str(dials),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "did you mean 'locality'?" in ended.stderr
