"""Measures `opilio serve`: answers over 100,000 pages, and what 20 browsers cost.

A real crawl of a synthetic web is multiplied in its database until it has 100,000
pages, each with other words in other places. A real server answers requests for the
overview, searches and pages, one after another. Then crawls run with and without 20
streams of events, in turns; the speed and the CPU of crawl and server are compared.
"""

from __future__ import annotations

import asyncio
import http.client
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np

from bench.table import show
from opilio.cli.demo import served
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.text.word_sequence import pack, unpack_words

PAGES = 100_000
REQUESTS = 100
CRAWLED = 400  # pages of each crawl
BROWSERS = 20
ROUNDS = 5
WEB = Dials(pages=5_000, hosts=60, english=True, hindi=0.0)
SETTINGS = "[politeness]\ndelay = 0.0\nip_delay = 0.0\n[store]\nmin_free = 0\n"
QUERIES = ("queen bee", "honey", '"royal jelly"', "swarm pollen", "smoker -queen")


def main() -> None:
    """Measure and print both tables."""
    asyncio.run(measure_all())


async def measure_all() -> None:
    """Crawl, multiply, ask; then crawl with and without browsers."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "topic.toml").write_text(SyntheticWeb(WEB).topic_file("beekeeping"))
        (home / "settings.toml").write_text(SETTINGS)
        async with served() as proxy:
            await asyncio.to_thread(crawl, home, home / "crawls" / "big", proxy)
            pages = await asyncio.to_thread(multiply, home / "crawls" / "big")
            with server(home / "crawls", home / "token") as (port, pid):
                ask = asker(port, home / "token")
                folder = home / "crawls" / "big"
                rows = await asyncio.to_thread(times, ask, folder, pid)
            header = ("", "median", "p95", "CPU of the server: median", "p95")
            show(f"Milliseconds over {pages:,} pages", header, rows)
            rows = await asyncio.to_thread(compare, home, proxy)
            show(
                f"Crawls of {CRAWLED} pages, with and without {BROWSERS} browsers",
                ("", "pages/s", "CPU ms per page", "CPU of the server, share"),
                rows,
            )


def crawl(home: Path, folder: Path, proxy: str) -> None:
    """Crawl the synthetic web."""
    folder.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "opilio.cli", "crawl", str(home / "topic.toml")]
    command += ["-o", str(folder), "--settings", str(home / "settings.toml"), "-q"]
    command += ["--proxy", proxy, "--max-pages", str(CRAWLED)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def multiply(folder: Path) -> int:
    """Copy all rows of a crawl until it has enough pages; returns how many it has."""
    db = sqlite3.connect(folder / "crawl.db", isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    (pages,) = db.execute("SELECT count(*) FROM page").fetchone()
    links, entries, numbers = (
        db.execute(f"SELECT max({column}) FROM {table}").fetchone()[0]
        for column, table in (("id", "link"), ("entry", "indexed"), ("number", "page"))
    )
    words = db.execute("SELECT entry, page, words, features FROM indexed").fetchall()
    db.execute("CREATE TEMP TABLE first AS SELECT * FROM edge")
    rng = np.random.default_rng(1)
    db.execute("BEGIN")
    for turn in range(1, -(-PAGES // pages)):
        copy_rows(db, turn, links, numbers)
        db.executemany(
            "INSERT INTO indexed VALUES (?, ?, ?, ?)",
            [
                (entry + turn * entries, page + turn * links, mixed(said, rng), counts)
                for entry, page, said, counts in words
            ],
        )
    db.execute("COMMIT")
    (found,) = db.execute("SELECT count(*) FROM page").fetchone()
    db.close()
    return int(found)


def copy_rows(db: sqlite3.Connection, turn: int, links: int, numbers: int) -> None:
    """Copy links, pages, edges, texts and profiles once, with other ids."""
    step = turn * links
    db.execute(
        "INSERT INTO link SELECT id + ?, url || '?copy=' || ?, fingerprint + ?, host, "
        "template, state, reason, promise, level, depth, redirects, attempts, "
        "CASE found_on WHEN 0 THEN 0 ELSE found_on + ? END, anchor, parts "
        "FROM link WHERE id <= ?",
        (step, turn, turn, step, links),
    )
    columns = [row[1] for row in db.execute("PRAGMA table_info(page)")]
    changed = {
        "id": f"id + {step}",
        "number": f"number + {turn * numbers}",
        "simhash": "random()",
        "copy_of": f"copy_of + {step}",
    }
    chosen = ", ".join(changed.get(name, name) for name in columns)
    db.execute(f"INSERT INTO page SELECT {chosen} FROM page WHERE id <= {links}")
    for table in ("extracted", "page_profile"):
        rest = [row[1] for row in db.execute(f"PRAGMA table_info({table})")][1:]
        db.execute(
            f"INSERT INTO {table} SELECT id + {step}, {', '.join(rest)} "
            f"FROM {table} WHERE id <= {links}"
        )
    db.execute(f"INSERT INTO edge SELECT page + {step}, link + {step} FROM first")


def mixed(packed: bytes, rng: np.random.Generator) -> bytes:
    """The words of a page in another order, so that it is no copy."""
    words = unpack_words(packed)
    return pack(words.title, words.headings, rng.permutation(np.array(words.text)))


@contextmanager
def server(folder: Path, token: Path) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and its process."""
    command = [sys.executable, "-m", "opilio.cli", "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--token-file", str(token)], stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        yield int(line.partition("/login")[0].rpartition(":")[2]), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def asker(port: int, token: Path) -> Callable[[str], float]:
    """A function that asks for a page, and returns how long that took in ms."""
    secret = {"authorization": f"Bearer {token.read_text().strip()}"}

    def ask(path: str) -> float:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        start = time.perf_counter()
        connection.request("GET", path, headers=secret)
        response = connection.getresponse()
        response.read()
        connection.close()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status}")
        return (time.perf_counter() - start) * 1000

    return ask


def times(ask: Callable[[str], float], folder: Path, pid: int) -> list[tuple[str, ...]]:
    """The time of each kind of request; what is computed once is told apart."""
    db = sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True)
    rows = db.execute("SELECT id FROM page WHERE score IS NOT NULL").fetchall()
    ids = [id for (id,) in rows]
    db.close()
    rng = random.Random(1)
    kinds: dict[str, Callable[[], str]] = {
        "overview": lambda: "/crawls/big",
        "search": lambda: (
            "/crawls/big/search?q=" + rng.choice(QUERIES).replace(" ", "+")
        ),
        "page": lambda: f"/crawls/big/page?id={rng.choice(ids)}",
    }
    found = []
    for kind, path in kinds.items():
        first = ask(path())
        taken, used = [], []
        for _ in range(REQUESTS):
            before = cpu_of(pid)
            taken.append(ask(path()))
            used.append(1000 * (cpu_of(pid) - before))
        found.append((kind, *middle_and_p95(taken), *middle_and_p95(used)))
        found.append((f"{kind}, first request", f"{first:.0f}", "", "", ""))
    return found


def middle_and_p95(values: list[float]) -> tuple[str, str]:
    """The median of some times, and what 95 % of them stay below."""
    found = sorted(values)
    return f"{median(found):.0f}", f"{found[int(0.95 * len(found))]:.0f}"


def compare(home: Path, proxy: str) -> list[tuple[str, ...]]:
    """Crawls with and without browsers, in turns."""
    results: dict[bool, list[tuple[float, float, float]]] = {False: [], True: []}
    for turn in range(ROUNDS):
        for watched in (False, True):
            folder = home / f"turn-{turn}-{watched}"
            folder.mkdir()
            results[watched].append(one_crawl(home, folder, proxy, watched))
    rows = [
        (
            f"{BROWSERS} browsers" if watched else "no browser",
            *(in_words(column) for column in zip(*runs, strict=True)),
        )
        for watched, runs in results.items()
    ]
    pairs = zip(results[False], results[True], strict=True)
    ratios = [with_them[1] / alone[1] for alone, with_them in pairs]
    return [*rows, ("CPU with browsers / without", "", in_words(ratios), "")]


def in_words(values: Iterable[float]) -> str:
    """The median of some numbers, and between which they are."""
    found = sorted(values)
    return f"{median(found):.3g} ({found[0]:.3g}–{found[-1]:.3g})"


def one_crawl(
    home: Path, root: Path, proxy: str, watched: bool
) -> tuple[float, float, float]:
    """Pages per second, CPU per page in ms, and the server's share of a core."""
    with server(root, home / "token") as (port, pid):
        stop = threading.Event()
        for _ in range(BROWSERS if watched else 0):
            args = (port, home / "token", stop)
            threading.Thread(target=watch, args=args, daemon=True).start()
        before, start = cpu_of_children(), time.perf_counter()
        used = cpu_of(pid)
        crawl(home, root / "live", proxy)
        taken = time.perf_counter() - start
        cpu = cpu_of_children() - before
        share = (cpu_of(pid) - used) / taken
        stop.set()
    return CRAWLED / taken, 1000 * cpu / CRAWLED, share


def watch(port: int, token: Path, stop: threading.Event) -> None:
    """Follow the events of a crawl as a browser does, as soon as there are any."""
    secret = {"authorization": f"Bearer {token.read_text().strip()}"}
    while not stop.is_set():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/crawls/live/events", headers=secret)
            response = connection.getresponse()
            while response.status == 200 and not stop.is_set():
                if not response.readline():
                    break
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.2)


def cpu_of_children() -> float:
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """CPU seconds of the threads of a process that runs, to the nanosecond."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


if __name__ == "__main__":
    main()
