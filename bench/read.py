"""What reading a page costs, beside the least that parsing and extracting can cost.

Pages of ../shared/webs/schools in, or of the synthetic web where that is absent; CPU
microseconds a page out. The two are measured in turn, a hundred pages at a time, so
that a busy machine slows both alike. Run it with `python -m bench.read [pages]`.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
import turbohtml
import uvloop
from ada_url import join_url
from fastwarc.warc import ArchiveIterator, WarcRecordType

from bench.table import show
from opilio.lab.dials import REAL_SITE
from opilio.lab.synthetic import SyntheticWeb
from opilio.read.html import PageReader
from opilio.read.pool import ReaderPool
from opilio.types import ReaderSetup, Reading, Response

WEB = Path(__file__).resolve().parents[2] / "shared/webs/schools/pages.warc.gz"
TERMS = ("chemistry", "chemical element", "molecule", "atom", "periodic table")
BLOCK = 100
ROUNDS = 3


def load(path: Path, limit: int) -> Iterator[Response]:
    """The first pages of a WARC file."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            http = record.http_headers
            if http.status_code != 200 or "html" not in (
                http.get("Content-Type") or ""
            ):
                continue
            headers = [(name.lower(), value) for name, value in http.items()]
            url = record.headers["WARC-Target-URI"]
            yield Response(url, 200, headers, record.reader.read(), 0.0)
            limit -= 1
            if not limit:
                return


def make(limit: int) -> Iterator[Response]:
    """Pages of a synthetic web, of the size of real ones."""
    web = SyntheticWeb(REAL_SITE)
    for url in islice(web.urls(), limit):
        answer = web.respond(url)
        yield Response(url, 200, list(answer.headers), answer.body, 0.0)


def least(response: Response) -> int:
    """Parse; title, headings, text; links joined, with anchor and text around them."""
    document = turbohtml.parse(response.body.decode("utf-8", "replace"))
    kept: list[object] = [document.select_one("title").text]
    kept += [heading.text for heading in document.select("h1, h2, h3, h4, h5, h6")]
    kept.append(document.root.to_text())
    for link in document.select("a[href]"):
        try:
            url = join_url(response.url, link.attr("href"))
        except ValueError:
            continue
        kept.append((url, link.text, link.parent.text))
    return len(kept)


def cost(work: Callable[[Response], object], responses: list[Response]) -> float:
    """CPU seconds."""
    start = time.process_time()
    for response in responses:
        work(response)
    return time.process_time() - start


def compare(responses: list[Response]) -> None:
    """Print what a page costs, first met and met again."""
    plain = PageReader(ReaderSetup(TERMS, "en"))
    reader = PageReader(ReaderSetup(TERMS, "en", context=True))
    rows = []
    for name in ("new pages", "met again", "met again")[:ROUNDS]:
        limits, plains, reads = [], [], []
        for start in range(0, len(responses), BLOCK):
            block = responses[start : start + BLOCK]
            limits.append(cost(least, block) / len(block))
            reads.append(cost(reader.read, block) / len(block))
            plains.append(cost(plain.read, block) / len(block))
        for what, costs in (("links and text", plains), ("with context", reads)):
            ratio = statistics.median(c / x for c, x in zip(costs, limits, strict=True))
            limit, mean = statistics.mean(limits) * 1e6, statistics.mean(costs) * 1e6
            rows.append(
                (f"{name}, {what}", f"{limit:.0f}", f"{mean:.0f}", f"{ratio:.2f}")
            )
    show("Reading a page, µs of CPU", ("", "least", "read", "x least"), rows)


def make_known(setup: bytes) -> Callable[[Response], Reading]:
    """A job without work: it answers what a real page would give, made before."""
    reading = msgspec.msgpack.decode(setup, type=Reading)
    return lambda response: reading


async def measure_pool(responses: list[Response]) -> None:
    """Print what handing a page to a reader process and back costs both sides."""
    reader = PageReader(ReaderSetup(TERMS, "en", context=True))
    typical = sorted(responses, key=lambda r: len(r.body))[len(responses) // 2]
    page = reader.read(typical)
    reading = Reading(page, record=bytes(len(typical.body) // 4))
    pool = ReaderPool(1, "bench.read:make_known", msgspec.msgpack.encode(reading))
    begun = time.monotonic()
    await pool.start()
    startup = time.monotonic() - begun
    clocks = time.process_time, partial(cpu_of, pool.readers[0].process.pid)
    before = [clock() for clock in clocks]
    for first in range(0, len(responses), BLOCK):
        await asyncio.gather(*map(pool.read, responses[first : first + BLOCK]))
    ours, theirs = (clock() - then for clock, then in zip(clocks, before, strict=True))
    await pool.close()
    show(
        "Handing a page to a reader process and back, beside its job, µs of CPU",
        ("links on it", "loop", "reader", "seconds to start"),
        [
            (
                len(page.links),
                f"{ours / len(responses) * 1e6:.0f}",
                f"{theirs / len(responses) * 1e6:.0f}",
                f"{startup:.2f}",
            )
        ],
    )


def cpu_of(pid: int) -> float:
    """CPU seconds of another process."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def main(count: int = 1000) -> None:
    """Measure reading, and the way to a reader and back."""
    pages = list(load(WEB, count) if WEB.exists() else make(count))
    size = statistics.mean(len(page.body) for page in pages)
    print(f"\n{len(pages)} pages of {size / 1000:.1f} kB")
    compare(pages)
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])  # for the reader process
    uvloop.run(measure_pool(pages))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
