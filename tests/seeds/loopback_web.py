"""A web on loopback for tests of seeds: any host, http and https, real way out."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import trustme

from fetch.hostile_server import Connection, answer, serve
from fetch.local_egress import opened
from opilio.fetch.egress import Egress
from opilio.fetch.robots import Robots
from opilio.records import RobotsRecord
from opilio.seeds import Visits

HTTPS_HOSTS = """
    search.brave.com html.duckduckgo.com www.mojeek.com www.startpage.com
    search.yahoo.com en.wikipedia.org hi.wikipedia.org grokipedia.com
    searx.test www.site.test
"""


class Asked(NamedTuple):
    """A request as it arrived."""

    method: str
    url: str
    headers: dict[str, str]
    form: dict[str, list[str]]

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.url).query, keep_blank_values=True)


Reply = bytes | str | Callable[[Asked], bytes]


class Web:
    """What is served: URL without its query -> body, whole answer, or function."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}
        self.asked: list[Asked] = []
        self.private: set[str] = set()  # hosts that resolve to 10.0.0.1
        self.ports: dict[int, int] = {}
        self.egress: Egress
        self.visits: Visits
        self.told: list[str] = []

    def urls(self) -> list[str]:
        return [asked.url for asked in self.asked]

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if host in self.private:
            return ["10.0.0.1"]
        return [f"127.0.0.1:{self.ports[port]}"]

    async def reply(self, connection: Connection, scheme: str) -> None:
        head = connection.request.decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        lines = (line.partition(": ") for line in head[1:] if line)
        headers = {name.lower(): value for name, _, value in lines}
        length = int(headers.get("content-length", 0))
        body = (await connection.reader.readexactly(length)).decode()
        url = f"{scheme}://{headers['host']}{path}"
        asked = Asked(method, url, headers, parse_qs(body, keep_blank_values=True))
        self.asked.append(asked)
        page = self.pages.get(url.partition("?")[0])
        if callable(page):
            page = page(asked)
        if page is None:
            page = answer(b"not here", status=b"404 Not Found")
        if isinstance(page, str):
            page = page.encode()
        if not page.startswith(b"HTTP/1.1"):
            page = answer(page)
        connection.keep = True
        await connection.send(page)


class Memory:
    """Robots records of one test."""

    def load(self, origin: str) -> RobotsRecord | None:
        return None

    def save(self, record: RobotsRecord) -> None:
        pass


@cache
def certificates() -> tuple[ssl.SSLContext, str]:
    """What the server shows, and what the client trusts; made once."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*HTTPS_HOSTS.split()).configure_cert(context)
    file = Path(mkdtemp()) / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return context, str(file)


@asynccontextmanager
async def opened_web(*, pause: float = 0.0) -> AsyncIterator[Web]:
    """The web with its way out, as long as the block runs."""
    web = Web()
    context, ca_file = certificates()

    async def plain(connection: Connection) -> None:
        await web.reply(connection, "http")

    async def secure(connection: Connection) -> None:
        await web.reply(connection, "https")

    async with (
        serve(plain) as http,
        serve(secure, tls=context) as https,
        opened(web, ca_file=ca_file, user_agent="opilio-test/1") as egress,
    ):
        web.ports = {80: http.port, 443: https.port}
        web.egress = egress
        robots = Robots(egress.get, Memory(), "opilio-test/1")
        web.visits = Visits(egress.get, robots, pause)
        yield web


def moved(location: str, status: bytes = b"301 Moved Permanently") -> bytes:
    """A redirect."""
    return answer(b"", b"Location: " + location.encode(), status=status)
