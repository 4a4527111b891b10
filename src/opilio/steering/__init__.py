"""Acts on the messages that a running crawl is sent.

The code that does so is imported with the first message: most crawls receive none.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from opilio.crawl import Beside, CrawlLoop

if TYPE_CHECKING:
    from opilio.assembly.plan import Plan
    from opilio.records import Subject
    from opilio.steering.listener import Listener

POLL = 0.25  # seconds


async def listening(crawl: CrawlLoop, plan: Plan, subject: Subject) -> Beside:
    """The task that handles messages while a crawl runs; messages that are waiting take
    effect before its first visit."""
    folder = crawl.store.folder
    inbox, began = folder.inbox, folder.locked_at or time.time()

    def start() -> Listener:
        from opilio.steering.listener import Listener

        listener = Listener(crawl, plan, subject, began)
        listener.go_on()
        return listener

    async def wait_for_first() -> None:
        while await crawl.is_working(after=POLL):
            if inbox.is_file():
                await start().listen()  # until the crawl ends

    if not inbox.is_file():
        return wait_for_first
    listener = start()
    await listener.take_up()
    return listener.listen
