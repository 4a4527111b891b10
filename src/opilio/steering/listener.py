"""Looks for messages while a crawl runs, and has each done once.

inbox.db --(every POLL seconds)--> effects.py --one turn--> the crawl, table message
"""

from __future__ import annotations

import logging
import sqlite3
from functools import partial

from opilio.assembly.plan import Plan
from opilio.crawl import Beside, CrawlLoop
from opilio.frontier.frontier import LinkFrontier
from opilio.frontier.host_rules import HostRules
from opilio.records import Subject
from opilio.search.query import parse_query
from opilio.sites.evolve_and_expand import domain_of, engines
from opilio.sites.expander import Expander
from opilio.steering.effects import Effects
from opilio.steering.user_queries import UserQueries
from opilio.store.inbox import Sent, connect, sent_since
from opilio.store.message_log import MessageLog, is_paused

POLL = 0.25  # seconds

log = logging.getLogger(__name__)


class Listener:
    """Takes up the messages of a crawl; `listen` runs beside its workers."""

    def __init__(self, crawl: CrawlLoop, plan: Plan, subject: Subject) -> None:
        frontier = crawl.frontier
        if not isinstance(frontier, LinkFrontier):
            raise TypeError(f"{type(frontier).__name__} cannot be steered")
        self.crawl = crawl
        self.frontier = frontier
        self.inbox: sqlite3.Connection | None = None
        self.last = 0  # number of the last message that was looked at
        self.log = MessageLog(crawl.store.db)
        make = partial(expander_for, crawl, plan, subject)
        self.queries = UserQueries(crawl, frontier, self.log, make)
        self.effects = Effects(crawl, frontier, plan, self.log, self.queries)
        self.go_on()

    def go_on(self) -> None:
        """Let what was told in earlier runs hold in this one."""
        self.frontier.set_rules(HostRules(self.log.host_rules()))
        self.frontier.pause(is_paused(self.crawl.store.db))
        for query in self.log.open_queries():
            self.queries.begin(query)

    async def listen(self) -> None:
        """Take messages up until the crawl ends."""
        try:
            while await self.crawl.is_working(after=POLL):
                await self.take_up()
                if self.queries.errands:
                    await self.queries.serve()
        finally:
            await self.queries.close()
            if self.inbox:
                self.inbox.close()

    async def take_up(self) -> None:
        """Do what the messages say that are new."""
        for sent in self.news():
            await self.effects.act(sent)
            self.last = sent.id

    def news(self) -> list[Sent]:
        """The messages that came since the last look; a damaged inbox has none."""
        path = self.crawl.store.folder.inbox
        try:
            if self.inbox is None:
                if not path.is_file():
                    return []
                self.inbox = connect(path, read_only=True)
            return sent_since(self.inbox, self.last)
        except sqlite3.OperationalError:
            return []  # it is being made, or written at this moment
        except sqlite3.DatabaseError as error:
            if self.last >= 0:
                log.warning("%s: %s; it is ignored", path, error)
            self.last = -1
            return []


def expander_for(
    crawl: CrawlLoop, plan: Plan, subject: Subject, query: str
) -> Expander:
    """What knows which links may answer a query."""
    return Expander(
        crawl,
        domain_of(crawl, subject),
        parse_query(query),
        mode=plan.search.mode,
        ask=engines(plan, crawl),
    )


async def listening(crawl: CrawlLoop, plan: Plan, subject: Subject) -> Beside:
    """What takes up messages beside the workers of a crawl that is about to run; those
    that wait take effect before its first visit."""
    listener = Listener(crawl, plan, subject)
    await listener.take_up()
    return listener.listen
