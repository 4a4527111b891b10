"""Runs crawls that log what the default judge and strategy see, for training.

They run as every crawl of the lab does, in processes that know no label. What they log
is joined with the labels afterwards.
"""

from __future__ import annotations

import msgspec

from opilio.crawl import Stages
from opilio.errors import BadInput
from opilio.judge.opilio import Opilio as OpilioJudge
from opilio.lab.runs import Trace
from opilio.lab.trial import Trial, TrialCrawl, conduct
from opilio.records import Fingerprint, Lease, Page, Verdict
from opilio.settings import Settings
from opilio.strategies.opilio import Opilio

FIRST, GROWTH = 3, 1.15  # pages at which a state is logged
BEST, OTHERS = 40, 25  # links of a state


class TrainingState(msgspec.Struct, frozen=True, array_like=True):
    """Links that waited at one moment of a crawl, with their features."""

    pages: int
    base: float  # mean score of the pages until then
    links: list[Fingerprint]
    rows: list[list[float]]


class Judged(msgspec.Struct, frozen=True, array_like=True):
    """A page that was judged, with the evidence on its scales."""

    url: str
    evidence: dict[str, float]


class Observed(msgspec.Struct, frozen=True, array_like=True):
    """What a crawl logged."""

    features: tuple[str, ...]
    states: list[TrainingState]
    judged: list[Judged]
    trace: Trace


class LoggingCrawl(TrialCrawl):
    """A crawl of the default strategy and judge that logs its states."""

    def __init__(self, settings: Settings, stages: Stages, budget: int) -> None:
        super().__init__(settings, stages, budget)
        judge = getattr(self.judge, "inner", self.judge)  # it may be for languages
        if not isinstance(self.strategy, Opilio) or not isinstance(judge, OpilioJudge):
            raise BadInput("only the strategy opilio and the judge opilio are trained")
        self.pupil, self.critic = self.strategy, judge
        self.states: list[TrainingState] = []
        self.judged: list[Judged] = []
        self.next_log = FIRST

    async def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[int]:
        """Rank the links of a page; log the state from time to time."""
        self.judged.append(Judged(page.url, dict(self.critic.latest)))
        ids = await super().rank(page, verdict, lease)
        groups = self.pupil.groups
        if groups.pages >= self.next_log:
            self.next_log = int(GROWTH * groups.pages) + 1
            links, rows = self.pupil.view(BEST, OTHERS)
            state = TrainingState(groups.pages, groups.base, links, rows.tolist())
            self.states.append(state)
        return ids


def observe(trial: Trial) -> Observed:
    """Run a trial and return what it logged."""
    made: list[LoggingCrawl] = []

    def make(settings: Settings, stages: Stages, budget: int) -> LoggingCrawl:
        made.append(LoggingCrawl(settings, stages, budget))
        return made[-1]

    trace = conduct(trial, make)
    [crawl] = made
    names = crawl.pupil.features.names
    return Observed(names, crawl.states, crawl.judged, trace)
