"""Lets judge and strategy of a copied crawl learn what the workers learnt.

What workers know is in their memory. It follows from the lessons of all of them, which
are told to the copy in the same order, and from the newest model for those whose pages
are deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from opilio.assembly.build import Ways, assemble
from opilio.assembly.plan import load_plan
from opilio.assembly.rejudge import Offline
from opilio.cluster.connection import PatientConnection
from opilio.cluster.lessons import Hearing
from opilio.cluster.models import newest
from opilio.cluster.schema import SHARDS
from opilio.cluster.sharing import ShardFrontier, ShardSharing, ShardStore
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import SEED_PROMISE
from opilio.store.folder import CrawlFolder
from opilio.subject.stored_subject import load_subject

AT_A_TIME = 50  # lessons that are learnt in one turn
# Workers may delete lessons meanwhile.
_KEEP = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class AllShards:
    """The shards of a copy: all of them."""

    worker = 0

    def __contains__(self, shard: int) -> bool:
        return True

    def owns(self, host: str) -> bool:
        """Whether a host belongs to this copy."""
        return True


async def learn_again(dsn: str, folder: CrawlFolder, heads: Mapping[int, int]) -> None:
    """Learn from all lessons up to these, and save what was learnt. Links that workers
    had told each other and not recorded yet are queued."""
    plan = load_plan(folder)
    shards: Any = AllShards()

    def frontier(*arguments: Any, **settings: Any) -> SqliteFrontier:
        made = ShardFrontier(*arguments, **settings)
        made.shards = shards
        return made

    ways = Ways(frontier=frontier, fetch=lambda *_: Offline(), adviser=lambda *_: None)
    database = PatientConnection(dsn)
    hearing = Hearing(0, range(SHARDS))
    hearing.until = heads
    subject = load_subject(folder.subject) if folder.subject.is_file() else None
    async with assemble(plan, folder, subject, ways) as crawl:
        crawl.planted = crawl.store.catalogue.seeds(SEED_PROMISE)
        sharing = ShardSharing(
            cast(ShardStore, crawl.store),
            cast(ShardFrontier, crawl.frontier),
            shards,
            cast(Any, None),
            hearing,
            cast(Any, folder),
        )

        async def hear_all() -> None:
            while news := await database.ask(hearing.fetch):
                for place in range(0, len(news), AT_A_TIME):
                    await sharing.hear(crawl, news[place : place + AT_A_TIME])

        await database.ask(lambda db: db.execute(_KEEP))
        if model := await database.ask(newest):
            await sharing.begin_from(crawl, model, database.ask, hear_all)
        await hear_all()
        await crawl.commit()
    database.close()
