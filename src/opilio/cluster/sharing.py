"""Connects the crawl loop of a worker with the other workers.

Links of other workers' sites are kept here only as notes, with the reason `elsewhere`:
pages refer to them, and they are told to their owners.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

import msgspec

from opilio.cluster.changes import take_changes, watch
from opilio.cluster.elsewhere import PagesElsewhere
from opilio.cluster.lessons import (
    Hearing,
    SharedLesson,
    ToldLesson,
    pack,
    packed_forms,
    page_alone,
    pages_seen,
    seen_of,
)
from opilio.cluster.load import spare_memory
from opilio.cluster.models import PublishedModel, adopt
from opilio.cluster.parts import RoundFolder
from opilio.cluster.record import RecordBatch, Recorder
from opilio.cluster.shards import HeldShards, shard_of
from opilio.crawl import CrawlLoop
from opilio.frontier.intake import Trail
from opilio.frontier.sqlite import SqliteFrontier
from opilio.protocols import Experienced, LearningJudge
from opilio.records import Fingerprint, Lease, Link, Page, Ranked, Response, Verdict
from opilio.store.store import Store
from opilio.store.warc_files import JUST_BEGUN
from opilio.store.warc_records import pack_revisit
from opilio.text import urls

PAGES_AT_ONCE = 5000  # of others, that are noted when a round begins
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

    def note_elsewhere(self, url: str) -> int:
        """The id of a link that belongs to another worker."""
        noted = Ranked(Link(url, urls.fingerprint(url)), 0.0, reason=ELSEWHERE)
        [id] = self._intake.admit([noted], Trail(), self._clock())
        return id


class ShardStore(Store):
    """A store whose changes are collected; originals of copies may be elsewhere."""

    frontier: ShardFrontier
    elsewhere: PagesElsewhere
    _original = 0, "", 0.0  # the last one that is elsewhere: id, URL, when fetched
    part_seconds = float("inf")  # age at which a new WARC file is begun
    _part: tuple[str, float] = ("", 0.0)  # the current one, and when it was begun

    def watch(self) -> None:
        """Collect changes from now on."""
        spare_memory(self.db)
        self.elsewhere = PagesElsewhere(self.db, self.seen, self.near)
        watch(self.db)

    def rotate_if_old(self, now: float) -> None:
        """Begin a new WARC file, so that the old one can be sealed. Everything must be
        recorded."""
        name, began = self._part
        if name != self.warc.name:
            self._part = self.warc.name, now
        elif now > began + self.part_seconds and self.warc.length > JUST_BEGUN:
            self.warc.rotate()

    def id_of(self, original: int) -> int:
        """The id of a page here, which may be another worker's."""
        if original > 0:
            return original
        url, fetched_at = self.elsewhere.find(original)
        self._original = self.frontier.note_elsewhere(url), url, fetched_at
        return self._original[0]

    def save_copy(
        self, lease: Lease, response: Response, original: int, content: Fingerprint
    ) -> None:
        """Store a response with the same bytes as another page."""
        super().save_copy(lease, response, self.id_of(original), content)

    def save_near_copy(
        self,
        lease: Lease,
        response: Response,
        record: bytes,
        content: Fingerprint,
        page: Page,
        original: int,
    ) -> None:
        """Store a page that is a near copy of another."""
        id = self.id_of(original)
        super().save_near_copy(lease, response, record, content, page, id)

    def revisit(self, response: Response, original: int) -> bytes:
        """A WARC revisit record: the same bytes as another page."""
        id, url, fetched_at = self._original
        if original != id:
            return super().revisit(response, original)
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
        self.strategy: Experienced | None = None  # if it learns from others' visits
        self.relived: set[Fingerprint] = set()  # links that taught it again
        self.lessons: list[tuple[int, SharedLesson]] = []  # not recorded yet
        self.told: list[tuple[int, int, bytes]] = []
        self.is_recorded = False  # nothing has been told since the last record
        frontier.shards, frontier.sharing = shards, self

    @property
    def last_number(self) -> int:
        """The number of the last lesson that was recorded or waits for that."""
        return self.lessons[-1][0] if self.lessons else self.hearing.last_told

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
        self.lessons.append((number, lesson))
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
        self.lessons.append((number, SharedLesson(lease)))
        shard = shard_of(urls.host(target.url))
        self.told.append((shard, number, pack([target])))
        self.is_recorded = False

    def tell_label(self, lease: Lease, page: Page, relevant: bool) -> None:
        """Tell the others what a user has said of a page."""
        lesson = SharedLesson(lease, page_alone(page), label=relevant)
        self.lessons.append((self.last_number + 1, lesson))
        self.is_recorded = False

    async def begin_from(
        self,
        crawl: CrawlLoop,
        model: PublishedModel,
        ask: Callable[..., Awaitable[Any]],
        hear_all: Callable[[], Awaitable[None]],
    ) -> None:
        """Begin with a model: learn of our own links from the outlines of the lessons
        that are in it, then let it replace all that is known of pages."""
        hearing, heads = self.hearing, model.heads
        if hearing.until is not None:
            heads = lesser(heads, hearing.until)
        for worker, last in heads.items():
            for start in range(0, last, PAGES_AT_ONCE):
                some = start, min(last, start + PAGES_AT_ONCE)
                look = partial(pages_seen, worker, some, hearing.shards)
                pages = await ask(look)
                async with crawl.turn():
                    for page in pages:
                        self.store.elsewhere.add(page)
        await ask(partial(hearing.begin_outlines, heads))
        await hear_all()
        hearing.end_outlines(heads)
        async with crawl.turn():
            adopt(crawl, model)
            if crawl.reviser:
                await crawl.revise(crawl.reviser)
        self.relived.clear()

    async def hear(self, crawl: CrawlLoop, news: Sequence[ToldLesson]) -> None:
        """Learn from what others have told, and queue the links that are ours."""
        judge = getattr(crawl.query_judges, "bare", crawl.judge)
        learns = isinstance(judge, LearningJudge) and judge.is_learning
        learns = learns and not self.hearing.outlines
        async with crawl.turn():
            self._set_aside()
            for told in news:
                if told.lesson:
                    await self._hear_one(crawl, told.lesson, told.links, learns)
                    self._learn_from(told.lesson)
                elif told.seen:
                    self.store.elsewhere.add(told.seen)
            if self.strategy:  # what is not ours to tell
                self.relived.update(link for link, _ in self.strategy.experiences())
            if crawl.reviser:
                await crawl.revise(crawl.reviser)
            if not self.hearing.outlines:
                self.hearing.count += len(news)

    async def _hear_one(
        self,
        crawl: CrawlLoop,
        lesson: SharedLesson,
        links: Sequence[Link],
        learns: bool,
    ) -> None:
        lease, is_ours = lesson.lease, self.shards.owns(lesson.lease.host)
        if lesson.page is not None and lesson.label is not None:
            if self.hearing.outlines:
                return
            for pupil in crawl.pupils:
                pupil.teach(lesson.page, lesson.label)
            return
        if links or is_ours:
            lease = await self._local(lease, "" if is_ours else ELSEWHERE)
        if lesson.page is None or lesson.verdict is None:
            onward = [Ranked(to, lease.promise, level=lease.level) for to in links]
            await self.frontier.add(onward, via=lease, redirect=True)
            return
        page = msgspec.structs.replace(lesson.page, links=links)
        if learns:
            crawl.judge.judge(page)
        await crawl.rank(page, lesson.verdict, lease)
        if not is_ours:
            self.store.elsewhere.add(seen_of(lesson))

    def _set_aside(self) -> None:
        """Tell with our last lesson what our visits have taught so far."""
        if self.strategy and self.lessons and (came := self.strategy.experiences()):
            number, lesson = self.lessons.pop()
            every = (*lesson.experiences, *came)
            changed = msgspec.structs.replace(lesson, experiences=every)
            self.lessons.append((number, changed))

    def _learn_from(self, lesson: SharedLesson) -> None:
        """Learn what others' visits taught. Who owns their links now has learnt the
        same from the lessons, when its round began."""
        if self.strategy and lesson.experiences:
            self.relived.update(link for link, _ in self.strategy.experiences())
            told = {link for link, _ in lesson.experiences}
            self.strategy.learn_from(
                came for link, came in lesson.experiences if link not in self.relived
            )
            self.relived -= told

    async def _local(self, lease: Lease, reason: str) -> Lease:
        """The lease of another worker with our own id of its link."""
        link = Link(lease.url, lease.fingerprint)
        [id] = await super(ShardFrontier, self.frontier).add(
            [Ranked(link, 0.0, reason=reason)]
        )
        return msgspec.structs.replace(lease, id=id, found_on=0)

    async def record(self) -> None:
        """Record everything since the last call in one transaction."""
        store, shards = self.store, self.shards
        store.warc.record_length()
        prefix = self.folder.prefix
        changes = take_changes(store.db, shard_of, shards, prefix)
        self._set_aside()
        lessons = [
            (number, shard_of(lesson.lease.host), *packed_forms(lesson))
            for number, lesson in self.lessons
        ]
        self.lessons = []
        told, self.told = self.told, []
        batch = RecordBatch(
            changes, lessons, told, self.folder.parts(store.db), shards.epochs
        )
        if not batch.is_empty:
            await asyncio.to_thread(self.recorder.write, batch)
        if lessons:
            self.hearing.told(lessons[-1][0])
        self.is_recorded = not self.lessons
        store.rotate_if_old(monotonic())


def lesser(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    """Of each worker that both name, the lesson that comes first."""
    return {name: min(one[name], other[name]) for name in one.keys() & other.keys()}
