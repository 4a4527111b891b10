"""Finds the current subject of a crawl: its topic with the terms of its query log."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import msgspec

from opilio.records import Subject
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import weights_of, with_more, with_weights
from opilio.subject.followed_queries import FollowedLog
from opilio.subject.stored_subject import load_subject
from opilio.topic import Topic
from opilio.topic.file import QueryLog
from opilio.topic.weight_table import normalised


def follow_log(topic: Topic, folder: CrawlFolder | None = None) -> FollowedLog | None:
    """The query log of the topic, or else that of the crawl's searches, which need not
    exist yet."""
    log = topic.asked
    if folder and not log:
        own = topic.query_log or QueryLog()
        log = msgspec.structs.replace(own, file=str(folder.queries))
    return FollowedLog(log, topic.language) if log else None


def asked_for(topic: Topic, subject: Subject, asked: Mapping[str, float]) -> Subject:
    """The first subject of a topic with the terms that people ask for now, besides its
    keywords; or, if it has none, besides the terms of its ontology or examples."""
    if topic.asked or topic.keywords:
        return with_weights(subject, weights_of(topic, asked))
    return with_more(subject, normalised(asked))


def current_subject(
    topic: Topic, folder: CrawlFolder, db: sqlite3.Connection
) -> Subject:
    """The subject of a crawl, with the terms that people asked for last."""
    subject, log = load_subject(folder.subject), follow_log(topic, folder)
    learnt = db.execute("SELECT state FROM learnt WHERE name = 'weights'").fetchone()
    if log and learnt:
        log.load(learnt[0])
        subject = asked_for(topic, subject, log.weights)
    return subject
