"""Makes the judge and the strategy of a crawl and restores what they learnt.

The judge is made again when the queries in a followed query log change the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from opilio.assembly.plan import Plan
from opilio.assembly.reader_setup import crawl_setup
from opilio.assembly.registry import make_judge
from opilio.profiles.keeper import SiteKeeper
from opilio.protocols import (
    Judge,
    Learner,
    LearningJudge,
    Remembering,
    Seeker,
    Strategy,
)
from opilio.records import Subject
from opilio.store.store import Store
from opilio.subject.compile import with_more, written_terms
from opilio.topic import Topic

if TYPE_CHECKING:
    from opilio.subject.followed_queries import FollowedLog


class JudgeAndStrategy:
    """The judge and the strategy, with what they learnt in earlier runs."""

    def __init__(
        self,
        plan: Plan,
        subject: Subject,
        strategy: Strategy,
        store: Store,
        judge: Callable[[Plan, Subject], Judge] = make_judge,
    ) -> None:
        self.plan = plan
        self.make_judge = judge
        self.base = subject  # without the weights of the query log
        self.subject = subject
        self.strategy = strategy
        self.asked: tuple[str, ...] = ()  # terms of queries that pages are fetched for
        self.learners: dict[str, Learner] = {"weights": self}
        self.folder = store.folder
        self.log: FollowedLog | None = None
        changed, learnt = False, store.learnt("weights")
        if log := self.open_log(had_one=bool(learnt)):
            if learnt:
                self.load(learnt)
                self.subject = self.with_weights(log.weights)
            elif plan.topic.asked:
                self.subject = self.with_weights(log.build())
            if news := log.look():
                before = log.weights
                log.take(news)
                self.subject = self.with_weights(log.weights)
                changed = log.weights != before
                if changed:
                    asked = log.asked
                    store.catalogue.save_event("topic", pages=0, asked=asked)
        self.profiles = SiteKeeper(store.db, self.subject)
        if isinstance(strategy, Learner):
            self.learners["strategy"] = strategy
        self.judge, self.setup = self.make()
        for name, learner in self.learners.items():
            if name != "weights" and (learnt := store.learnt(name)):
                learner.load(learnt)
        if changed:  # apply the new weights to what was learnt
            self.judge, self.setup = self.make()
        if isinstance(strategy, Remembering):
            strategy.recall(store.notes())

    def open_log(self, *, had_one: bool = False) -> FollowedLog | None:
        """The query log of the topic, or else that of searches, once there is one."""
        is_there = had_one or self.plan.topic.asked or self.folder.queries.is_file()
        if self.log is None and is_there:
            from opilio.subject.current import follow_log  # few crawls have one

            self.log = follow_log(self.plan.topic, self.folder)
        return self.log

    def dump(self) -> bytes | None:
        """What the query log has taught, if that has changed."""
        return self.log.dump() if self.log else None

    def load(self, learnt: bytes) -> None:
        """Restore what the query log had taught."""
        if log := self.open_log(had_one=True):
            log.load(learnt)

    def make(self) -> tuple[Judge, bytes]:
        """The judge for the subject, and the reader setup for judge and strategy."""
        if isinstance(self.strategy, Seeker):
            self.strategy.seek(self.subject)
        judge = self.make_judge(self.plan, self.subject)
        if isinstance(judge, LearningJudge):
            if isinstance(before := self.learners.get("judge"), type(judge)):
                judge.follow(before)
            self.learners |= judge.learners()
        self.bare = judge
        return self.dressed(judge, self.subject), self.reader_setup()

    def dressed(self, judge: Judge, subject: Subject) -> Judge:
        """A judge whose verdicts name terms in words, and languages that are wanted."""
        if getattr(judge, "names_terms", False):
            from opilio.judge.part_names import InWords

            judge = InWords(judge, written_terms(subject))
        if languages := self.plan.topic.languages:
            from opilio.judge.languages import InLanguages

            judge = InLanguages(judge, languages)
        return judge

    def reader_setup(self) -> bytes:
        """What readers must know, with the terms of queries that pages are fetched
        for."""
        terms = tuple(dict.fromkeys((*self.subject.terms, *self.asked)))
        subject = msgspec.structs.replace(self.subject, terms=terms)
        setup = crawl_setup(self.plan, subject, self.strategy.reads, self.bare)
        return msgspec.msgpack.encode(setup)

    def also_read(self, terms: Iterable[str]) -> bytes:
        """A setup for readers that count these terms too, until the next call."""
        self.asked = tuple(terms)
        return self.reader_setup()

    def judge_for(self, asked: Mapping[str, float]) -> Judge:
        """A judge that seeks these terms beside the topic's. Pages that are judged by
        other terms than the topic's teach it nothing."""
        subject = with_more(self.subject, asked)
        judge = self.make_judge(self.plan, subject)
        if isinstance(judge, LearningJudge):
            if isinstance(before := self.learners.get("judge"), type(judge)):
                judge.follow(before)
            judge.is_learning = False
        return self.dressed(judge, subject)

    def remake(self, asked: Mapping[str, float]) -> tuple[Judge, bytes]:
        """The same again, for new weights from the query log."""
        self.subject = self.with_weights(asked)
        self.profiles.follow(self.subject)
        return self.make()

    def follow(self, topic: Topic, subject: Subject) -> None:
        """Seek this from the next `remake` on: the keywords of the topic changed."""
        self.plan = msgspec.structs.replace(self.plan, topic=topic)
        self.base = subject

    def with_weights(self, asked: Mapping[str, float]) -> Subject:
        """The subject with weights from the query log."""
        from opilio.subject.current import asked_for

        return asked_for(self.plan.topic, self.base, asked)
