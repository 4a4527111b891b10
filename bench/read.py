"""Measures what reading a page costs, compared with bare parsing and extracting.

It prints CPU microseconds per page of ../shared/webs/schools, or of a synthetic web if
that is absent, for topics of 10 to 50,000 terms, and the speed of matching 100,000.
What is compared is measured in turn, a hundred pages at a time, so that a busy machine
slows all of them equally. Run it with `python -m bench.read [pages]`.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import msgspec
import turbohtml
import uvloop
from ada_url import join_url
from fastwarc.warc import ArchiveIterator, WarcRecordType

from bench.table import show
from opilio.lab.synthetic.dials import REAL_SITE
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.read import kernels, plain_tidy
from opilio.read.html import PageReader
from opilio.read.lexicon import Lexicon
from opilio.read.pool import ReaderPool
from opilio.records import ReaderSetup, Reading, Response
from opilio.text import words
from opilio.text.words import Vocabulary
from opilio.vectors.files import WORDLLAMA, installed
from opilio.vectors.words import load_vectors

Thing = TypeVar("Thing")

WEB = Path(__file__).resolve().parents[2] / "shared/webs/schools/pages.warc.gz"
BLOCK = 100
ROUNDS = 3
SIZES = 10, 1_000, 50_000  # terms of a topic
MOST = 100_000
LONG_TEXT = 300_000  # characters
SEED = 3


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


def cost(work: Callable[[Thing], object], things: list[Thing]) -> float:
    """CPU seconds."""
    start = time.process_time()
    for thing in things:
        work(thing)
    return time.process_time() - start


def made_up(size: int, texts: list[str]) -> list[str]:
    """The terms of a topic: 4 in 10 are words of the texts, 3 are phrases that occur in
    them, 3 occur nowhere. No term begins or ends with a word that 1 in 20 texts has."""
    rng = random.Random(SEED)
    split = list(filter(None, map(words.tokens, texts)))
    pages = Counter(chain.from_iterable(map(set, split)))
    rare = [word for word, times in pages.items() if times < len(texts) / 20]
    some = set(rare)
    terms = dict.fromkeys(rng.sample(rare, min(size * 4 // 10, len(rare) // 2)))
    while len(terms) < size * 7 // 10:
        text = rng.choice(split)
        start = rng.randrange(max(len(text) - 4, 1))
        phrase = text[start : start + rng.choice((2, 2, 3, 4))]
        if some.issuperset((phrase[0], phrase[-1])):
            terms[" ".join(phrase)] = None
    while len(terms) < size:
        word = "".join(rng.choices("aeioubcdfghklmnprstvw", k=rng.randint(4, 10)))
        terms[rng.choice((word, f"{word} {rng.choice(rare)}"))] = None
    return list(terms)


def compare(responses: list[Response], texts: list[str]) -> None:
    """Print what a page costs, first met and met again."""
    readers = {}
    for size in SIZES:
        terms = tuple(made_up(size, texts))
        setup = ReaderSetup(terms, "en", context=True, blocks=True)
        readers[f"{size:,} terms"] = PageReader(setup).read
    parsing = PageReader(
        ReaderSetup(tuple(made_up(1_000, texts)), "en", context=True, blocks=True)
    )
    readers["1,000 terms, by the parser"] = partial(parse_and_read, parsing)
    if installed():
        vectors = load_vectors(WORDLLAMA)
        readers["1,000 terms, vectors"] = PageReader(
            parsing.setup, vectors=vectors
        ).read
    bare = ReaderSetup(tuple(made_up(SIZES[0], texts)), "en")
    readers["10 terms, no context, no blocks"] = PageReader(bare).read
    gc.collect()
    gc.freeze()  # as reader processes do
    rows = []
    for name in ("new pages", *["met again"] * (ROUNDS - 1)):
        limits: list[float] = []
        costs: dict[str, list[float]] = {reader: [] for reader in readers}
        for start in range(0, len(responses), BLOCK):
            block = responses[start : start + BLOCK]
            limits.append(cost(least, block) / len(block))
            for reader, read in readers.items():
                costs[reader].append(cost(read, block) / len(block))
        for reader, found in costs.items():
            ratio = statistics.median(c / x for c, x in zip(found, limits, strict=True))
            limit, mean = statistics.mean(limits) * 1e6, statistics.mean(found) * 1e6
            rows.append(
                (f"{name}, {reader}", f"{limit:.0f}", f"{mean:.0f}", f"{ratio:.2f}")
            )
    show("Reading a page, µs of CPU", ("", "least", "read", "x least"), rows)


def parse_and_read(reader: PageReader, response: Response) -> object:
    """Read a page as if it were one of the few that need the parser."""
    with patch.object(kernels, "tidied", plain_tidy.tidied):
        return reader.read(response)


def measure_matching(texts: list[str]) -> None:
    """Print how fast many terms are matched in plain text."""
    terms = made_up(MOST, texts)
    begun = time.process_time()
    vocabulary = Vocabulary(terms)
    keyed = time.process_time()
    lexicon = Lexicon(vocabulary)
    built = time.process_time()
    joined = "\n".join(texts)
    long_texts = [
        joined[start : start + LONG_TEXT] for start in range(0, len(joined), LONG_TEXT)
    ]
    ways = {
        "matched": lexicon.words,
        "matched and counted": lambda text: lexicon.words(text).total(),
    }
    rows = []
    for kind, some in (("pages", texts), ("long texts", long_texts)):
        size = sum(len(text.encode()) for text in some)
        for way, work in ways.items():
            took = min(cost(work, some) for _ in range(ROUNDS + 1))
            rows.append((f"{kind}, {way}", f"{size / took / 1e6:.0f}"))
    rows.append(("seconds for their keys", f"{keyed - begun:.2f}"))
    rows.append(("seconds for their tree", f"{built - keyed:.2f}"))
    show(f"Matching {MOST:,} terms in plain text, MB/s", ("", ""), rows)


def make_known(setup: bytes) -> Callable[[Response], Reading]:
    """A job without work: it returns a prepared reading of a real page."""
    reading = msgspec.msgpack.decode(setup, type=Reading)
    return lambda response: reading


async def measure_pool(responses: list[Response]) -> None:
    """Print what handing a page to a reader process and back costs both sides."""
    reader = PageReader(ReaderSetup(("chemistry", "atom"), "en", context=True))
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
    texts = [
        turbohtml.parse(page.body.decode("utf-8", "replace")).root.to_text()
        for page in pages
    ]
    compare(pages, texts)
    measure_matching(texts)
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])  # for the reader process
    uvloop.run(measure_pool(pages))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
