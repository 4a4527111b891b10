"""What a crawl on many machines is told: table `message` of PostgreSQL.

The sender carries out what holds for all workers: it pauses the crawl, ends the run or
sets the rule of a host, in the transaction of the message. Workers look at that state.
A seed or a label goes to the owner of its shard, who records the outcome in the fenced
transaction of what the message did. So every message takes effect exactly once.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from opilio.cluster.shards import shard_of
from opilio.store.inbox import Sent
from opilio.store.message_log import DONE, REFUSED, ToldMessage, message_text
from opilio.store.messages import (
    AddSeed,
    AnyMessage,
    AskQuery,
    BlockHost,
    BoostHost,
    LabelPage,
    PauseCrawl,
    ResumeCrawl,
    StopCrawl,
    decode_message,
    encode_message,
)
from opilio.text import urls

if TYPE_CHECKING:
    import psycopg

LOOK = 0.1  # seconds between two looks for an outcome
TOLD = "told"  # why a run ended after `stop`
PAUSED = "paused"  # key of `meta`
_LIVE = "SELECT count(*) FROM worker WHERE until > clock_timestamp() AND ended IS NULL"
_MESSAGES = """
    SELECT key, at, taken_at, body, state, outcome, coalesce(ended, ''),
        (SELECT count(*) FROM asked_page WHERE message = message.key)
    FROM message
"""


def shard_for(body: str) -> int | None:
    """The shard whose owner carries out a message; None: it holds for all."""
    try:
        message = decode_message(body)
    except msgspec.DecodeError:
        return None
    if isinstance(message, AddSeed | LabelPage):
        return shard_of(urls.host(message.url))
    return None


def send_message(db: psycopg.Connection, message: AnyMessage) -> str:
    """Tell the crawl something; returns the key of the message once it is durable."""
    key, body = uuid.uuid4().hex, encode_message(message)
    with db.transaction():
        db.execute(
            "INSERT INTO message (key, at, body, shard) "
            "VALUES (%s, extract(epoch FROM clock_timestamp()), %s, %s)",
            (key, body, shard_for(body)),
        )
        apply_message(db, key, message)
    return key


def take_in(db: psycopg.Connection, messages: Iterable[Sent]) -> None:
    """Take in messages that were left elsewhere; those that are known are skipped."""
    for sent in messages:
        with db.transaction(), suppress(msgspec.DecodeError):
            message = decode_message(sent.body)
            added = db.execute(
                "INSERT INTO message (key, at, body, shard) VALUES (%s, %s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                (sent.key, sent.at, sent.body, shard_for(sent.body)),
            )
            if added.rowcount:
                apply_message(db, sent.key, message)


def apply_message(db: psycopg.Connection, key: str, message: AnyMessage) -> None:
    """Let a message that holds for all workers take effect; others wait for theirs."""
    state = DONE
    match message:
        case AskQuery():
            state = REFUSED
            outcome = (
                "a crawl on many machines fetches no pages for a query; copy it with "
                "`opilio pull DSN DIR` and fetch them there with `opilio search DIR "
                "QUERY --expand N`, or name pages with `opilio tell DSN seed URL`"
            )
        case PauseCrawl() | ResumeCrawl():
            is_paused = isinstance(message, PauseCrawl)
            db.execute(
                "INSERT INTO meta VALUES (%s, %s) "
                "ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value",
                (PAUSED, str(int(is_paused))),
            )
            outcome = "paused" if is_paused else "resumed"
        case StopCrawl():
            outcome = _stop(db)
        case BlockHost(host):
            _set_rule(db, host, 0.0)
            outcome = f"no more pages of {host} are visited"
        case BoostHost(host, factor):
            _set_rule(db, host, factor)
            is_usual = factor == 1
            effect = "wait as usual" if is_usual else f"count {factor:g} times as much"
            outcome = f"links of {host} {effect}"
        case _:
            return
    db.execute(
        "UPDATE message SET state = %s, outcome = %s, taken_at = at WHERE key = %s",
        (state, outcome, key),
    )


def _stop(db: psycopg.Connection) -> str:
    if not live_workers(db):
        return "that run had ended already"
    db.execute(
        "INSERT INTO setting VALUES ('ended', %s) ON CONFLICT DO NOTHING",
        (TOLD.encode(),),
    )
    return "stopped"


def _set_rule(db: psycopg.Connection, host: str, factor: float) -> None:
    db.execute("DELETE FROM host_rule WHERE host = %s", (host,))
    if factor != 1:
        db.execute("INSERT INTO host_rule VALUES (%s, %s)", (host, factor))


def live_workers(db: psycopg.Connection) -> int:
    """How many workers are at work."""
    [(count,)] = db.execute(_LIVE).fetchall()
    return int(count)


def messages_in(db: psycopg.Connection, key: str = "") -> list[ToldMessage]:
    """All messages of the crawl in order, or one of them."""
    which = "WHERE key = %s" if key else "WHERE %s = ''"
    rows = db.execute(f"{_MESSAGES} {which} ORDER BY id".encode(), (key,))
    return [
        ToldMessage(
            key=row[0],
            at=row[1],
            taken_at=row[2],
            text=message_text(row[3]),
            state=row[4],
            outcome=row[5],
            ended=row[6],
            pages=row[7],
        )
        for row in rows
    ]


def await_outcome(db: psycopg.Connection, key: str, seconds: float) -> ToldMessage:
    """What became of a message, as soon as it is taken up, the time is up, or nobody
    works on the crawl."""
    end = time.monotonic() + seconds
    while True:
        is_running = live_workers(db)
        [told] = messages_in(db, key)
        if told.taken_at is not None or not is_running or time.monotonic() >= end:
            return told
        time.sleep(LOOK)
