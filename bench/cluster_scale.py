"""Measures what a page and a worker cost while the links in PostgreSQL grow.

    python -m bench.cluster_scale [--links 100000,1000000,10000000] [--workers 50]

Fills the store with synthetic links, then lets one of so many workers load its shards
and record pages, each with 50 new links, in transactions of 50 pages. Prints seconds
and bytes. Nothing is fetched or read: what is measured is what grows.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from bench.postgres_server import PostgresServer
from opilio.cluster.changes import take_changes, watch
from opilio.cluster.connection import open_postgres
from opilio.cluster.load import load_shards, spare_memory
from opilio.cluster.record import RecordBatch, Recorder
from opilio.cluster.schema import make_ready
from opilio.cluster.shards import HeldShards, fair_share, register_worker, shard_of
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import Link, Ranked, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.text import urls

PER_HOST = 100  # links of one host
PAGES, LINKS, BATCH = 1000, 50, 50
FILL = """
    INSERT INTO link (shard, fingerprint, url, host, template, state, reason, promise,
        level, depth, redirects, attempts, found_on, anchor, parts)
    SELECT shard, hashint8extended(number, 1), 'http://' || name || '/page/' || number,
        name, 0, 'waiting', NULL, random(), 0, 1, 0, 0, NULL, 'an anchor of a link',
        '{"words": 0.5, "host": 0.25}'
    FROM unnest(%s::text[], %s::smallint[]) WITH ORDINALITY AS host (name, shard, place)
    CROSS JOIN LATERAL generate_series(place * %s, place * %s + %s - 1) AS number
"""


def fill(dsn: str, links: int, have: int) -> None:
    """Add hosts and links until there are so many."""
    first, last = have // PER_HOST, links // PER_HOST
    with open_postgres(dsn) as db:
        make_ready(db)
        db.execute("SET synchronous_commit = off")
        for start in range(first, last, 2000):
            names = [
                f"host{n}.site{n}.test" for n in range(start, min(last, start + 2000))
            ]
            shards = [shard_of(name) for name in names]
            db.execute(
                "INSERT INTO host (shard, name, domain, taken) SELECT s, n, n, 0 "
                "FROM unnest(%s::text[], %s::smallint[]) AS h (n, s)",
                (names, shards),
            )
            db.execute(
                FILL.replace("place *", f"(place + {start}) *"),
                (names, shards, PER_HOST, PER_HOST, PER_HOST),
            )
        db.execute("VACUUM ANALYZE link")
        db.execute("CHECKPOINT")


def work(dsn: str, workers: int) -> dict[str, float]:
    """Load the share of one worker, and record pages; runs in a process of its own."""
    import asyncio

    folder = CrawlFolder(Path(tempfile.mkdtemp(prefix="scale-")))
    folder.make()
    with open_postgres(dsn) as db:
        held = HeldShards(register_worker(db, "bench:1", 1e4), 1e4)
        held.take(db, fair_share(workers, 0))
        began = time.monotonic()
        load_shards(db, folder, held.epochs)
        loaded = time.monotonic() - began
    local = open_database(folder.database)
    spare_memory(local)
    watch(local)
    local.begin()
    began = time.monotonic()
    calm = PolitenessSettings(delay=0.0, ip_delay=0.0, per_host=100)
    frontier = SqliteFrontier(local, calm, BoundsSettings())
    opened = time.monotonic() - began
    recorder = Recorder(dsn, held)
    spent = cpu = 0.0

    def record() -> None:
        changes = take_changes(local, shard_of, held, "")
        recorder.write(RecordBatch(changes, [], [], {}, held.epochs))

    async def crawl() -> None:
        nonlocal spent, cpu
        for batch in range(PAGES // BATCH + 1):
            began, before = time.monotonic(), time.process_time()
            for _ in range(BATCH):
                lease = await frontier.take()
                await frontier.add(
                    [
                        Ranked(Link(url, urls.fingerprint(url)), 0.5, {"words": 0.5})
                        for n in range(LINKS)
                        for url in [f"http://{lease.host}/new/{lease.fingerprint}/{n}"]
                    ],
                    via=lease,
                )
                await frontier.done(lease, State.KEPT)
            await frontier.flush()
            record()
            if batch:  # the first one warms up
                spent += time.monotonic() - began
                cpu += time.process_time() - before

    asyncio.run(crawl())
    recorder.close()
    local.close()
    shutil.rmtree(folder.path)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "share": len(held.epochs),
        "load_seconds": round(loaded, 2),
        "open_seconds": round(opened, 2),
        "ms_a_page": round(1000 * spent / PAGES, 3),
        "cpu_ms_a_page": round(1000 * cpu / PAGES, 3),
        "memory_mb": round(memory, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", default="100000,1000000,10000000")
    parser.add_argument("--workers", type=int, default=50)
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(work(given.work, given.workers)))
        return
    home = Path(tempfile.mkdtemp(prefix="scale-"))
    home.chmod(0o755)
    postgres = PostgresServer(home / "s")
    have = 0
    try:
        postgres.start()
        dsn = postgres.database()
        for links in map(int, given.links.split(",")):
            began = time.monotonic()
            fill(dsn, links, have)
            have = links
            filled = time.monotonic() - began
            command = [sys.executable, "-m", "bench.cluster_scale", "--work", dsn]
            command += ["--workers", str(given.workers)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            with psycopg.connect(dsn) as db:
                size = "SELECT pg_total_relation_size('opilio.link') / 2^20"
                [(megabytes,)] = db.execute(size).fetchall()
                db.execute("UPDATE opilio.shard SET owner = NULL, until = '-infinity'")
            row = {"links": links, **json.loads(done.stdout)}
            row |= {"link_table_mb": round(megabytes), "fill_seconds": round(filled)}
            print(json.dumps(row), flush=True)
    finally:
        postgres.stop()
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
