"""Looks for messages while a crawl runs, and carries out each of them once.

inbox.db --(every POLL seconds)--> effects.py --one turn--> the crawl, table message
"""

from __future__ import annotations

import logging
import sqlite3
from functools import cached_property
from typing import TYPE_CHECKING

from opilio.assembly.plan import Plan
from opilio.crawl import CrawlLoop
from opilio.frontier.frontier import LinkFrontier
from opilio.frontier.host_rules import HostRules
from opilio.records import Subject
from opilio.steering import POLL
from opilio.store.inbox import Sent, connect, sent_since
from opilio.store.message_log import MessageLog, is_paused

if TYPE_CHECKING:
    from opilio.steering.effects import Effects

log = logging.getLogger(__name__)


class Listener:
    """Handles the messages of a crawl; `listen` runs beside its workers."""

    def __init__(
        self, crawl: CrawlLoop, plan: Plan, subject: Subject, began: float
    ) -> None:
        if not isinstance(crawl.frontier, LinkFrontier):
            raise TypeError(f"{type(crawl.frontier).__name__} cannot be steered")
        self.crawl = crawl
        self.frontier = crawl.frontier
        self.plan = plan
        self.subject = subject
        self.log = MessageLog(crawl.store.db)
        self.inbox: sqlite3.Connection | None = None
        self.last = 0  # number of the last message that was looked at
        self.is_damaged = False
        self.began = began

    @cached_property
    def effects(self) -> Effects:
        """What carries out messages."""
        from opilio.steering.effects import make_effects

        return make_effects(
            self.crawl, self.frontier, self.plan, self.subject, self.began
        )

    def go_on(self) -> None:
        """Restore what messages of earlier runs set."""
        if rules := self.log.host_rules():
            self.frontier.set_rules(HostRules(rules))
        if is_paused(self.crawl.store.db):
            self.frontier.pause(True)
        for query in self.log.open_queries():
            self.effects.queries.begin(query)

    async def listen(self) -> None:
        """Handle messages until the crawl ends."""
        try:
            await self.take_up()
            while await self.crawl.is_working(after=POLL):
                await self.take_up()
                if "effects" in vars(self):
                    await self.effects.queries.serve()
        finally:
            if "effects" in vars(self):
                await self.effects.queries.close()
            self.close()

    def close(self) -> None:
        """Read no more messages."""
        if self.inbox:
            self.inbox.close()
            self.inbox = None

    async def take_up(self) -> None:
        """Carry out the new messages."""
        for sent in self.news():
            if not self.log.has(sent):
                await self.effects.act(sent)
            self.last = sent.id

    def news(self) -> list[Sent]:
        """The messages that came since the last look; a damaged inbox has none."""
        path = self.crawl.store.folder.inbox
        try:
            if self.inbox is None:
                if self.is_damaged or not path.is_file():
                    return []
                self.inbox = connect(path, read_only=True)
            return sent_since(self.inbox, self.last)
        except sqlite3.OperationalError:
            return []  # it is being made, or written at this moment
        except sqlite3.DatabaseError as error:
            log.warning("%s cannot be read (%s); messages are ignored", path, error)
            self.is_damaged = True
            self.close()
            return []
