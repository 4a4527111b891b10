"""Shows how a crawl is doing: live on a terminal, as JSON lines elsewhere."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from opilio.crawl import CrawlLoop

if TYPE_CHECKING:
    from rich.live import Live

LIVE_SECONDS = 0.5
LINE_SECONDS = 10.0
SPEED_WINDOW = 20  # live refreshes
FORCING = ("FORCE_COLOR", "TTY_COMPATIBLE")  # rich reads these, too
SEEDS = 5  # whose problems are shown at the end
RECENT = 100  # pages
KEPT = """
    SELECT coalesce(sum(relevant AND NOT noindex), 0) FROM page
    WHERE status BETWEEN 200 AND 299
"""
LAST = """
    SELECT relevant AND NOT noindex FROM page WHERE status BETWEEN 200 AND 299
    ORDER BY number DESC LIMIT ?
"""


def is_terminal(stream: TextIO) -> bool:
    """Whether rich would treat a stream as a terminal."""
    if not stream.isatty() and not any(name in os.environ for name in FORCING):
        return False
    from rich.console import Console

    return Console(file=stream).is_terminal


def show_trouble(sentence: str) -> None:
    """Show a warning; the crawl continues."""
    from opilio.cli.terminal import foreign, stderr  # slow to import

    stderr.print(foreign(sentence, style="yellow"), soft_wrap=True)


class Before(NamedTuple):
    """The figures of earlier runs when this one began."""

    pages: int = 0
    kept: int = 0
    recent: Sequence[bool] = ()  # whether each of the last pages was kept, oldest first

    @classmethod
    def of(cls, crawl: CrawlLoop) -> Before:
        """Computed before the crawl runs, because it looks at all pages."""
        db = crawl.store.db
        last = [bool(kept) for (kept,) in db.execute(LAST, (RECENT,))]
        [kept] = db.execute(KEPT).fetchone()
        return cls(crawl.store.catalogue.pages, kept, last[::-1])


class Reporter:
    """Shows how a crawl is doing, for as long as it is open."""

    def __init__(
        self, crawl: CrawlLoop, topic: str = "", *, quiet: bool = False
    ) -> None:
        self.crawl = crawl
        self.quiet = quiet
        self.topic = topic
        self.before = Before.of(crawl)
        begun = [(time.monotonic(), crawl.tally.pages)]
        self.speeds: deque[tuple[float, int]] = deque(begun, maxlen=SPEED_WINDOW)
        self.tasks: list[asyncio.Task[None]] = []
        self.live: Live | None = None

    async def __aenter__(self) -> Reporter:
        self.tasks.append(asyncio.create_task(self.watch_for_waiting()))
        if self.quiet:
            return self
        if is_terminal(sys.stderr):
            self.begin_live()
        self.tasks.append(asyncio.create_task(self.show_regularly()))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if self.live:
            self.live.stop()

    def begin_live(self) -> None:
        """Show a table that is refreshed, if the terminal can move its cursor."""
        from rich.live import Live

        from opilio.cli.terminal import stderr

        if not stderr.is_dumb_terminal:
            self.live = Live(console=stderr, transient=True, auto_refresh=False)
            self.live.start()

    async def watch_for_waiting(self) -> None:
        """Say when nothing can be visited."""
        await asyncio.sleep(LIVE_SECONDS)
        from opilio.cli.waiting import WaitingNotice  # not before the first visit

        await WaitingNotice(self.crawl, self.show_waiting).watch()

    def show_waiting(self, event: dict[str, Any]) -> None:
        """Say that nothing can be visited now; also with --quiet."""
        from opilio.cli.waiting import print_json, wait_in_words

        if self.quiet or is_terminal(sys.stderr):
            show_trouble(wait_in_words(event))
        else:
            print_json(event)

    async def show_regularly(self) -> None:
        """Show a snapshot twice a second, or print one every ten."""
        while True:
            if self.live:
                from opilio.cli.live_table import as_table

                table = as_table(self.snapshot(), self.live.console.width)
                self.live.update(table, refresh=True)
            await asyncio.sleep(LIVE_SECONDS if self.live else LINE_SECONDS)
            if not self.live:
                print(json.dumps(self.snapshot()), file=sys.stderr, flush=True)

    def snapshot(self) -> dict[str, Any]:
        """The figures of the crawl now."""
        from opilio.cli.figures import snapshot  # not needed before the first visit

        figures = snapshot(self.crawl, self.speed(), self.before)
        return {"topic": self.topic, **figures}

    def speed(self) -> float:
        """Pages a second over the last refreshes."""
        tally = self.crawl.tally
        self.speeds.append((time.monotonic(), tally.pages))
        (then, before), (now, after) = self.speeds[0], self.speeds[-1]
        return (after - before) / (now - then) if now > then else 0.0
