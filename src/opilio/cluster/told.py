"""Lets a worker act on what the crawl is told while it runs.

Pauses and rules of hosts are states of the whole crawl, which every worker follows. The
owner of a shard carries out seeds and labels for it; what came of them is recorded with
their effects.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from opilio.assembly.plan import Plan
from opilio.cluster.messages import PAUSED
from opilio.cluster.sharing import ShardSharing
from opilio.crawl import CrawlLoop
from opilio.errors import BadInput
from opilio.frontier.host_rules import HostRules
from opilio.records import Subject
from opilio.steering.effects import Effects, make_effects
from opilio.steering.labels import labelled, unlabelled_page
from opilio.storage.warc_places import read_places, write_places
from opilio.store.inbox import Sent
from opilio.store.message_log import DONE
from opilio.store.messages import LabelPage
from opilio.text import urls

if TYPE_CHECKING:
    import psycopg

_NEWS = """
    SELECT coalesce(max(id), 0), (SELECT value FROM setting WHERE name = 'ended')
    FROM message
"""
_MINE = """
    SELECT id, key, at, body FROM message
    WHERE state = 'waiting' AND shard = ANY(%s) ORDER BY id
"""
_PLACE = """
    SELECT part.name, part.place FROM page JOIN part ON part.name = page.warc
    WHERE fingerprint = %s
"""

Ask = Callable[..., Awaitable[Any]]


class CrawlState(NamedTuple):
    """What the crawl was told, as far as a worker must know."""

    last: int  # message
    ended: str  # why the run shall end
    is_paused: bool = False
    rules: Mapping[str, float] = {}
    mine: tuple[Sent, ...] = ()  # messages that wait for this worker


class ToldWorker:
    """Looks for messages during a round."""

    def __init__(
        self,
        crawl: CrawlLoop,
        plan: Plan,
        subject: Subject,
        sharing: ShardSharing,
        ask: Ask,
    ) -> None:
        self.crawl = crawl
        self.sharing = sharing
        self.ask = ask
        self.frontier = sharing.frontier
        self.last = -1  # message that was looked at
        self.is_paused = False
        self.rules: Mapping[str, float] = {}
        self.effects: Effects = make_effects(
            crawl, self.frontier, plan, subject, time.time()
        )

    async def look(self) -> str:
        """Act on what is new; returns why the run shall end, if it shall."""
        state: CrawlState = await self.ask(self.fetch)
        if state.last == self.last:
            return state.ended
        if state.is_paused != self.is_paused or state.rules != self.rules:
            await self.follow(state)
        for sent in state.mine:
            if not self.effects.log.has(sent):
                await self.act(sent)
        self.last = state.last
        return state.ended

    def fetch(self, db: psycopg.Connection) -> CrawlState:
        """What the crawl was told; details only if something is new."""
        [(last, ended)] = db.execute(_NEWS).fetchall()
        reason = (ended or b"").decode()
        if last == self.last:
            return CrawlState(last, reason)
        paused = db.execute("SELECT value FROM meta WHERE key = %s", (PAUSED,))
        rules = db.execute("SELECT host, factor FROM host_rule").fetchall()
        mine = db.execute(_MINE, (list(self.sharing.shards.epochs),)).fetchall()
        return CrawlState(
            *(last, reason, paused.fetchone() == ("1",), dict(rules)),
            tuple(map(Sent._make, mine)),
        )

    async def follow(self, state: CrawlState) -> None:
        """Pause or go on, and apply the rules of hosts."""
        log = self.effects.log
        async with self.crawl.turn():
            for host in self.rules.keys() - state.rules.keys():
                log.set_rule(host, 1.0)
            for host, factor in state.rules.items():
                log.set_rule(host, factor)
            self.frontier.set_rules(HostRules(dict(state.rules)))
            log.set_paused(state.is_paused)
            self.frontier.pause(state.is_paused)
        self.is_paused, self.rules = state.is_paused, state.rules

    async def act(self, sent: Sent) -> None:
        """Carry out a seed or a label."""
        from opilio.store.messages import decode_message

        try:
            message = decode_message(sent.body)
        except ValueError:
            message = None
        if isinstance(message, LabelPage):
            await self.label(sent, message)
        else:
            await self.effects.act(sent)

    async def label(self, sent: Sent, message: LabelPage) -> None:
        """Record a label, and tell it to all workers."""
        crawl, print_ = self.crawl, urls.fingerprint(message.url)
        try:
            await self.find_record(print_)
            id = self.frontier.id_of(print_)
            stored = await unlabelled_page(crawl, id, message.url)
        except BadInput as error:
            async with crawl.turn():
                self.effects.log.keep(sent, "refused", str(error))
            return
        async with crawl.turn():
            outcome = await labelled(crawl, stored, message.relevant)
            self.effects.log.keep(sent, DONE, outcome)
            self.sharing.tell_label(stored.lease, stored.page, message.relevant)

    async def find_record(self, fingerprint: int) -> None:
        """Note where the WARC file of a page is, if another round wrote it."""

        def fetch(db: psycopg.Connection) -> dict[str, str]:
            return dict(db.execute(_PLACE, (fingerprint,)).fetchall())

        found = await self.ask(fetch)
        warcs = self.crawl.store.folder.warcs
        if found:
            write_places(warcs, {**read_places(warcs), **found})
