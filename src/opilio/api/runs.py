"""Starts what `opilio.Crawl` is asked to do, in a thread, one run at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from opilio.api.background_loop import Background, ending_runs
from opilio.api.call_arguments import merged
from opilio.api.given_objects import remember_objects
from opilio.api.page_flow import PageFlow
from opilio.api.run_crawl import run_crawl
from opilio.api.setting_names import Sections, by_section
from opilio.assembly.plan import Plan, begin_crawl, for_replay, make_plan, resumed_plan
from opilio.assembly.prepare import prepare
from opilio.assembly.registry import Own
from opilio.assembly.rejudge import rejudge
from opilio.assembly.rejudge_pages import Rejudged
from opilio.assembly.search import logs_searches, remember_query
from opilio.errors import BadInput
from opilio.limits.contact import require_contact
from opilio.records import Mode
from opilio.sites.evolve_and_expand import open_evolver, open_expander, ready_plan
from opilio.sites.evolver import Outcome
from opilio.sites.expander import Expansion
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import Summary, opened, summary
from opilio.topic import Topic, where_to

T = TypeVar("T")


@dataclass(kw_only=True)
class Description:
    """A crawl as a program describes it."""

    folder: Path
    topic: Topic | None  # None: that of the folder
    sections: Sections  # settings
    own: Own  # objects of the program
    urls: Sequence[str] = ()  # seeds
    replay: Sequence[Path] = ()
    online: bool = False
    fresh: bool = False
    dsn: str = ""  # of a crawl on many machines, of which the folder is a copy

    @property
    def home(self) -> CrawlFolder:
        """The folder of the crawl."""
        return CrawlFolder(self.folder)

    def plan(self, settings: dict[str, Any]) -> Plan:
        """The plan of the next run, some of whose settings are given here."""
        sections = merged(self.sections, by_section(settings))
        if self.topic is None:
            plan = resumed_plan(self.home.require(), None, options=sections)
        else:
            plan = make_plan(self.home, self.topic, options=sections, fresh=self.fresh)
        if not self.replay and not self.online:
            return plan
        return for_replay(plan, self.replay, self.online, sections)

    def require_seeds(self, topic: Topic) -> None:
        """BadInput if there is nowhere to start."""
        given = topic.sources
        named = given.urls or given.search or given.sources
        known = self.home.database.exists() and not self.fresh
        if not (named or self.urls or self.own.seeds or known):
            raise BadInput(
                "the crawl has no seeds: give the topic seeds=['https://…'], or give "
                "the crawl seeds=…"
            )


@dataclass
class CrawlRuns:
    """The runs of one crawl; one at a time."""

    crawl: Description
    current: Background[Any] | None = field(default=None, init=False)

    def stop(self) -> None:
        """Let the visits under way end, then end the run."""
        if self.current:
            self.current.stop()

    def settle(self) -> None:
        """Wait until runs of this folder that were told to stop have ended; bring the
        copy of a crawl on many machines up to date."""
        if self.crawl.dsn:
            from opilio.cluster.mirror import mirror_of

            mirror_of(self.crawl.dsn)
        for run in ending_runs(self.crawl.folder):
            run.join()

    async def asettle(self) -> None:
        """The same for coroutines."""
        for run in ending_runs(self.crawl.folder):
            await asyncio.to_thread(run.join)

    def _begin(self, work: Callable[[Background[T]], Any]) -> Background[T]:
        if self.current and self.current.is_running:
            raise BadInput(
                f"this program is already crawling {self.crawl.folder}; wait until "
                "that run ends, leave its loop, or call stop()"
            )
        run: Background[T] = Background(work, self.crawl.folder)
        self.current = run
        return run

    def begin_crawl(
        self, settings: dict[str, Any], flow: PageFlow | None = None
    ) -> Background[Summary]:
        """Crawl; `flow` takes the pages that are kept."""
        crawl = self.crawl
        plan = crawl.plan(settings)
        if not plan.is_offline:
            require_contact(plan.fetch, where_to(plan.topic, crawl.urls))
        remember_objects(crawl.folder, crawl.own)

        async def work(run: Background[Summary]) -> Summary:
            home = crawl.home
            try:
                subject = prepare(plan, home, fresh=crawl.fresh, own=crawl.own)
                begin_crawl(plan, home, fresh=crawl.fresh)
                crawl.fresh = False
                await run_crawl(
                    plan,
                    home,
                    subject,
                    own=crawl.own,
                    seeds=crawl.urls,
                    flow=flow,
                    on_stop=run.on_stop,
                )
            finally:
                home.unlock()
            with opened(home) as db:
                return summary(db)

        run = self._begin(work)
        if flow:
            run.on_done(partial(flow.publish, None))
        return run

    def begin_rejudge(
        self, topic: Topic | None, sections: Sections, own: Own
    ) -> Background[Rejudged]:
        """Judge the pages again; the crawl goes by the new topic and parts then."""
        crawl = self.crawl

        async def work(run: Background[Rejudged]) -> Rejudged:
            found = await rejudge(crawl.home, topic, sections, own=own)
            crawl.sections, crawl.own = sections, own
            remember_objects(crawl.folder, own)
            if crawl.topic is not None:
                crawl.topic = topic or crawl.topic
            return found

        return self._begin(work)

    def begin_evolve(self, pages: int, mode: Mode) -> Background[list[Outcome]]:
        """Fill in sites and refresh pages."""
        crawl = self.crawl

        async def work(run: Background[list[Outcome]]) -> list[Outcome]:
            home = crawl.home
            plan = ready_plan(home, crawl.sections, crawl.own)
            async with open_evolver(plan, home, mode, crawl.own) as evolver:
                run.on_stop(lambda _: evolver.stop())
                return await evolver.round(pages)

        return self._begin(work)

    def begin_expand(
        self, query: str, pages: int, seconds: float, log: bool | None
    ) -> Background[Expansion]:
        """Fetch pages for a query."""
        crawl = self.crawl

        async def work(run: Background[Expansion]) -> Expansion:
            home = crawl.home
            logged = logs_searches(home) if log is None else log
            if logged:
                remember_query(home.require(), query)
            plan = ready_plan(home, crawl.sections, crawl.own)
            async with open_expander(
                plan, home, query, logged=logged, own=crawl.own
            ) as expander:
                run.on_stop(lambda _: expander.stop())
                return await expander.expand(pages, seconds)

        return self._begin(work)
