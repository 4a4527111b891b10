"""Kills and stops workers and the database of a crawl, and counts what comes of it.

    python -m bench.chaos [--kills 30] [--stops 10] [--postmasters 3] [--unfenced]
                          [--strategy opilio --judge opilio]

Every page must be recorded exactly once, and no host may be asked faster than its
delay, by the log of the server that is crawled. `--unfenced` removes the fences: the
figures must then be wrong, or this measures nothing.
"""

import argparse
import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import psycopg

from bench.postgres_server import PostgresServer
from opilio.cluster.connection import open_postgres
from opilio.cluster.schema import make_ready
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import Server, serve
from opilio.lab.synthetic.web import SyntheticWeb

DELAY = 0.1
IN_FLIGHT = 16
BETWEEN = 15  # pages between two faults
PATIENCE = 150  # times 0.2 seconds, to wait for them
SLACK = 0.02  # between a client's clock and the moment a server reads the request
CALM = Dials(
    seed=7,
    pages=600,
    hosts=24,
    topics=4,
    purity=0.5,
    # What depends on the order of the crawl would make two complete crawls differ.
    calendars=0.0,
    sessions=0.0,
    near_copies=0.0,
    failing_hosts=0.0,
    slow_hosts=0.0,
    robots_failing=0,
    crawl_delays=0.2,
    crawl_delay=0.2,
)
SETTINGS = """
[crawl]
strategy = "{strategy}"
judge = "{judge}"
in_flight = {in_flight}
near_copies = false
[politeness]
delay = {delay}
[store]
commit_every = 0.05
min_free = 0
lease = {lease}
"""
AUDIT = """
CREATE TABLE recorded (fingerprint bigint);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO opilio.recorded VALUES (NEW.fingerprint); RETURN NEW; END';
CREATE TRIGGER noted AFTER INSERT OR UPDATE ON page FOR EACH ROW EXECUTE FUNCTION note()
"""
NO_KEYS = """
ALTER TABLE page DROP CONSTRAINT page_once;
ALTER TABLE edges DROP CONSTRAINT edges_pkey
"""


@dataclass
class Storm:
    """What shall happen to a crawl."""

    workers: int = 3
    kills: int = 0
    stops: int = 0
    postmasters: int = 0
    sleeps: bool = False  # the first worker sleeps before it records
    fenced: bool = True
    lease: float = 2.0
    pages: int = 600
    seed: int = 1
    limit: float = 900.0  # seconds for all of it
    strategy: str = "weight-table"
    judge: str = "cosine"


@dataclass
class Outcome:
    """What came of it."""

    recorded: int = 0
    distinct: int = 0
    expected: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    fetched_again: int = 0
    hurried: list[str] = field(default_factory=list)
    left_open: int = 0  # links that wait in the end
    lost: int = 0  # times that a worker was refused
    models: int = 0  # versions that were published
    trainers: int = 0  # elections
    lessons: int = 0
    words: int = 0  # lessons whose words are kept in the end
    faults: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


class Crowd:
    """The workers of a crawl; a new one comes for each that was killed."""

    def __init__(
        self, home: Path, web: SyntheticWeb, server: Server, dsn: str, storm: Storm
    ) -> None:
        self.home, self.server, self.dsn, self.storm = home, server, dsn, storm
        home.mkdir()
        self.topic = home / "topic.toml"
        self.topic.write_text(web.topic_file(web.topics[0]))
        self.settings = home / "settings.toml"
        self.settings.write_text(
            SETTINGS.format(
                in_flight=IN_FLIGHT,
                delay=DELAY,
                lease=storm.lease,
                strategy=storm.strategy,
                judge=storm.judge,
            )
        )
        self.running: list[subprocess.Popen] = []
        self.log = (home / "log").open("ab")

    def start(self, *faults: str) -> subprocess.Popen:
        if not self.storm.fenced:
            faults = (*faults, "unfenced")
        command = [sys.executable, "-m", "bench.chaos_worker", ",".join(faults)]
        command += ["crawl", str(self.topic), "-o", str(self.home / "box"), "-q"]
        command += ["--max-pages", "0", "--proxy", self.server.proxy_url]
        command += ["--settings", str(self.settings), "--store", self.dsn]
        process = subprocess.Popen(
            command,
            stdout=self.log,
            stderr=self.log,
            cwd=Path(__file__).parent.parent,
        )
        self.running.append(process)
        return process

    def still(self) -> list[subprocess.Popen]:
        self.running = [each for each in self.running if each.poll() is None]
        return self.running

    def close(self) -> None:
        for process in self.still():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self.log.close()


async def strike(crowd: Crowd, postgres: PostgresServer) -> Counter[str]:
    """Let everything happen that shall, at random moments while the crawl runs. Between
    two faults pages are recorded: workers that have not begun are no test."""
    storm, done = crowd.storm, Counter[str]()
    rng = random.Random(storm.seed)
    plan = ["kill"] * storm.kills + ["stop"] * storm.stops
    plan += ["postmaster"] * storm.postmasters
    rng.shuffle(plan)
    stopped: list[asyncio.Task] = []
    before = 0
    for fault in plan:
        await asyncio.sleep(rng.uniform(0.4, 1.0) * storm.lease)
        before, working = await progress(crowd.dsn, before + BETWEEN)
        running = crowd.still()
        if not running:
            break
        victims = [one for one in running if one.pid in working]
        victim = rng.choice(victims or running)
        if fault == "kill":
            victim.kill()
            victim.wait()
            crowd.start()
        elif fault == "stop":
            stopped.append(asyncio.create_task(stop(victim, 2.5 * storm.lease)))
        else:
            await asyncio.to_thread(postgres.kill)
            await asyncio.to_thread(postgres.start)
        done[fault] += 1
        done["of a worker that had pages"] += fault != "postmaster" and bool(victims)
    await asyncio.gather(*stopped)
    return done


async def progress(dsn: str, wanted: int) -> tuple[int, set[int]]:
    """Wait until so many pages are recorded, but not forever; returns their number, and
    the processes of workers that have recorded some."""
    pages, working = 0, set[int]()
    for _ in range(PATIENCE):
        with suppress(psycopg.OperationalError):
            pages, working = await asyncio.to_thread(look, dsn)
            if pages >= wanted:
                break
        await asyncio.sleep(0.2)
    return pages, working


def look(dsn: str) -> tuple[int, set[int]]:
    with psycopg.connect(dsn, options="-c search_path=opilio") as db:
        [(pages,)] = db.execute("SELECT count(*) FROM recorded").fetchall()
        rows = db.execute(
            "SELECT w.name FROM worker AS w JOIN progress ON worker = id "
            "WHERE pages > 0 AND ended IS NULL AND until > clock_timestamp()"
        )
        return int(pages), {int(name.rpartition(":")[2]) for (name,) in rows}


async def stop(process: subprocess.Popen, seconds: float) -> None:
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(seconds)
    process.send_signal(signal.SIGCONT)


async def whole_crawl(
    home: Path, web: SyntheticWeb, server: Server, storm: Storm
) -> set[str]:
    """The pages that an undisturbed crawl on one machine finds."""
    import sqlite3

    crowd = Crowd(home, web, server, "", storm)
    command = [sys.executable, "-m", "opilio.cli", "crawl", str(crowd.topic), "-q"]
    command += ["-o", str(home / "crawl"), "--max-pages", "0", "--proxy"]
    command += [server.proxy_url, "--settings", str(crowd.settings)]
    process = await asyncio.create_subprocess_exec(*command, stdout=crowd.log)
    assert await process.wait() == 0
    crowd.close()
    db = sqlite3.connect(home / "crawl" / "crawl.db")
    found = {url for (url,) in db.execute("SELECT url FROM page JOIN link USING (id)")}
    db.close()
    return found


async def weather(folder: Path, postgres: PostgresServer, storm: Storm) -> Outcome:
    """Crawl through a storm."""
    import msgspec

    web = SyntheticWeb(msgspec.structs.replace(CALM, pages=storm.pages))
    outcome = Outcome()
    dsn = postgres.database()
    with open_postgres(dsn) as db:
        make_ready(db)
        db.execute(AUDIT if storm.fenced else AUDIT + ";" + NO_KEYS)
    async with serve(web) as server:
        expected = set[str]()
        if storm.fenced:  # the control has nothing to expect
            expected = await whole_crawl(folder / "whole", web, server, storm)
            server.requests.clear()
        crowd = Crowd(folder / "crowd", web, server, dsn, storm)
        began = time.monotonic()
        try:
            crowd.start(*(("sleep",) if storm.sleeps else ()))
            for _ in range(storm.workers - 1):
                crowd.start()
            outcome.faults = dict(await strike(crowd, postgres))
            while crowd.still() and time.monotonic() - began < storm.limit:
                await asyncio.sleep(0.1)
                if not storm.fenced and await asyncio.to_thread(has_doubles, dsn):
                    break  # the control has shown what it shall
        finally:
            crowd.close()
        outcome.seconds = round(time.monotonic() - began, 1)
        count(outcome, dsn, expected)
        look_at_requests(outcome, server, web)
    return outcome


def has_doubles(dsn: str) -> bool:
    query = "SELECT count(*) > count(DISTINCT fingerprint) FROM opilio.recorded"
    with psycopg.connect(dsn) as db:
        [(found,)] = db.execute(query).fetchall()
        return bool(found)


def count(outcome: Outcome, dsn: str, expected: set[str]) -> None:
    """What the database has."""
    with psycopg.connect(dsn, options="-c search_path=opilio") as db:

        def one(query: str) -> int:
            return db.execute(query).fetchone()[0]

        outcome.recorded = one("SELECT count(*) FROM recorded")
        outcome.distinct = one("SELECT count(DISTINCT fingerprint) FROM recorded")
        outcome.left_open = one("SELECT count(*) FROM link WHERE state = 'waiting'")
        outcome.lost = one("SELECT count(*) FROM worker WHERE ended = 'lost'")
        outcome.models = one("SELECT coalesce(max(version), 0) FROM model")
        outcome.trainers = one("SELECT epoch FROM trainer")
        outcome.lessons = one("SELECT count(*) FROM lesson")
        outcome.words = one("SELECT count(*) FROM lesson_page")
        rows = db.execute("SELECT url FROM page JOIN link USING (shard, fingerprint)")
        found = {url for (url,) in rows}
    outcome.expected = len(expected)
    outcome.missing = sorted(expected - found)
    outcome.extra = sorted(found - expected)


def look_at_requests(outcome: Outcome, server: Server, web: SyntheticWeb) -> None:
    """What the server saw."""
    arrivals = defaultdict(list)
    for request in server.requests:
        arrivals[request.host].append((request.at, request.url))
    for host, seen in arrivals.items():
        own = web.host(host).crawl_delay or 0.0
        known = False  # what robots.txt says, once it has been answered
        for (before, _), (now, url) in pairwise(seen):
            known = known or not url.endswith("/robots.txt")
            if now - before < max(DELAY, own if known else 0.0) - SLACK:
                outcome.hurried.append(f"{url} {now - before:.3f} s after the last")
    asked = Counter(one.url for one in server.requests if "robots.txt" not in one.url)
    outcome.fetched_again = sum(times - 1 for times in asked.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--stops", type=int, default=10)
    parser.add_argument("--postmasters", type=int, default=3)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unfenced", action="store_true")
    parser.add_argument("--strategy", default=Storm.strategy)
    parser.add_argument("--judge", default=Storm.judge)
    given = parser.parse_args()
    storm = Storm(
        kills=given.kills,
        stops=given.stops,
        postmasters=given.postmasters,
        pages=given.pages,
        seed=given.seed,
        sleeps=True,
        fenced=not given.unfenced,
        strategy=given.strategy,
        judge=given.judge,
    )
    home = Path(tempfile.mkdtemp(prefix="chaos-"))
    home.chmod(0o755)
    postgres = PostgresServer(home / "s")
    try:
        postgres.start()
        outcome = asyncio.run(weather(home, postgres, storm))
        print(json.dumps(asdict(outcome), indent=2))
        print((home / "crowd" / "log").read_text()[-3000:], file=sys.stderr)
    finally:
        postgres.stop()
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
