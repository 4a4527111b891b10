"""Simulates one crawl of a fixed web and records its requests.

It is the crawl of `opilio crawl` (loop, frontier, judge, strategy and store) with two
differences: pages come from WARC files, and parsed pages are shared with all other
trials of a comparison. It runs in a process that knows no label.
"""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec

from opilio import settings
from opilio.assembly.build import Ways, assemble
from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Options, Plan, for_replay, override
from opilio.assembly.registry import make_judge
from opilio.crawl import CrawlLoop, Stages
from opilio.errors import OpilioError
from opilio.fetch.replay import ReplayFetch
from opilio.judge.opinions import ADVICE
from opilio.lab.conditions import ONE_AT_A_TIME, Conditions, SlowReplay
from opilio.lab.examples import with_examples
from opilio.lab.label_schedule import LabelSchedule
from opilio.lab.perfect_judge import PERFECT, Perfect
from opilio.lab.runs import Estimated, LabVisit, Trace
from opilio.lab.shared_readings import SharedReadings
from opilio.lab.teacher import Ticket
from opilio.lab.virtual_time import run_virtual
from opilio.lab.web_pages import cache_folder
from opilio.protocols import Judge
from opilio.records import (
    SEED_PROMISE,
    Lease,
    Page,
    ReaderSetup,
    Response,
    Subject,
    Verdict,
)
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import compile_topic
from opilio.subject.current import follow_log
from opilio.subject.page_reader import make_reader
from opilio.topic import Topic
from opilio.topic.file import Evaluation
from opilio.vectors.files import AUTO

ESTIMATE_EVERY = 10  # requests
SELDOM = 1e6  # seconds between commits: the result of a trial is deleted anyway


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a crawl in the lab is given."""

    warcs: tuple[str, ...]
    topic: Topic  # without its table for the lab
    strategy: str
    options: Mapping[str, str] = {}
    judge: str = "cosine"
    seeds: tuple[str, ...]
    budget: int  # requests
    chance: int = 0
    conditions: Conditions = ONE_AT_A_TIME
    readings: str = ""  # a folder for what trials share; empty: nothing is shared
    time_limit: float = 0.0  # seconds; 0: none
    vectors: str = AUTO  # the setting of that name
    weights: str = ""  # the same
    embedding_model: str = ""  # of the judge `embedding`
    truth: Sequence[str] | None = None  # the relevant URLs, for the perfect judge only
    examples: tuple[str, ...] = ()  # URLs of relevant pages that the crawl is given
    counterexamples: tuple[str, ...] = ()
    ticket: Ticket | None = None  # for labels while it runs


class TrialCrawl(CrawlLoop):
    """A crawl that records its requests, and ends after a number of them."""

    def __init__(
        self, settings: settings.Settings, stages: Stages, budget: int
    ) -> None:
        super().__init__(settings, stages)
        self.requests: list[Lease] = []
        self.foreseen: dict[int, int] = {}  # link -> the page that it was found on
        self.most = budget
        self.lessons: LabelSchedule | None = None
        self.last = 0.0  # when the last request of the budget ended
        self.estimates: dict[int, Estimated] = {}  # by requests

    async def visit(self, lease: Lease) -> int:
        """Visit one link; a URL that the web does not have does not count as a
        request."""
        if self.expected_target(lease):  # its redirect is known without a request
            self.foreseen[lease.id] = lease.found_on
        elif isinstance(self.fetch, ReplayFetch) and self.fetch.has(lease.fingerprint):
            if len(self.requests) >= self.most:  # leased while the last one was, too
                return 0
            self.requests.append(lease)
            if len(self.requests) >= self.most:
                self.stop_soon("budget")
        pages = await super().visit(lease)
        self.note_estimate(len(self.requests))
        if self.lessons:
            await self.lessons.go_on(self, len(self.requests))
        self.last = self.clock()
        return pages

    def note_estimate(self, request: int) -> None:
        """Record the strategy's estimate of what is left, after every tenth request."""
        if request % ESTIMATE_EVERY or request in self.estimates:
            return
        if now := self.estimate():
            self.estimates[request] = Estimated(
                request,
                now.found,
                now.left,
                now.low,
                now.high,
                now.recapture,
            )

    async def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[int]:
        """Rank the links of a page, whose label may be told next."""
        if self.lessons:
            self.lessons.latest = page
        return await super().rank(page, verdict, lease)


MakeCrawl = Callable[[settings.Settings, Stages, int], TrialCrawl]


def conduct(trial: Trial, make: MakeCrawl = TrialCrawl) -> Trace:
    """Run a trial from its seeds to its end."""
    with tempfile.TemporaryDirectory(prefix="opilio-trial-") as folder:
        try:
            run = run_virtual if trial.conditions.are_simulated else run_loop
            with limited(trial.time_limit):
                return run(crawl(trial, CrawlFolder(Path(folder)), make))
        except SystemExit as error:  # it would end the whole comparison
            raise RuntimeError(f"{trial.strategy} called sys.exit") from error
        except TimeUp as error:
            raise OpilioError(
                f"{trial.strategy} did not end within {trial.time_limit:g} s; give "
                "more (--time-limit SECONDS, 0: no limit), or fix the strategy"
            ) from error


class TimeUp(BaseException):
    """The time of a trial is up; not an Exception, so that no strategy catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeUp in the block after this many seconds, whatever it is doing.

    Code in C is not interrupted; if it does not return in twice the time, the process
    ends, and says on standard error where it was.
    """
    if not seconds:
        yield
        return

    def ring(*_: object) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    # Repeated, because an exception raised in a destructor is lost.
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds / 10)
    faulthandler.dump_traceback_later(2 * seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_here(setup: ReaderSetup) -> AbstractContextManager[Callable[[Response], Page]]:
    """Read example pages in this process, which may start no other."""
    return nullcontext(make_reader(setup).read)


async def crawl(
    trial: Trial, folder: CrawlFolder, make: MakeCrawl = TrialCrawl
) -> Trace:
    """The same in a folder of its own."""
    plan = plan_of(trial)
    warcs = [Path(name) for name in trial.warcs]
    log = follow_log(plan.topic)
    topic = await topic_of(trial, plan, folder.path)
    asked = log.build() if log else None
    subject = compile_topic(
        topic, asked, plan.crawl.vectors, plan.crawl.weights, read_here
    )
    shared = Path(trial.readings or folder.path)
    crawls: list[TrialCrawl] = []
    readings: list[SharedReadings] = []

    def make_crawl(settings: settings.Settings, stages: Stages) -> CrawlLoop:
        crawls.append(make(settings, stages, trial.budget))
        if trial.ticket:
            crawls[-1].lessons = LabelSchedule(trial.ticket, trial.budget)
        return crawls[-1]

    def make_readers(_: int, setup: bytes) -> SharedReadings:
        texts = trial.judge in ADVICE
        readings.append(SharedReadings(shared, setup, subject.word_vectors, texts))
        return readings[-1]

    latency = trial.conditions.latency
    ways = Ways(
        fetch=lambda *_: SlowReplay(warcs, cache_folder(), latency=latency),
        readers=make_readers,
        example_reader=read_here,
        judge=lambda plan, subject: judge_of(trial, plan, subject),
        crawl=make_crawl,
        clock=asyncio.get_running_loop().time
        if trial.conditions.are_simulated
        else time.monotonic,
    )
    folder.make()
    async with assemble(plan, folder, subject, ways) as made:
        began, start = time.process_time(), crawls[0].clock()
        ended = await made.run(dict.fromkeys(trial.seeds, SEED_PROMISE))
        spent = time.process_time() - began - sum(each.spent for each in readings)
        return Trace(
            visits=visits(crawls[0].requests, crawls[0].foreseen, made.store.db),
            ended=ended,
            cpu_seconds=spent,
            taught=crawls[0].lessons.taught if crawls[0].lessons else (),
            seconds=crawls[0].last - start if trial.conditions.are_simulated else 0.0,
            estimates=tuple(crawls[0].estimates.values()),
        )


def plan_of(trial: Trial) -> Plan:
    """The plan of a crawl: the defaults of everything but what the trial names."""
    topic = msgspec.structs.replace(trial.topic, evaluation=Evaluation())
    plan = Plan(
        topic=topic,
        crawl=settings.CrawlSettings(
            strategy=trial.strategy,
            judge=trial.judge,
            max_pages=0,
            seed=trial.chance,
            vectors=trial.vectors,
            weights=trial.weights,
        ),
        store=settings.StoreSettings(commit_every=SELDOM),
        search=settings.SearchSettings(index=False),
        embedding=settings.EmbeddingSettings(model=trial.embedding_model),
        options=trial.options,
    )
    made = trial.conditions
    conditions: Options = {
        "crawl": {
            "in_flight": made.in_flight,
            "haste": made.haste,
            "breadth": made.breadth,
        },
        "politeness": {"delay": made.delay},
    }
    plan = for_replay(plan, [Path(name) for name in trial.warcs])
    return override(plan, conditions)


async def topic_of(trial: Trial, plan: Plan, folder: Path) -> Topic:
    """The topic with the example pages that the trial gives."""
    if not trial.examples and not trial.counterexamples:
        return plan.topic
    fetch = ReplayFetch([Path(name) for name in trial.warcs], cache_folder())
    given = (trial.examples, trial.counterexamples)
    try:
        return await with_examples(plan.topic, fetch, *given, folder / "examples")
    finally:
        await fetch.close()


def judge_of(trial: Trial, plan: Plan, subject: Subject) -> Judge:
    """The judge that the trial names: one of a crawl's, or the perfect one."""
    if trial.judge == PERFECT:
        return Perfect(trial.truth or ())
    return make_judge(plan, subject)


def visits(
    leases: Sequence[Lease], foreseen: Mapping[int, int], db: sqlite3.Connection
) -> list[LabVisit]:
    """The outcome of each lease, in order; `foreseen` are redirects that were predicted
    instead of requested, and where these links were found."""
    rows = db.execute(
        "SELECT link.id, state, coalesce(reason, ''), score "
        "FROM link LEFT JOIN page USING (id) WHERE state != 'waiting'"
    )
    ends = {link: (state, reason, score) for link, state, reason, score in rows}
    leases = [lease for lease in leases if lease.id in ends]  # not those cut short
    numbers = {lease.id: number for number, lease in enumerate(leases)}
    found: list[LabVisit] = []
    for lease in leases:
        via = numbers.get(foreseen.get(lease.found_on, lease.found_on), -1)
        if via >= 0 and found[via].reason == "redirect":
            via = found[via].via  # the page that linked to the old address
        found.append(LabVisit(lease.url, *ends[lease.id], lease.depth, via))
    return found
