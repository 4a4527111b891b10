"""A worker that differs: `python -m bench.chaos_worker FAULTS crawl TOPIC.toml …`.

FAULTS are names with commas between: `sleep` blocks the whole process for three leases
just before it records its fifth transaction, `unfenced` removes what keeps a worker
from recording and requesting after it has lost its lease, `spread` divides sites among
workers by host instead of domain.
"""

import sys
import time
from contextlib import suppress

import psycopg
from xxhash import xxh3_64_intdigest

from opilio.cli import main
from opilio.cluster import shards, sharing
from opilio.cluster.record import Recorder
from opilio.cluster.schema import SHARDS
from opilio.cluster.shards import HeldShards, LostShards
from opilio.cluster.sharing import ShardSharing

RECORDS = 5  # transactions before the one that comes late
PAGES, TURNS = 20, 20  # pages of others to wait for; leases at most
OTHERS = "SELECT coalesce(sum(pages), 0) FROM opilio.progress WHERE worker <> %s"


def sleep_once() -> None:
    record, count = ShardSharing.record, 0

    async def late(self: ShardSharing) -> None:
        nonlocal count
        if self.lessons:
            count += 1
            if count == RECORDS:
                with self.shards.lock:  # nor is the lease renewed meanwhile
                    sleep_long(self)
        await record(self)

    ShardSharing.record = late


def sleep_long(sharing: ShardSharing) -> None:
    """Sleep for three leases, and until somebody else has recorded pages."""
    lease, worker = sharing.shards.lease, sharing.shards.worker
    for turn in range(TURNS):
        time.sleep(lease)
        with psycopg.connect(sharing.recorder.dsn) as db:
            [(others,)] = db.execute(OTHERS, (worker,)).fetchall()
        if turn >= 2 and others >= PAGES:
            return


def remove_fences() -> None:
    renew = HeldShards.renew

    def renew_anyway(self: HeldShards, *arguments: object, **others: object) -> None:
        with suppress(LostShards):
            renew(self, *arguments, **others)

    HeldShards.renew = renew_anyway
    HeldShards.may_request = lambda self: True
    Recorder._fence = lambda self, db, batch: None


def spread() -> None:
    shards.shard_of = sharing.shard_of = by_host


def by_host(host: str) -> int:
    return xxh3_64_intdigest(host.encode()) % SHARDS


FAULTS = {"sleep": sleep_once, "unfenced": remove_fences, "spread": spread}

if __name__ == "__main__":
    for fault in filter(None, sys.argv.pop(1).split(",")):
        FAULTS[fault]()
    main()
