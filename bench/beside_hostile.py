"""Crawls a synthetic web with and without hostile hosts, one page at a time.

    python -m bench.beside_hostile [PAGES [SEED]]

Time plays no part, so what differs is what the crawl learnt and what it visited. Three
webs are crawled: the plain one; one with links to hosts that do not answer; one with
the same links to hosts that play the attacks of `opilio.lab.hostile`.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

from bench.soak_hostile import is_hostile
from bench.soak_web import SoakServer, hostile_names
from bench.table import show
from opilio import settings
from opilio.assembly.build import Ways, assemble
from opilio.assembly.plan import Plan
from opilio.errors import Unusable
from opilio.fetch.answers import refuse_unusable
from opilio.lab.hostile.server import HostileVisit
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.records import SEED_PROMISE, Headers, Response
from opilio.settings import DOCUMENTS
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import compile_topic
from opilio.topic.file import load_topic

Visited = list[tuple[str, str]]
WEBS = ("plain", "dead", "hostile")
PATIENCE = 0.2  # seconds for an attack to send its page
MOST_BYTES = 10 * 2**20


class Enough(Exception):
    """The body is longer than a crawl reads."""


class Recorder:
    """Keeps what an attack sends."""

    def __init__(self) -> None:
        self.sent = bytearray()

    def write(self, data: bytes) -> None:
        """Keep a piece."""
        self.sent += data

    async def drain(self) -> None:
        """Stop an attack without end."""
        if len(self.sent) > MOST_BYTES:
            raise Enough
        await asyncio.sleep(0)


class MadeFetch:
    """Answers for the web and for hostile hosts, in this process."""

    def __init__(self, server: SoakServer, kind: str) -> None:
        self.server = server
        self.kind = kind

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """What a host would answer that never fails for long."""
        host, _, path = url.removeprefix("http://").partition("/")
        if is_hostile(f"http://{host}/"):
            response = await self.attack(url, host, f"/{path}")
        else:
            response = self.answer(url, host)
        refuse_unusable(response, DOCUMENTS)
        return response

    def answer(self, url: str, host: str) -> Response:
        """A page of the web."""
        web = self.server.web
        known = web.graph.host_by_name.get(host)
        if known is None or known.robots == "failing" or "/private/" in url:
            raise Unusable("robots", url, contacted=False)
        answer = web.respond(url, 0)
        attempt = 0
        while answer.status == 500:
            answer, attempt = web.respond(url, attempt + 1), attempt + 1
        body = self.server.with_links(host, url, answer.body)
        return Response(url, answer.status, answer.headers, body, 0.0)

    async def attack(self, url: str, host: str, path: str) -> Response:
        """What a hostile host sends."""
        if self.kind == "dead":
            raise Unusable("dns", url, contacted=False)
        recorder = Recorder()
        writer = cast(asyncio.StreamWriter, recorder)
        visit = HostileVisit(writer, host, path, f"http://{host}/")
        with suppress(Enough, TimeoutError, AttributeError):
            await asyncio.wait_for(self.server.play(visit), PATIENCE)
        head, _, body = bytes(recorder.sent).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = [line.partition(":") for line in lines[1:]]
        headers = tuple((name.lower(), value.strip()) for name, _, value in fields)
        names = {name for name, _ in headers}
        status = lines[0].split(" ")[1:2]
        if not body or not status or not status[0].isdigit():
            raise Unusable("bad_http", url)
        if names & {"content-encoding", "transfer-encoding", "x-honey", "x-odd"}:
            raise Unusable("bad_http", url)
        return Response(url, int(status[0]), headers, body[:MOST_BYTES], 0.0)

    async def close(self) -> None:
        """Do nothing."""


async def crawl(dials: Dials, kind: str, pages: int, home: Path) -> Visited:
    """The URL and state of each page, in the order of the crawl."""
    names = [] if kind == "plain" else hostile_names(dials)
    server = SoakServer(SyntheticWeb(dials), names)
    topic_file = home / "topic.toml"
    topic_file.write_text(server.web.topic_file(server.web.topics[0]))
    topic = load_topic(topic_file)
    plan = Plan(
        topic=topic,
        crawl=settings.CrawlSettings(max_pages=pages, in_flight=1),
        politeness=settings.PolitenessSettings(delay=0.0, ip_delay=0.0),
        store=settings.StoreSettings(commit_every=1e6),
        search=settings.SearchSettings(index=False),
    )
    folder = CrawlFolder(home / kind)
    folder.make()
    subject = compile_topic(topic, None, plan.crawl.vectors, plan.crawl.weights)
    ways = Ways(fetch=lambda *_: MadeFetch(server, kind))
    async with assemble(plan, folder, subject, ways) as made:
        await made.run(dict.fromkeys(topic.seeds, SEED_PROMISE))
    query = "SELECT url, state FROM page JOIN link USING (id) ORDER BY number"
    with closing(sqlite3.connect(folder.database)) as db:
        return db.execute(query).fetchall()


def main(pages: int, seed: int) -> None:
    """Crawl the three webs, and compare."""
    dials = Dials(pages=4 * pages, hosts=max(60, pages // 10), seed=seed)
    web = SyntheticWeb(dials)
    topic = web.topics[0]
    found = {}
    with tempfile.TemporaryDirectory() as home:
        for kind in WEBS:
            found[kind] = asyncio.run(crawl(dials, kind, pages, Path(home)))
    rows = []
    for tenth in range(1, 11):
        upto = pages * tenth // 10
        row = [f"{upto:,}"]
        for kind in WEBS:
            urls = [url for url, _ in found[kind][:upto]]
            row.append(sum(topic in web.labels(url) for url in urls))
        attacks = [url for url, _ in found["hostile"][:upto] if is_hostile(url)]
        rows.append((*row, f"{row[3] / max(1, row[1]):.3f}", len(attacks)))
    show(
        f"Relevant pages of the web, seed {seed}",
        ("pages", *WEBS, "hostile/plain", "hostile pages"),
        rows,
    )
    hosts = Counter(url.split("/")[2] for url, _ in found["hostile"] if is_hostile(url))
    print(hosts.most_common(12))


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*given, *(2000, 0)[len(given) :])
