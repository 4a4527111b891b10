"""Crawls a synthetic web on a Ray cluster of two nodes, and kills one of them.

    python -m bench.ray_nodes [--pages 400] [--workers 3]

Both nodes are on this machine (`ray.cluster_utils`). Prints what was recorded and what
an undisturbed crawl finds.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}

import msgspec
import psycopg
from ray.cluster_utils import Cluster

from bench.chaos import CALM, DELAY, SETTINGS, Storm, whole_crawl
from bench.postgres_server import PostgresServer
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.web import SyntheticWeb

LOOPBACK = {"node_ip_address": "127.0.0.2", "include_dashboard": False}
NODE = {"num_cpus": 2, "object_store_memory": 80 * 2**20}


async def crawl(home: Path, dsn: str, pages: int, workers: int) -> dict[str, object]:
    """Crawl, and kill a node when a third of the pages is recorded."""
    web = SyntheticWeb(msgspec.structs.replace(CALM, pages=pages))
    async with serve(web) as server:
        expected = await whole_crawl(home / "whole", web, server, Storm())
        (home / "topic.toml").write_text(web.topic_file(web.topics[0]))
        settings = SETTINGS.format(
            in_flight=8,
            delay=DELAY,
            lease=5.0,
            strategy=Storm.strategy,
            judge=Storm.judge,
        )
        (home / "settings.toml").write_text(settings)
        nodes = Cluster(
            initialize_head=True, connect=False, head_node_args={**NODE, **LOOPBACK}
        )
        try:
            second = nodes.add_node(**NODE, node_ip_address="127.0.0.2")
            command = [sys.executable, "-m", "opilio.cli", "cluster"]
            command += [str(home / "topic.toml"), "--store", dsn, "-q"]
            command += ["--workers", str(workers), "--address", nodes.address]
            command += ["-o", str(home / "box"), "--proxy", server.proxy_url]
            command += ["--settings", str(home / "settings.toml"), "--max-pages", "0"]
            driver = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.PIPE
            )
            while recorded(dsn) < len(expected) / 3 and driver.returncode is None:
                await asyncio.sleep(0.2)
            killed_at = recorded(dsn)
            began = time.monotonic()
            await asyncio.to_thread(nodes.remove_node, second, allow_graceful=False)
            out, _ = await driver.communicate()
        finally:
            await asyncio.to_thread(nodes.shutdown)
    with psycopg.connect(dsn, options="-c search_path=opilio") as db:
        rows = db.execute("SELECT url FROM page JOIN link USING (shard, fingerprint)")
        found = [url for (url,) in rows]
        died = "SELECT count(*) FROM worker WHERE ended IS NULL"
        [(died_count,)] = db.execute(died).fetchall()
    return {
        "expected": len(expected),
        "recorded": len(found),
        "missing": len(expected - set(found)),
        "extra": len(set(found) - expected),
        "recorded_when_killed": killed_at,
        "workers_that_died": died_count,
        "seconds_after_kill": round(time.monotonic() - began, 1),
        "ended": json.loads(out)["ended"],
        "code": driver.returncode,
    }


def recorded(dsn: str) -> int:
    """The pages in the database; 0 before there are tables."""
    with psycopg.connect(dsn) as db:
        [(table,)] = db.execute("SELECT to_regclass('opilio.page')").fetchall()
        if not table:
            return 0
        [(count,)] = db.execute("SELECT count(*) FROM opilio.page").fetchall()
        return int(count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--workers", type=int, default=3)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="rays-"))
    home.chmod(0o755)
    postgres = PostgresServer(home / "s")
    try:
        postgres.start()
        done = asyncio.run(crawl(home, postgres.database(), given.pages, given.workers))
        print(json.dumps(done))
    finally:
        postgres.stop()
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
