"""Measures the cost of searching: queries over 100,000 pages, and CPU while crawling.

Pages of 400 words, drawn by Zipf's law from 200,000, are indexed as a crawl would; then
queries of one to four words, of any frequency, with and without snippets (of real-sized
pages, whose words are the most frequent ones), phrases, conditions, concepts, and
beginnings of words. CPU per page is that of whole crawls as in bench.crawl, without an
index and with one for every page, in turns.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

import msgspec
import numpy as np

from bench.crawl import SETTINGS, TOPIC
from bench.served import Cost, measure, median, nginx
from bench.table import show
from opilio.assembly.search import texts_in
from opilio.lab.synthetic.dials import REAL_SITE
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import as_response, settled, write_static_site
from opilio.read.page_texts import PageTexts
from opilio.records import ConceptWords
from opilio.search.concepts import Concepts
from opilio.search.index import Index, catch_up
from opilio.search.searcher import Searcher
from opilio.storage.database import open_database
from opilio.store.stored_responses import StoredResponses
from opilio.store.warc_records import pack_response
from opilio.text.word_sequence import pack as pack_words
from opilio.text.words import hash_of, stem, tokens

PAGES = 100_000
WORDS = 400
VOCABULARY = 200_000
QUERIES = 500
CRAWLED = 2000
ROUNDS = 3
ARCHIVED = 200
CONCEPTS = 4000
FIRST_NAME, BETWEEN_NAMES = 50, 5  # by frequency, which words name concepts
KINDS = (
    *("words", "phrases of two", "phrases of four"),
    *("conditions", "concepts", "beginnings"),
)


def vocabulary(texts: Iterable[str]) -> list[str]:
    """A number of words with different stems, most frequent first: those of some texts,
    then numbers spelt in letters, which no stemmer changes."""
    counted = Counter(word for text in texts for word in tokens(text))
    letters = str.maketrans("0123456789", "bcdfghjklm")
    made = ("q" + str(number).translate(letters) for number in range(VOCABULARY))
    words = [*(word for word, _ in counted.most_common()), *made]
    by_stem: dict[str, str] = {}
    for key, word in zip(stem(words), words, strict=True):
        by_stem.setdefault(key, word)
    return list(by_stem.values())[:VOCABULARY]


def ontology(words: Sequence[str]) -> dict[str, ConceptWords]:
    """A tree of concepts, ten below each but the last; each is named by one word."""
    features = stem(words[FIRST_NAME::BETWEEN_NAMES][:CONCEPTS])
    names = [f"concept {number}" for number in range(len(features))]
    found = {}
    for number, feature in enumerate(features):
        kinds = dict.fromkeys(names[10 * number + 1 : 10 * number + 11], 0.5)
        parts = dict.fromkeys(names[100 * number + 11 : 100 * number + 111], 0.25)
        levels = dict.fromkeys(kinds, 1)
        found[names[number]] = ConceptWords((feature,), levels, kinds | parts)
    return found


def entries(words: Sequence[str]) -> Iterator[tuple[str, bytes, bytes]]:
    """The titles, words and ontology features of a number of pages."""
    rng = np.random.default_rng(1)
    stems = stem(words)
    hashes = np.fromiter(map(hash_of, stems), np.uint64)
    shares = np.cumsum(1 / np.arange(1, len(words) + 1))
    last = FIRST_NAME + BETWEEN_NAMES * CONCEPTS
    for _ in range(PAGES):
        drawn = np.searchsorted(shares, rng.random(WORDS) * shares[-1])
        named = drawn[(drawn - FIRST_NAME) % BETWEEN_NAMES == 0]
        named = named[(named >= FIRST_NAME) & (named < last)]
        features = Counter(stems[number] for number in named.tolist())
        packed = pack_words(hashes[drawn[:5]], hashes[drawn[5:20]], hashes[drawn])
        title = " ".join(words[number] for number in drawn[:5].tolist())
        yield title, packed, msgspec.msgpack.encode(features)


def write_archive(folder: Path) -> list[tuple[str, int, int]]:
    """Some real-sized pages in a WARC file, and where each is."""
    web = SyntheticWeb(REAL_SITE)
    folder.mkdir()
    places = []
    with (folder / "000001.warc.gz").open("wb") as file:
        for url in islice(web.urls(), ARCHIVED):
            record = pack_response(as_response(url, settled(web, url)))
            places.append(("000001.warc.gz", file.tell(), len(record)))
            file.write(record)
    return places


def fill(
    db: sqlite3.Connection, places: Sequence[tuple[str, int, int]], words: Sequence[str]
) -> None:
    """Let all pages be kept."""
    db.execute("BEGIN")
    for number, ((title, sequence, features), place) in enumerate(
        zip(entries(words), cycle(places), strict=False), 1
    ):
        db.execute(
            "INSERT INTO link (id, url, fingerprint, host, state, promise) "
            "VALUES (?, ?, ?, ?, 'kept', 0)",
            (number, f"http://h{number % 100}.test/{number}", number, number % 100),
        )
        db.execute(
            "INSERT INTO page (id, number, fetched_at, status, language, title, bytes, "
            "simhash, score, relevant, warc, warc_offset, warc_length) "
            "VALUES (?, ?, ?, 200, 'en', ?, 0, ?, 0.5, 1, ?, ?, ?)",
            (number, number, float(number), title, hash_of(title) >> 1, *place),
        )
        db.execute(
            "INSERT INTO indexed (page, words, features) VALUES (?, ?, ?)",
            (number, sequence, features),
        )
    for host in range(100):
        row = (host, f"h{host}.test")
        db.execute("INSERT INTO host (id, name, domain) VALUES (?, ?, 'test')", row)
    db.execute("COMMIT")


def queries(kind: str, words: Sequence[str]) -> list[str]:
    """Queries of one to four words."""
    rng = random.Random(2)

    def one() -> str:
        return words[int(10 ** rng.uniform(1, 4.5))]

    def row(most: int) -> str:
        return " ".join(words[rng.randrange(100)] for _ in range(most))

    made = []
    for _ in range(QUERIES):
        asked = " ".join(one() for _ in range(rng.choice((1, 2, 2, 3, 3, 4))))
        if kind == "phrases of two":
            asked = f'"{row(2)}"'
        elif kind == "phrases of four":
            asked = f'"{row(4)}"'
        elif kind == "conditions":
            asked += f" -{one()} site:h{rng.randrange(100)}.test lang:en"
        elif kind == "concepts":
            number = int(10 ** rng.uniform(0, 3))
            asked += f" {words[FIRST_NAME + BETWEEN_NAMES * number]}"
        elif kind == "beginnings":
            asked += f" {one()[: rng.randint(3, 5)]}*"
        made.append(asked)
    return made


def timed(searcher: Searcher, asked: Sequence[str]) -> list[str]:
    """p50, p95 and p99 of the time and of the CPU time, in milliseconds."""
    took, cpu = [], []
    for query in asked:
        began, working = time.perf_counter(), time.process_time()
        searcher.search(query)
        cpu.append((time.process_time() - working) * 1000)
        took.append((time.perf_counter() - began) * 1000)
    shares = (50, 95, 99)
    values = (*np.percentile(took, shares), *np.percentile(cpu, shares))
    return [f"{value:.1f}" for value in values]


def ask(folder: Path) -> None:
    """Index a number of pages and query them."""
    places = write_archive(folder / "warc")
    db = open_database(folder / "crawl.db")
    texts_of = texts_in(db, StoredResponses(folder / "warc"), PageTexts())
    words = vocabulary(next(texts_of(0, *place)).text for place in places)
    fill(db, places, words)
    began = time.process_time()
    catch_up(db, folder / "index")
    cpu = (time.process_time() - began) / PAGES * 1000
    size = sum(file.stat().st_size for file in (folder / "index").rglob("*.npy"))
    index = Index(db, folder / "index")
    concepts, none = Concepts(ontology(words)), Concepts()
    rows = []
    for kind in KINDS:
        asked = queries(kind, words)
        for told, text in (("", None), (", with snippets", texts_of)):
            known = concepts if kind == "concepts" else none
            searcher = Searcher(index, known, texts_of=text)
            rows.append((f"{kind}{told}", *timed(searcher, asked)))
    db.close()
    show(
        f"{QUERIES} queries over {PAGES:,} pages of {WORDS} words, ms; segments: "
        f"{cpu:.2f} ms CPU and {size / PAGES:,.0f} bytes a page",
        ("query", "p50", "p95", "p99", "CPU p50", "p95", "p99"),
        rows,
    )


def crawl(start: str, folder: Path, settings: str) -> list[str]:
    """The command of a crawl in which every page is kept, if it is indexed."""
    topic, file = folder / "bench.toml", folder / "settings.toml"
    topic.write_text(TOPIC.format(start=start))
    file.write_text(f"{SETTINGS}[search]\n{settings}\n")
    return [
        *("taskset", "-c", "0", str(Path(sys.executable).with_name("opilio"))),
        *("crawl", str(topic), "--settings", str(file), "--fresh", "--quiet"),
        *("-o", str(folder / "crawl"), "--strategy", "breadth-first"),
        *("--max-pages", str(CRAWLED)),
    ]


def compare(folder: Path) -> None:
    """CPU per page without an index, and with one for all pages."""
    kinds = {"no index": "index = false", "every page indexed": 'pages = "all"'}
    site = folder / "site"
    write_static_site(SyntheticWeb(REAL_SITE), site)
    with nginx(site, folder) as start:
        costs: dict[str, list[Cost]] = {name: [] for name in kinds}
        for _ in range(ROUNDS):
            for name, settings in kinds.items():
                costs[name].append(measure(crawl(start, folder, settings)))
    typical = {name: median(runs).cpu / CRAWLED * 1000 for name, runs in costs.items()}
    least = typical["no index"]
    show(
        f"CPU of all processes, crawls of {CRAWLED} pages, medians of {ROUNDS}",
        ("", "ms/page", "x no index"),
        [(name, f"{ms:.2f}", f"{ms / least:.2f}") for name, ms in typical.items()],
    )


def main() -> None:
    """Measure both, print."""
    with tempfile.TemporaryDirectory() as name:
        ask(Path(name))
    if not shutil.which("nginx"):
        print("CPU per page is left out: it needs nginx")
        return
    with tempfile.TemporaryDirectory() as name:
        compare(Path(name))


if __name__ == "__main__":
    main()
