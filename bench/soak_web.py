"""Serves a synthetic web with hostile hosts, for `bench.soak_hostile`."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opilio.lab.hostile.cases import CASES
from opilio.lab.hostile.server import LONGEST_REQUEST, HostileServer, HostileVisit
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import REASONS
from opilio.lab.synthetic.web import SyntheticWeb

HOSTILE = 0.05  # share of hosts
SPONSORS = 2  # hosts of the web that link to a hostile one
LINKING = 0.5  # share of their pages that do
ANCHOR = "honey bee hive"  # as the topic asks for


class SoakServer(HostileServer):
    """A synthetic web and hostile hosts behind one proxy."""

    def __init__(self, web: SyntheticWeb, hostile: list[str]) -> None:
        super().__init__(CASES)
        self.web = web
        rng = random.Random(len(hostile))
        self.linked: dict[str, list[str]] = {}  # host of the web -> hostile ones
        good = web.hosts[: len(web.hosts) // 3]  # the largest: those are visited
        for name in hostile:
            for sponsor in rng.sample(good, SPONSORS):
                self.linked.setdefault(sponsor, []).append(name)
        self.fetched: Counter[str] = Counter()  # pages of the web, by URL
        self.attempts: Counter[str] = Counter()

    async def play(self, visit: HostileVisit) -> None:
        """Answer for a host of the web, or play the case of a hostile one."""
        if visit.host.endswith((".hostile", ".farm.test")):
            await super().play(visit)
            return
        url = f"http://{visit.host}{visit.path}"
        answer = self.web.respond(url, self.attempts[url])
        if answer.status >= 500:
            self.attempts[url] += 1
        if visit.path != "/robots.txt":
            self.fetched[url] += 1
        if answer.delay:
            await asyncio.sleep(answer.delay)
        body = self.with_links(visit.host, url, answer.body)
        lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, '')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        lines += [f"content-length: {len(body)}", "", ""]
        visit.kept = True
        await visit.send("\r\n".join(lines).encode("latin-1") + body)

    def with_links(self, host: str, url: str, body: bytes) -> bytes:
        """A page of the web, perhaps with a link to a hostile host."""
        rng = random.Random(url)
        hostile = self.linked.get(host)
        if hostile and rng.random() < LINKING and b"</body>" in body:
            link = f'<a href="http://{rng.choice(hostile)}/">{ANCHOR}</a>'
            body = body.replace(b"</body>", link.encode() + b"</body>", 1)
        return body


def hostile_names(dials: Dials) -> list[str]:
    """The hostile hosts beside a web of these dials."""
    count = round(dials.hosts * HOSTILE)
    names = list(CASES)
    random.Random(0).shuffle(names)
    return [f"{names[n % len(names)]}.{n}.hostile" for n in range(count)]


@asynccontextmanager
async def served(dials: Dials, hostile: bool) -> AsyncIterator[SoakServer]:
    """The web, with or without hostile hosts."""
    server = SoakServer(SyntheticWeb(dials), hostile_names(dials) if hostile else [])
    listener = await asyncio.start_server(
        server.meet, "127.0.0.1", 0, limit=LONGEST_REQUEST
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.close()
