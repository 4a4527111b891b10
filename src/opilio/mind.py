"""A plan and what earlier runs learnt in; the judge and the strategy of a crawl, and
the setup of its readers, out; once more whenever people ask for other things."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from opilio.brief import Brief
from opilio.choice import make_judge
from opilio.judge.languages import InLanguages
from opilio.plan import Plan
from opilio.protocols import (
    Judge,
    Learner,
    LearningJudge,
    Remembering,
    Seeker,
    Strategy,
)
from opilio.seeking import asked_for, follow_log, reader_setup
from opilio.sites.keeper import SiteKeeper
from opilio.store.store import Store
from opilio.types import Reads


class Mind:
    """What decides: judge and strategy, with all that they learnt in earlier runs."""

    def __init__(
        self,
        plan: Plan,
        brief: Brief,
        strategy: Strategy,
        store: Store,
        judge: Callable[[Plan, Brief], Judge] = make_judge,
    ) -> None:
        self.plan = plan
        self.make_judge = judge
        self.base = brief  # without what people ask for
        self.brief = brief
        self.strategy = strategy
        self.learners: dict[str, Learner] = {}
        self.followed = follow_log(plan, store.folder)
        changed = False
        if self.followed:
            self.learners["weights"] = self.followed
            if learnt := store.learnt("weights"):
                self.followed.load(learnt)
                self.brief = self.with_weights(self.followed.weights)
            elif plan.topic.query_log:
                self.brief = self.with_weights(self.followed.build())
            if news := self.followed.look():
                before = self.followed.weights
                self.followed.take(news)
                self.brief = self.with_weights(self.followed.weights)
                changed = self.followed.weights != before
                if changed:
                    asked = self.followed.asked
                    store.catalogue.save_event("topic", pages=0, asked=asked)
            self.followed.remake = self.remake
        self.profiles = store.profiles = SiteKeeper(store.db, self.brief)
        if isinstance(strategy, Learner):
            self.learners["strategy"] = strategy
        self.judge, self.setup = self.make()
        for name, learner in self.learners.items():
            if name != "weights" and (learnt := store.learnt(name)):
                learner.load(learnt)
        if changed:  # what was learnt is now seen by the new weights
            self.judge, self.setup = self.make()
        if isinstance(strategy, Remembering):
            strategy.recall(store.notes())

    def make(self) -> tuple[Judge, bytes]:
        """The judge for the brief, and the setup of readers for both."""
        if isinstance(self.strategy, Seeker):
            self.strategy.seek(self.brief.subject)
        judge = self.make_judge(self.plan, self.brief)
        if isinstance(judge, LearningJudge):
            if isinstance(before := self.learners.get("judge"), type(judge)):
                judge.follow(before)
            self.learners |= judge.learners()
        languages = self.plan.topic.languages
        reads = self.strategy.reads
        judged: Reads = getattr(judge, "reads", Reads())
        setup = reader_setup(
            self.plan,
            self.brief,
            reads,
            context=reads.context,
            blocks=reads.blocks or judged.blocks,
            vector=reads.vector or judged.vector,
            words=reads.words,
            vectors=reads.vectors or judged.vectors,
            text=reads.text or judged.text,
            headings=True,
            sequence=self.plan.search.index,
        )
        speaking = InLanguages(judge, languages) if languages else judge
        return speaking, msgspec.msgpack.encode(setup)

    def remake(self, asked: Mapping[str, float]) -> tuple[Judge, bytes]:
        """The same once more, when people ask for other things than before."""
        self.brief = self.with_weights(asked)
        self.profiles.follow(self.brief)
        return self.make()

    def with_weights(self, asked: Mapping[str, float]) -> Brief:
        """The brief with what people ask for now."""
        return asked_for(self.plan.topic, self.base, asked)
