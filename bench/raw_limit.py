"""The raw limit: fetches, parses, extracts and follows; stores and checks nothing.

    python -m bench.raw_limit START_URL MAX_PAGES

One process, one host: asyncio and httptools for HTTP/1.1, turbohtml for title,
headings, links with anchor and context, and text, ada-url for joining, a set of URLs.
No robots, no politeness, no limits, no errors, no store. It is what crawling would cost
if nothing could go wrong and nothing had to be stored. Only answers with status 200
count as pages, as they do for Opilio; dead links cost both of them requests.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from urllib.parse import urlsplit

import ada_url
import httptools
import turbohtml

CONNECTIONS = 16
CONTEXT = 100  # characters on each side of a link


class Connection(asyncio.Protocol):
    """One keep-alive connection that requests one URL after another."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.chunks: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        url = self.crawler.next()
        if url is None:
            self.crawler.idle.append(self)
            return
        self.url = url
        self.parser = httptools.HttpResponseParser(self)
        path = urlsplit(url).path or "/"
        self.transport.write(
            f"GET {path} HTTP/1.1\r\nHost: {self.crawler.host}\r\n"
            "Accept: text/html\r\n\r\n".encode()
        )

    def connection_lost(self, error: Exception | None) -> None:
        """A server may close the connection after a URL that it rejects."""
        if self in self.crawler.idle:
            self.crawler.idle.remove(self)
        elif not self.crawler.done.done():
            self.crawler.answer(self.url, 0, b"")
            self.crawler.connect()

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_body(self, data: bytes) -> None:
        self.chunks.append(data)

    def on_message_complete(self) -> None:
        body, self.chunks = b"".join(self.chunks), []
        self.crawler.answer(self.url, self.parser.get_status_code(), body)
        self.ask()


class Crawler:
    """Breadth-first over one host."""

    def __init__(self, start: str, limit: int) -> None:
        self.host = urlsplit(start).netloc
        self.queue = deque([start])
        self.seen = {start}
        self.limit = limit
        self.asked = self.answered = self.pages = 0
        self.idle: list[Connection] = []
        self.loop = asyncio.get_running_loop()
        self.done = self.loop.create_future()
        self.opening: set[asyncio.Task[object]] = set()

    def connect(self) -> None:
        address = urlsplit(self.queue[0] if self.queue else f"http://{self.host}/")
        opening = self.loop.create_connection(
            lambda: Connection(self), address.hostname, address.port
        )
        task = self.loop.create_task(opening)
        self.opening.add(task)
        task.add_done_callback(self.opening.discard)

    def next(self) -> str | None:
        if not self.queue or self.is_enough():
            return None
        self.asked += 1
        return self.queue.popleft()

    def is_enough(self) -> bool:
        """Whether the pages so far and those that are awaited reach the limit."""
        return self.pages + self.asked - self.answered >= self.limit

    def answer(self, url: str, status: int, body: bytes) -> None:
        self.answered += 1
        if status == 200:
            self.pages += 1
            self.follow(extract(url, body))
        while self.idle and self.queue and not self.is_enough():
            self.idle.pop().ask()
        over = self.asked == self.answered and not self.queue
        if (self.pages >= self.limit or over) and not self.done.done():
            self.done.set_result(None)

    def follow(self, targets: list[str]) -> None:
        for target in targets:
            if target not in self.seen:
                self.seen.add(target)
                if urlsplit(target).netloc == self.host:
                    self.queue.append(target)


def extract(url: str, body: bytes) -> list[str]:
    """Title, headings, links with anchor and context, text; returns the links."""
    document = turbohtml.parse(body)
    node = document.select_one("title")
    title = node.text if node else ""
    headings = [node.text for node in document.select("h1, h2, h3, h4, h5, h6")]
    body_node = document.select_one("body")
    text = body_node.text if body_node else ""
    targets = []
    before = after = ""
    position = 0
    for node in document.select("a[href]"):
        anchor = node.text
        found = text.find(anchor, position) if anchor else -1
        if found >= 0:
            position = found
            before = text[max(0, found - CONTEXT) : found]
            after = text[found + len(anchor) : found + len(anchor) + CONTEXT]
        else:
            before = after = ""
        try:
            target = ada_url.join_url(url, node.attrs["href"])
        except ValueError:
            continue
        targets.append(target.partition("#")[0])
    del title, headings, before, after
    return targets


async def main() -> None:
    start, limit = sys.argv[1], int(sys.argv[2])
    crawler = Crawler(start, limit)
    for _ in range(CONNECTIONS):
        crawler.connect()
    await crawler.done
    print(json.dumps({"pages": crawler.pages, "requests": crawler.answered}))


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
