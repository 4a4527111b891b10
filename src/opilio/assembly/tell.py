"""Sends messages to a crawl, and tells what became of them; works from any process."""

from __future__ import annotations

import time
from collections.abc import Callable

from opilio.store.folder import CrawlFolder
from opilio.store.inbox import send
from opilio.store.lifecycle import owner_of
from opilio.store.lookup import opened
from opilio.store.message_log import ToldMessage, messages_of
from opilio.store.messages import AnyMessage

LOOK = 0.1  # seconds between two looks


def send_and_wait(
    folder: CrawlFolder, message: AnyMessage, wait: float = 0.0
) -> ToldMessage:
    """Send a message, and wait so many seconds for what comes of it, if the crawl runs.

    The message is safe on disk when this returns. It takes effect once: now, if the
    crawl runs, or else when it is resumed.
    """
    key = send(folder, message)
    return await_outcome(folder, key, wait)


def await_outcome(
    folder: CrawlFolder,
    key: str,
    seconds: float,
    until: Callable[[ToldMessage], bool] = lambda told: told.taken_at is not None,
) -> ToldMessage:
    """What became of a message, as soon as it is taken up, the time is up, or the crawl
    does not run."""
    end = time.monotonic() + seconds
    while True:
        running = owner_of(folder)
        told = look_up(folder, key)
        if until(told) or not running or time.monotonic() >= end:
            return told
        time.sleep(LOOK)


def look_up(folder: CrawlFolder, key: str) -> ToldMessage:
    """A message of a crawl, by its key."""
    with opened(folder) as db:
        return next(told for told in messages_of(folder, db) if told.key == key)


def list_messages(folder: CrawlFolder) -> list[ToldMessage]:
    """All messages of a crawl."""
    with opened(folder) as db:
        return messages_of(folder, db)
