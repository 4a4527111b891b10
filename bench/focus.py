"""Measures how much focus a crawl keeps with many requests in flight and polite delays.

Serves a web of the lab under the names of its hosts by a real server on loopback,
crawls it by `opilio crawl` through that server as its proxy, and compares what was
found with a crawl that visits one page at a time. Times are scaled: all delays and
latencies are divided, and the hours reported are multiplied again.

    python -m bench.focus [--web DIR] [--topics a,b] [--delays 0,0.2,1] [--scale 10]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
import tomli_w

from bench.archive_proxy import ArchiveProxy, serving
from bench.table import show
from opilio.cli.lab_runs import open_ground
from opilio.lab.compare import WantedRuns, run_comparison
from opilio.lab.measures import measure, oracle_shares
from opilio.lab.runs import LabVisit
from opilio.lab.seeds_and_targets import Course, Ground

APACHE = Path(__file__).parents[2] / "shared" / "webs" / "apache"
LATENCY = 0.3  # seconds, in the median
OPILIO = Path(sys.executable).with_name("opilio")


class Outcome(NamedTuple):
    """The result of a crawl over the network."""

    share: float  # of the oracle's AURC
    hours: float  # in unscaled time


async def crawl(
    ground: Ground,
    course: Course,
    crawling: Mapping[str, object],
    delay: float,
    scale: float,
) -> Outcome:
    """Crawl a topic as users do, until as many archived URLs were requested as in the
    lab's crawl."""
    proxy = ArchiveProxy(ground.web.warcs, LATENCY / scale, hosts_of(ground))
    with tempfile.TemporaryDirectory(prefix="opilio-focus-") as place:
        folder, trusted = Path(place) / "crawl", Path(place) / "trusted.pem"
        topic, settings = Path(place) / "topic.toml", Path(place) / "settings.toml"
        topic.write_text(tomli_w.dumps(topic_of(ground, course)))
        settings.write_text(
            tomli_w.dumps(
                {
                    "crawl": {**crawling, "max_pages": course.budget},
                    "fetch": {"contact": "https://example.org/bench"},
                    "politeness": {"delay": delay / scale},
                    "store": {"commit_every": 0.5 / scale, "min_free": 0},
                    "search": {"index": False},
                }
            )
        )
        proxy.authority.cert_pem.write_to_path(str(trusted))
        async with serving(proxy) as address:
            process = await asyncio.create_subprocess_exec(
                *(str(OPILIO), "crawl", str(topic), "-o", str(folder), "-q"),
                *("--settings", str(settings), "--proxy", address),
                stdout=asyncio.subprocess.DEVNULL,
                env=os.environ | {"SSL_CERT_FILE": str(trusted)},
            )
            ended = asyncio.ensure_future(process.wait())
            while not ended.done():
                await asyncio.wait([ended], timeout=0.1)
                if len(proxy.asked) >= course.budget and not ended.done():
                    process.send_signal(signal.SIGINT)
                    await ended
        asked = list(proxy.asked.values())[: course.budget]
        visits = visits_of(folder / "crawl.db", [each.url for each in asked])
    measures, _ = measure(visits, course.targets, course.R)
    hours = (asked[-1].at - asked[0].at) * scale / 3600
    return Outcome(oracle_shares(measures, course.oracle)["aurc"], hours)


def topic_of(ground: Ground, course: Course) -> dict[str, object]:
    """The topic as a table for a file, kept to the hosts of the web."""
    plain: dict[str, object] = msgspec.to_builtins(
        msgspec.structs.replace(course.topic, seeds=list(course.seeds))
    )
    chosen = ("name", "keywords", "seeds", "languages")
    return {key: plain[key] for key in chosen if plain.get(key)} | {
        "scope": {"domains": hosts_of(ground)}
    }


def hosts_of(ground: Ground) -> list[str]:
    """The names of all hosts of the web."""
    return sorted({urlsplit(url).hostname or "" for url in ground.atlas.numbers})


def visits_of(database: Path, asked: Sequence[str]) -> list[LabVisit]:
    """The outcome of each URL, in the order of the requests."""
    db = sqlite3.connect(database)
    rows = db.execute("SELECT url, state, coalesce(reason, ''), depth FROM link")
    ends = {url: (state, reason, depth) for url, state, reason, depth in rows}
    db.close()
    return [
        LabVisit(url, state, reason, None, depth)
        for url in asked
        for state, reason, depth in [ends.get(url, ("unusable", "", 0))]
    ]


def told(outcome: Outcome) -> str:
    """A cell of the table."""
    return f"{outcome.share:.3f} ({outcome.hours:.2f} h)"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table for each topic and delay."""
    parser = argparse.ArgumentParser(prog="python -m bench.focus")
    parser.add_argument("--web", type=Path, default=APACHE)
    parser.add_argument("--topics", default="", help="separated by commas")
    parser.add_argument("--strategy", default="opilio")
    parser.add_argument("--judge", default="opilio")
    parser.add_argument("--delays", default="0,0.2,1", help="seconds")
    parser.add_argument("--hastes", default="", help="default: that of a crawl")
    parser.add_argument("--scale", type=float, default=10.0, help="time is divided by")
    given = parser.parse_args(arguments)
    if not given.web.is_dir():
        print(f"{given.web} is not there; name a web of the lab with --web DIR")
        return
    ground = open_ground(given.web, [], 1)
    topics = given.topics.split(",") if given.topics else list(ground.web.topics)
    delays = [float(delay) for delay in given.delays.split(",")]
    hastes = [float(h) for h in given.hastes.split(",")] if given.hastes else [None]
    wanted = WantedRuns(
        topics=topics, strategies=[given.strategy], judges=[given.judge]
    )
    with tempfile.TemporaryDirectory() as folder:
        alone = {
            done.run.task.topic: done.run.of_oracle["aurc"]
            for done in run_comparison(ground, wanted, Path(folder), 1)
        }
    found: dict[tuple[float, float | None], dict[str, Outcome]] = {}
    for delay in delays:
        for haste in hastes:
            found[delay, haste] = {}
            for topic in topics:
                course = ground.course(topic)
                crawling: dict[str, object] = {
                    "strategy": given.strategy,
                    "judge": given.judge,
                }
                if haste is not None:
                    crawling["haste"] = haste
                outcome = asyncio.run(
                    crawl(ground, course, crawling, delay, given.scale)
                )
                found[delay, haste][topic] = outcome
                print(
                    f"delay {delay:g} haste {haste} {topic}: alone {alone[topic]:.3f}, "
                    f"as run {outcome.share:.3f}, {outcome.hours:.2f} h",
                    file=sys.stderr,
                    flush=True,
                )
    report(given.strategy, topics, alone, found)


def report(
    strategy: str,
    topics: Sequence[str],
    alone: dict[str, float],
    found: dict[tuple[float, float | None], dict[str, Outcome]],
) -> None:
    """Print shares, hours and shares per hour."""
    columns = [
        f"delay {delay:g} s" + ("" if haste is None else f", haste {haste:g}")
        for delay, haste in found
    ]
    rows = [
        (topic, f"{alone[topic]:.3f}", *(told(of[topic]) for of in found.values()))
        for topic in topics
    ]
    base = fmean(alone[topic] for topic in topics)
    means = {
        key: Outcome(
            fmean(each.share for each in of.values()),
            fmean(each.hours for each in of.values()),
        )
        for key, of in found.items()
    }
    every = means.values()
    rows += [
        ("mean", f"{base:.3f}", *(told(mean) for mean in every)),
        ("of one at a time", "1.00", *(f"{mean.share / base:.2f}" for mean in every)),
        ("share per hour", "", *(f"{mean.share / mean.hours:.2f}" for mean in every)),
    ]
    title = f"Share of the oracle's AURC, {strategy}"
    show(title, ("topic", "one at a time", *columns), rows)


if __name__ == "__main__":
    main()
