"""Lets a running crawl follow its topic: the query log, and keywords that change.

Keywords change when the user accepts proposals (`opilio topic build --update`), or, if
the topic has `update = "auto"`, by themselves as the crawl keeps pages. Either way the
judge is made again and waiting links are re-scored, as for the query log. What few
crawls need is imported where it is used.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from opilio.assembly.judge_and_strategy import JudgeAndStrategy
from opilio.assembly.plan import load_plan
from opilio.protocols import Judge
from opilio.records import Clock, Subject
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import compile_topic
from opilio.subject.stored_subject import save_subject
from opilio.topic import QueryLog, Topic

if TYPE_CHECKING:
    from opilio.subject.followed_queries import Following
    from opilio.topic.keyword_updates import KeywordChange

EVERY = 30.0  # seconds between two checks of the keywords
FIRST = 50  # kept pages before keywords change by themselves
GROWTH = 1.5  # times as many, before they do again

log = logging.getLogger(__name__)


class ChangedKeywords(msgspec.Struct, frozen=True):
    """The topic with other keywords, and what it was compiled to."""

    topic: Topic
    subject: Subject
    changes: tuple[str, ...]  # since the last time, in words


class TopicNews(msgspec.Struct, frozen=True):
    """What has changed since the last check."""

    queries: Following | None = None
    keywords: ChangedKeywords | None = None


class FollowedTopic:
    """Checks the query log and the keywords of a crawl for changes."""

    def __init__(
        self,
        parts: JudgeAndStrategy,
        folder: CrawlFolder,
        kept: Callable[[], int],
        now: Clock = time.monotonic,
    ) -> None:
        self.parts = parts
        self.folder = folder
        self.kept = kept
        self.now = now
        self.is_automatic = parts.plan.topic.update == "auto"
        topic = parts.plan.topic
        self.log_every = (topic.asked or topic.query_log or QueryLog()).every
        self.every = min(self.log_every, EVERY)  # 0: nothing is followed by itself
        self.due = now() + self.log_every  # when to check the log
        self.known = len(accepted_in(folder))
        self.enough = max(FIRST, GROWTH * kept())  # pages, to look for better keywords
        self.changes: tuple[str, ...] = ()

    @property
    def asked(self) -> list[str]:
        """Some terms that people ask for now, the most frequent first."""
        return self.parts.log.asked if self.parts.log else []

    @property
    def subject(self) -> Subject:
        """What is sought now."""
        return self.parts.subject

    def look(self) -> TopicNews | None:
        """What has changed, if anything; for a thread of its own."""
        news = TopicNews(self.new_queries(), self.new_keywords())
        return news if news.queries or news.keywords else None

    def new_queries(self) -> Following | None:
        """The state of the log, if it is time to look and it has grown."""
        if self.log_every and self.now() < self.due - self.every / 2:
            return None
        self.due = self.now() + self.log_every
        log = self.parts.open_log()
        return log.look() if log else None

    def new_keywords(self) -> ChangedKeywords | None:
        """The topic with the keywords that were accepted since the last time."""
        if self.is_automatic and (kept := self.kept()) >= self.enough:
            from opilio.assembly.topic_update import update_automatically

            self.enough = GROWTH * kept
            update_automatically(self.folder, load_plan(self.folder))
        made = accepted_in(self.folder)
        if len(made) == self.known:
            return None
        from opilio.subject.improved_ontology import with_improved
        from opilio.subject.topic_updates import with_updates

        changes = tuple(f"{one.kind} {one.term}" for one in made[self.known :])
        self.known = len(made)
        topic = with_updates(load_plan(self.folder).topic, self.folder)
        crawl = self.parts.plan.crawl
        subject = compile_topic(
            with_improved(topic, self.folder), None, crawl.vectors, crawl.weights
        )
        return ChangedKeywords(topic, subject, changes)

    def take(self, news: TopicNews) -> tuple[Judge, bytes] | None:
        """Apply changes; returns a new judge and reader setup, if they are needed."""
        queries = self.parts.log
        changed = bool(queries and news.queries and queries.take(news.queries))
        self.changes = ()
        if keywords := news.keywords:
            changed, self.changes = True, keywords.changes
            self.parts.follow(keywords.topic, keywords.subject)
            save_subject(keywords.subject, self.folder.subject)
            from opilio.subject.improved_ontology import note_in_use

            note_in_use(self.folder)
            log.info("The keywords have changed: %s", in_short(self.changes))
        if not changed:
            return None
        return self.parts.remake(queries.weights if queries else {})


def accepted_in(folder: CrawlFolder) -> Sequence[KeywordChange]:
    """The changes of the keywords that were accepted so far."""
    if not folder.keywords.is_file():
        return ()
    from opilio.subject.topic_updates import accepted  # few crawls have any

    return accepted(folder)


def in_short(changes: Sequence[str], most: int = 5) -> str:
    """The first changes, and how many more there are."""
    more = f" and {len(changes) - most} more" if len(changes) > most else ""
    return ", ".join(changes[:most]) + more
