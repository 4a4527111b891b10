"""Compares what several workers find with what one worker finds in as many requests.

Serves a web of the lab by a real server on loopback, and crawls it by `opilio crawl
--store` with one worker and with several, with the default strategy and judge. Times
are scaled as in `bench.focus`.

    python -m bench.workers_harvest [--web DIR] [--topics a,b] [--workers 4] [--domains]

The lab's webs have one registrable domain each, so all of a web would belong to one
worker. Unless `--domains` is given, its hosts are divided among the workers instead,
which is harder than what happens in a crawl.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import psycopg
import tomli_w

from bench.archive_proxy import ArchiveProxy, serving
from bench.focus import APACHE, LATENCY, hosts_of, topic_of
from bench.postgres_server import PostgresServer
from bench.table import show
from opilio.cli.lab_runs import open_ground
from opilio.lab.measures import measure, oracle_shares
from opilio.lab.runs import LabVisit
from opilio.lab.seeds_and_targets import Course, Ground


class Harvest(NamedTuple):
    """What a crawl found in its requests."""

    requests: int
    harvest: float  # targets per request
    share: float  # of the oracle's AURC
    by_worker: Sequence[int]  # pages


class Conditions(NamedTuple):
    """How the crawls are run."""

    delay: float
    scale: float
    in_flight: int  # of all workers together
    by_domain: bool


async def crawl(
    ground: Ground, course: Course, count: int, dsn: str, under: Conditions
) -> tuple[list[LabVisit], list[int]]:
    """Crawl a topic by so many workers; returns the requests, and the pages of each
    worker."""
    proxy = ArchiveProxy(ground.web.warcs, LATENCY / under.scale, hosts_of(ground))
    with tempfile.TemporaryDirectory(prefix="opilio-workers-") as place:
        home, trusted = Path(place), Path(place) / "trusted.pem"
        topic, settings = home / "topic.toml", home / "settings.toml"
        topic.write_text(tomli_w.dumps(topic_of(ground, course)))
        settings.write_text(tomli_w.dumps(settings_of(course, count, under)))
        proxy.authority.cert_pem.write_to_path(str(trusted))
        faults = "" if under.by_domain else "spread"
        async with serving(proxy) as address:
            command = [sys.executable, "-m", "bench.chaos_worker", faults, "crawl"]
            command += [str(topic), "-o", str(home / "box"), "-q", "--store", dsn]
            command += ["--settings", str(settings), "--proxy", address]
            started = [
                await asyncio.create_subprocess_exec(
                    *command,
                    stdout=asyncio.subprocess.DEVNULL,
                    env=os.environ | {"SSL_CERT_FILE": str(trusted)},
                )
                for _ in range(count)
            ]
            ends = asyncio.gather(*(process.wait() for process in started))
            while not ends.done():
                await asyncio.wait([ends], timeout=0.1)
                if len(proxy.asked) >= course.budget:
                    for process in started:
                        if process.returncode is None:
                            process.send_signal(signal.SIGINT)
                    await ends
        asked = [each.url for each in proxy.asked.values()][: course.budget]
    return visits_of(dsn, asked)


def settings_of(course: Course, count: int, under: Conditions) -> dict[str, object]:
    return {
        "crawl": {
            "in_flight": max(1, under.in_flight // count),
            "max_pages": course.budget,
            "readers": 1,
        },
        "fetch": {"contact": "https://example.org/bench"},
        "politeness": {"delay": under.delay / under.scale},
        "store": {"commit_every": 0.5 / under.scale, "min_free": 0, "lease": 15.0},
    }


def visits_of(dsn: str, asked: Sequence[str]) -> tuple[list[LabVisit], list[int]]:
    """The outcome of each URL, in the order of the requests."""
    with psycopg.connect(dsn, options="-c search_path=opilio") as db:
        rows = db.execute("SELECT url, state, coalesce(reason, ''), depth FROM link")
        ends = {url: (state, reason, depth) for url, state, reason, depth in rows}
        pages = db.execute("SELECT pages FROM progress WHERE pages > 0").fetchall()
    visits = [
        LabVisit(url, state, reason, None, depth)
        for url in asked
        for state, reason, depth in [ends.get(url, ("unusable", "", 0))]
    ]
    return visits, sorted((count for (count,) in pages), reverse=True)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.workers_harvest")
    parser.add_argument("--web", type=Path, default=APACHE)
    parser.add_argument("--topics", default="", help="separated by commas")
    parser.add_argument("--workers", default="1,4", help="numbers to compare")
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--scale", type=float, default=5.0, help="time is divided by")
    parser.add_argument("--in-flight", type=int, default=64, help="of all workers")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--domains", action="store_true", help="divide by domain")
    given = parser.parse_args()
    ground = open_ground(given.web, [], 1)
    topics = given.topics.split(",") if given.topics else list(ground.web.topics)
    under = Conditions(given.delay, given.scale, given.in_flight, given.domains)
    counts = [int(count) for count in given.workers.split(",")]
    home = Path(tempfile.mkdtemp(prefix="workers-"))
    home.chmod(0o755)
    postgres = PostgresServer(home / "s")
    postgres.start()
    found: dict[tuple[str, int], list[Harvest]] = {}
    try:
        for topic in topics:
            for repeat in range(given.repeat):
                course = ground.course(topic, repeat=repeat)
                runs = {
                    count: asyncio.run(
                        crawl(ground, course, count, postgres.database(), under)
                    )
                    for count in counts
                }
                compare(topic, course, runs, found)
    finally:
        postgres.stop()
        shutil.rmtree(home)
    report(topics, counts, found)


def compare(
    topic: str,
    course: Course,
    runs: dict[int, tuple[list[LabVisit], list[int]]],
    found: dict[tuple[str, int], list[Harvest]],
) -> None:
    """Measure the runs of a topic over as many requests each."""
    equal = min(len(visits) for visits, _ in runs.values())
    for count, (visits, by_worker) in runs.items():
        measures, _ = measure(visits[:equal], course.targets, course.R)
        share = oracle_shares(measures, course.oracle)["aurc"]
        one = Harvest(equal, measures.harvest, share, by_worker)
        found.setdefault((topic, count), []).append(one)
        print(json.dumps([topic, count, one._asdict()]), file=sys.stderr, flush=True)


def report(
    topics: Sequence[str],
    counts: Sequence[int],
    found: dict[tuple[str, int], list[Harvest]],
) -> None:
    def mean(topic: str, count: int, name: str) -> float:
        return fmean(getattr(one, name) for one in found[topic, count])

    rows = []
    for topic in topics:
        cells = [f"{found[topic, counts[0]][0].requests:,}"]
        for name in ("harvest", "share"):
            cells += [f"{mean(topic, count, name):.3f}" for count in counts]
        rows.append((topic, *cells))
    for name in ("harvest", "share"):
        base = fmean(mean(topic, counts[0], name) for topic in topics)
        ratios = [
            fmean(mean(topic, count, name) for topic in topics) / base
            for count in counts
        ]
        rows.append(
            (f"mean {name}, of one worker", *(f"{each:.3f}" for each in ratios))
        )
    heads = [
        f"{name}, {count} workers"
        for name in ("harvest", "share of AURC")
        for count in counts
    ]
    width = 2 + len(heads)
    padded = [row + ("",) * (width - len(row)) for row in rows]
    show("Several workers and one", ("topic", "requests", *heads), padded)


if __name__ == "__main__":
    main()
