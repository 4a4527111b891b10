"""Measures crawls of a synthetic web in which a fifth of the relevant pages are PDFs.

The same web is crawled with and without reading PDF files, by `opilio crawl` through
the web's own server, until as many pages were visited as the web has about the topic.
Prints what was found, CPU (of all processes of the crawl) and pages a second; then the
cost of reading one PDF file and one HTML page with the same text.

    python -m bench.documents [--pages N] [--share S]
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from bench.table import show
from opilio.lab.synthetic.dials import CALM, Dials
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.read.html import PageReader
from opilio.records import ReaderSetup, Response

OPILIO = Path(sys.executable).with_name("opilio")
PAGES, HOSTS = 4000, 40
SHARE = 0.33  # of articles; with hubs and mixed pages, a fifth of all relevant pages
SETTINGS = """
[politeness]
delay = 0.0
ip_delay = 0.0
[store]
min_free = 0
[documents]
pdf = {pdf}
"""
VISITED = "SELECT url, state, mime FROM link JOIN page USING (id)"
REQUESTS = (
    "SELECT count(*) FROM link WHERE state NOT IN ('waiting', 'leased', 'parked')"
)


class CrawlFigures(NamedTuple):
    """What a crawl found, and what it cost."""

    requests: int
    pages: int
    relevant: int  # by the labels of the web
    pdfs: int  # among them
    cpu: float
    seconds: float


def main() -> None:
    """Crawl with and without, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--share", type=float, default=SHARE)
    given = parser.parse_args()
    dials = msgspec.structs.replace(
        CALM, pages=given.pages, hosts=HOSTS, english=True, pdfs=given.share
    )
    web = SyntheticWeb(dials)
    topic = web.topics[0]
    relevant = {
        web.addresses.page(node): web.pages.is_pdf(node)
        for node in web.nodes()
        if topic in web.labels(web.addresses.page(node))
    }
    rows = []
    for pdf in (True, False):
        got = asyncio.run(crawl(web, topic, relevant, pdf))
        rows.append(
            (
                "yes" if pdf else "no",
                f"{got.requests:,}",
                f"{got.pages:,}",
                f"{got.relevant:,} ({got.pdfs:,} PDF)",
                f"{got.relevant / got.pages:.2f}",
                f"{got.relevant / len(relevant):.2f}",
                f"{1000 * got.cpu / got.pages:.1f}",
                f"{got.pages / got.seconds:,.0f}",
            )
        )
    columns = (
        *("PDF", "requests", "pages", "relevant", "harvest rate", "recall"),
        *("CPU ms a page", "pages/s"),
    )
    pdfs = sum(relevant.values())
    show(f"{len(relevant):,} relevant pages, {pdfs:,} of them PDF", columns, rows)
    reading_costs(dials)


async def crawl(
    web: SyntheticWeb, topic: str, relevant: dict[str, bool], pdf: bool
) -> CrawlFigures:
    """Crawl the web by the command."""
    with tempfile.TemporaryDirectory(prefix="opilio-documents-") as name:
        place = Path(name)
        (place / "topic.toml").write_text(web.topic_file(topic))
        (place / "settings.toml").write_text(SETTINGS.format(pdf=str(pdf).lower()))
        before, began = children_cpu(), time.monotonic()
        async with serve(web) as server:
            process = await asyncio.create_subprocess_exec(
                *(str(OPILIO), "crawl", str(place / "topic.toml"), "-q"),
                *("-o", str(place / "crawl"), "--proxy", server.proxy_url),
                *("--settings", str(place / "settings.toml")),
                *("--max-pages", str(len(relevant))),
                stdout=asyncio.subprocess.DEVNULL,
            )
            if await process.wait():
                raise SystemExit("the crawl failed")
        seconds = time.monotonic() - began
        with closing(sqlite3.connect(place / "crawl" / "crawl.db")) as db:
            visited = [url for url, _, _ in db.execute(VISITED)]
            [requests] = db.execute(REQUESTS).fetchone()
    found = [url for url in visited if url in relevant]
    pdfs = sum(relevant[url] for url in found) if pdf else 0
    cpu = children_cpu() - before
    return CrawlFigures(requests, len(visited), len(found), pdfs, cpu, seconds)


def children_cpu() -> float:
    """The CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reading_costs(dials: Dials) -> None:
    """Read the same articles as PDF files and as HTML, and print what they cost."""
    reader = PageReader(ReaderSetup(terms=("bee",), language="en", words=True))
    rows = []
    for name, kind, share in (
        ("PDF", "application/pdf", 1.0),
        ("HTML", "text/html", 0),
    ):
        web = SyntheticWeb(msgspec.structs.replace(dials, pdfs=share))
        wanted = SyntheticWeb(msgspec.structs.replace(dials, pdfs=1.0)).pages.is_pdf
        nodes = [node for node in web.nodes() if wanted(node)][:200]
        headers = (("content-type", kind),)
        responses = [
            Response(
                web.addresses.page(node), 200, headers, web.pages.numbered(node), 0.0
            )
            for node in nodes
        ]
        times = []
        for response in (*responses[:20], *responses):
            began = time.process_time()
            reader.read(response)
            times.append(time.process_time() - began)
        size = median(len(response.body) for response in responses)
        rows.append((name, f"{size:,.0f}", f"{1000 * median(times[20:]):.2f}"))
    show("Reading one article", ("as", "bytes", "CPU ms"), rows)


if __name__ == "__main__":
    main()
