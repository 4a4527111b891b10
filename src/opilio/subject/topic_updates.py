"""Keeps the changes of a crawl's keywords, with their times, in DIR/keywords.jsonl.

A line is a decision: accepted by the user, accepted because the topic allows it
(`update = "auto"`), or rejected. The topic file stays as it is; a crawl compiles its
topic with all that was accepted.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from opilio.store.folder import CrawlFolder
from opilio.topic import Topic
from opilio.topic.file import Keyword
from opilio.topic.keyword_updates import KeywordChange, changed_weights

ACCEPTED, AUTOMATIC, REJECTED = "accepted", "automatic", "rejected"


class KeywordDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about a change, and when."""

    when: str
    action: str  # accepted, automatic or rejected
    change: KeywordChange


def decisions(folder: CrawlFolder) -> list[KeywordDecision]:
    """All decisions, oldest first; an incomplete last line is left out."""
    if not folder.keywords.is_file():
        return []
    found = []
    for line in folder.keywords.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=KeywordDecision))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return found


def record(folder: CrawlFolder, action: str, changes: Sequence[KeywordChange]) -> None:
    """Append decisions, and make them durable."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [
        msgspec.json.encode(KeywordDecision(when=when, action=action, change=one))
        for one in changes
    ]
    with folder.keywords.open("ab") as file:
        file.write(b"\n" if file.tell() else b"")  # half a line stays by itself
        file.write(b"\n".join(lines) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def accepted(folder: CrawlFolder) -> list[KeywordChange]:
    """The changes that were accepted for this crawl, the first one first."""
    return [one.change for one in decisions(folder) if one.action != REJECTED]


def with_updates(topic: Topic, folder: CrawlFolder) -> Topic:
    """The topic with the keywords that were accepted for this crawl."""
    changes = accepted(folder)
    if not changes:
        return topic
    weights = changed_weights(topic.weights(), changes)
    made = tuple(Keyword(term=term, weight=w) for term, w in weights.items())
    return msgspec.structs.replace(topic, keywords=made)


def digest(folder: CrawlFolder) -> str:
    """A line that changes with every change of the keywords; "" without any."""
    changes = [one for one in decisions(folder) if one.action != REJECTED]
    data = msgspec.json.encode(changes)
    return f"{hashlib.sha256(data).hexdigest()}\n" if changes else ""
