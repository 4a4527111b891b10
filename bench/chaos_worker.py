"""A worker with a fault: `python -m bench.chaos_worker FAULTS crawl TOPIC.toml …`.

FAULTS are names with commas between: `sleep` blocks the whole process for three leases
just before it records its fifth transaction, `unfenced` removes what keeps a worker
from recording and requesting after it has lost its lease.
"""

import sys
import time

from opilio.cli import main
from opilio.cluster.record import Recorder
from opilio.cluster.shards import HeldShards
from opilio.cluster.sharing import ShardSharing

RECORDS = 5  # transactions before the one that comes late


def sleep_once() -> None:
    record, count = ShardSharing.record, 0

    async def late(self: ShardSharing) -> None:
        nonlocal count
        if self.lessons:
            count += 1
            if count == RECORDS:
                time.sleep(3 * self.shards.lease)  # nothing else happens meanwhile
        await record(self)

    ShardSharing.record = late


def remove_fences() -> None:
    renew = HeldShards.renew

    def renew_anyway(self: HeldShards, *arguments: object, **others: object) -> None:
        epochs, self.epochs = self.epochs, {}
        try:
            renew(self, *arguments, **others)
        finally:
            self.epochs = epochs

    HeldShards.renew = renew_anyway
    HeldShards.may_request = lambda self: True
    Recorder._fence = lambda self, db, touched: None


FAULTS = {"sleep": sleep_once, "unfenced": remove_fences}

if __name__ == "__main__":
    for fault in filter(None, sys.argv.pop(1).split(",")):
        FAULTS[fault]()
    main()
