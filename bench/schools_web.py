"""Serves the schools web and search engines on loopback, for the examples of the docs.

Run it with `python -m bench.schools_web [PORT]` and add `--proxy http://127.0.0.1:PORT
--delay 0` to the commands. The engines find pages by the words of titles and texts:

    http://engine.test/   as SearXNG does: one engine reads texts, the other titles
    http://json.test/     titles, ?q=WORDS&page=N: {"results": [{"url": …}]}
    http://atom.test/     texts, ?q=WORDS&start=N: an Atom feed
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from sklearn.feature_extraction.text import TfidfVectorizer

from bench.archive_proxy import ArchiveProxy, encoded
from bench.judges import WEB
from bench.read import load
from opilio.lab.webs import open_web

PORT = 8099
A_PAGE = 10  # results
ALL = 1_000_000
TAGS = re.compile(rb"(?s)<(script|style).*?</\1>|<[^>]*>")
TITLE = re.compile(rb"(?is)<title>(.*?)</title>")


class Ranking:
    """Finds texts by the words that they contain."""

    def __init__(self, addresses: Sequence[str], texts: Sequence[bytes]) -> None:
        self.addresses = addresses
        self.words = TfidfVectorizer(
            sublinear_tf=True, stop_words="english", decode_error="replace"
        )
        self.rows = self.words.fit_transform(texts)

    def best(self, query: str, start: int) -> list[str]:
        """One page of results."""
        scores = (self.rows @ self.words.transform([query]).T).toarray()[:, 0]
        order = (-scores).argsort(kind="stable")[start : start + A_PAGE]
        return [self.addresses[number] for number in order if scores[number] > 0]


class SchoolsWeb(ArchiveProxy):
    """The archive as a proxy serves it, and the engines beside it."""

    def __init__(self, warcs: Sequence[Path]) -> None:
        super().__init__(warcs, 0.0, ["schools-wikipedia.test"])
        pages = [page for warc in warcs for page in load(warc, ALL)]
        addresses = [page.url for page in pages]
        titles = [found[1] if (found := TITLE.search(p.body)) else b"" for p in pages]
        self.texts = Ranking(addresses, [TAGS.sub(b" ", p.body) for p in pages])
        self.titles = Ranking(addresses, titles)

    def answer(self, url: str) -> tuple[bytes, float]:
        """A page, or results of an engine."""
        parts = urlsplit(url)
        asked = parse_qs(parts.query)
        query = asked.get("q", [""])[0]
        page = int(asked.get("pageno", asked.get("page", ["1"]))[0])
        start = int(asked.get("start", [str((page - 1) * A_PAGE)])[0])
        found = self.texts.best(query, start)
        if parts.hostname == "engine.test":
            by_title = self.titles.best(query, start)
            results = [{"url": u, "engines": ["texts"]} for u in found]
            results += [{"url": u, "engines": ["titles"]} for u in by_title]
        elif parts.hostname == "json.test":
            results = [{"url": u} for u in self.titles.best(query, start)]
        elif parts.hostname == "atom.test":
            links = [f'<entry><link href="{escape(u)}"/></entry>' for u in found]
            feed = f'<feed xmlns="http://www.w3.org/2005/Atom">{"".join(links)}</feed>'
            return answered("application/atom+xml", feed), 0.0
        else:
            return super().answer(url)
        return answered("application/json", json.dumps({"results": results})), 0.0


def answered(kind: str, text: str) -> bytes:
    """A response with this text."""
    return encoded(200, [("content-type", kind)], text.encode())


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    web = SchoolsWeb(open_web(WEB).warcs)
    server = await asyncio.start_server(web.serve, "127.0.0.1", port, backlog=1024)
    print(f"--proxy http://127.0.0.1:{port} --delay 0", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int((sys.argv[1:] or [PORT])[0])))
