"""Connects the crawl loop of a worker with the other workers.

Links of other workers' sites are kept here only as notes, with the reason `elsewhere`:
pages refer to them, and they are told to their owners.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from opilio.cluster.changes import take_changes, watch
from opilio.cluster.lessons import Hearing, SharedLesson, ToldLesson, pack, page_alone
from opilio.cluster.parts import RoundFolder
from opilio.cluster.record import RecordBatch, Recorder
from opilio.cluster.shards import HeldShards, shard_of
from opilio.crawl import CrawlLoop
from opilio.frontier.sqlite import SqliteFrontier
from opilio.protocols import LearningJudge
from opilio.records import Fingerprint, Lease, Link, Page, Ranked, Response, Verdict
from opilio.store.store import Store
from opilio.store.warc_records import pack_revisit
from opilio.text import urls

ELSEWHERE = "elsewhere"  # reason of links that belong to other workers


class ShardFrontier(SqliteFrontier):
    """A frontier of the sites that a worker owns; it notes links to others."""

    shards: HeldShards
    sharing: ShardSharing

    async def add(
        self,
        found: Iterable[Ranked],
        via: Lease | None = None,
        *,
        redirect: bool = False,
    ) -> list[int]:
        """Queue links; those of other workers are only noted, and told to their owners
        if they are the targets of redirects."""
        batch = list(found)
        mine = [self.shards.owns(urls.host(each.link.url)) for each in batch]
        if all(mine):
            return await super().add(batch, via, redirect=redirect)
        kept = [
            each if is_mine else msgspec.structs.replace(each, reason=ELSEWHERE)
            for each, is_mine in zip(batch, mine, strict=True)
        ]
        if redirect and via:
            for each, is_mine in zip(batch, mine, strict=True):
                if not is_mine:
                    self.sharing.tell_redirect(via, each.link)
        return await super().add(kept, via, redirect=redirect)


class ShardStore(Store):
    """A store whose changes are collected; originals of copies may be elsewhere."""

    fetched_elsewhere: dict[int, float]

    def watch(self) -> None:
        """Collect changes from now on."""
        self.fetched_elsewhere = {}
        watch(self.db)

    def revisit(self, response: Response, original: int) -> bytes:
        """A WARC revisit record: the same bytes as another page."""
        fetched_at = self.fetched_elsewhere.get(original)
        if fetched_at is None:
            return super().revisit(response, original)
        [url] = self.db.execute(
            "SELECT url FROM link WHERE id = ?", (original,)
        ).fetchone()
        return pack_revisit(response, url, fetched_at)


class ShardSharing:
    """Tells and hears lessons, and records what has changed."""

    def __init__(
        self,
        store: ShardStore,
        frontier: ShardFrontier,
        shards: HeldShards,
        recorder: Recorder,
        hearing: Hearing,
        folder: RoundFolder,
    ) -> None:
        self.store = store
        self.frontier = frontier
        self.shards = shards
        self.recorder = recorder
        self.hearing = hearing
        self.folder = folder
        self.lessons: list[tuple[int, bytes]] = []  # not recorded yet
        self.told: list[tuple[int, int, bytes]] = []
        self.is_closing = False
        self.is_recorded = False  # nothing has been told since the last record
        frontier.shards, frontier.sharing = shards, self

    @property
    def last_number(self) -> int:
        """The number of the last lesson that was recorded or waits for that."""
        recorded = self.hearing.heard.get(self.shards.worker, 0)
        return self.lessons[-1][0] if self.lessons else recorded

    def own_part(self, page: Page) -> Page:
        """The page with only those links that belong to this worker."""
        links = [link for link in page.links if self.shards.owns(urls.host(link.url))]
        if len(links) == len(page.links):
            return page
        return msgspec.structs.replace(page, links=links)

    async def tell(
        self,
        page: Page,
        verdict: Verdict,
        lease: Lease,
        content: Fingerprint,
        fetched_at: float,
    ) -> list[int]:
        """Tell the others of a page, and of links that belong to them. Links of our own
        are told too, for those who own them later."""
        number = self.last_number + 1
        by_shard: dict[int, list[Link]] = {}
        for link in page.links:
            by_shard.setdefault(shard_of(urls.host(link.url)), []).append(link)
        lesson = SharedLesson(lease, page_alone(page), verdict, content, fetched_at)
        self.lessons.append((number, pack(lesson)))
        self.told += [(shard, number, pack(links)) for shard, links in by_shard.items()]
        self.is_recorded = False
        others = [
            Ranked(link, 0.0, reason=ELSEWHERE)
            for shard, links in by_shard.items()
            if shard not in self.shards
            for link in links
        ]
        return await self.frontier.add(others, via=lease)

    def tell_redirect(self, lease: Lease, target: Link) -> None:
        """Tell the owner of a link that another redirects to it."""
        number = self.last_number + 1
        self.lessons.append((number, pack(SharedLesson(lease))))
        shard = shard_of(urls.host(target.url))
        self.told.append((shard, number, pack([target])))
        self.is_recorded = False

    async def hear(self, crawl: CrawlLoop, news: Sequence[ToldLesson]) -> None:
        """Learn from what others have told, and queue the links that are ours."""
        judge = getattr(crawl.query_judges, "bare", crawl.judge)
        learns = isinstance(judge, LearningJudge) and judge.is_learning
        async with crawl.turn():
            for lesson, links in news:
                lease, known = await self._local(lesson.lease)
                if lesson.page is None or lesson.verdict is None:
                    onward = [
                        Ranked(to, lease.promise, level=lease.level) for to in links
                    ]
                    await self.frontier.add(onward, via=lease, redirect=True)
                    continue
                page = msgspec.structs.replace(lesson.page, links=links)
                if learns:
                    crawl.judge.judge(page)
                await crawl.rank(page, lesson.verdict, lease)
                if not known:
                    self._note_content(lease.id, page, lesson)
            if crawl.reviser:
                await crawl.revise(crawl.reviser)

    async def _local(self, lease: Lease) -> tuple[Lease, bool]:
        """The lease of another worker with our own id of its link, and whether that
        link is ours."""
        is_ours = self.shards.owns(lease.host)
        link = Link(lease.url, lease.fingerprint)
        reason = "" if is_ours else ELSEWHERE
        [id] = await super(ShardFrontier, self.frontier).add(
            [Ranked(link, 0.0, reason=reason)]
        )
        return msgspec.structs.replace(lease, id=id, found_on=0), is_ours

    def _note_content(self, id: int, page: Page, lesson: SharedLesson) -> None:
        """Recognise copies of a page that another worker has."""
        self.store.fetched_elsewhere[id] = lesson.fetched_at
        self.store.seen.add(lesson.content, id)
        if page.simhash:
            self.store.near.add(page.simhash, id)

    async def record(self) -> None:
        """Record everything since the last call in one transaction."""
        store, shards = self.store, self.shards
        store.warc.record_length()
        prefix = self.folder.prefix
        changes = take_changes(store.db, shard_of, shards, prefix)
        lessons, self.lessons = self.lessons, []
        told, self.told = self.told, []
        batch = RecordBatch(changes, lessons, told, self.folder.parts(store.db))
        if not batch.is_empty:
            await asyncio.to_thread(
                self.recorder.write, batch, lambda: not self.is_closing
            )
        if lessons:
            self.hearing.heard[shards.worker] = lessons[-1][0]
        self.is_recorded = not self.lessons
