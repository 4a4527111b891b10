"""`opilio.Crawl`: runs, reads and searches a crawl from Python.

A crawl runs in a thread with an event loop of its own, so the same object serves
scripts, services and notebooks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from opilio.assembly import crawled_pages
from opilio.assembly.async_pages import AsyncPages
from opilio.assembly.background_loop import Background
from opilio.assembly.build import prepare
from opilio.assembly.call_arguments import merged, sort_seeds, topic_of, with_names
from opilio.assembly.crawled_pages import CrawledPage
from opilio.assembly.export import Exported, Exporter, export_pages
from opilio.assembly.plan import (
    Plan,
    begin_crawl,
    for_replay,
    load_plan,
    make_plan,
    override,
    resumed_plan,
)
from opilio.assembly.registry import Own
from opilio.assembly.rejudge import Rejudged, rejudge
from opilio.assembly.run_crawl import Publish, run_crawl
from opilio.assembly.search import logs_searches, open_search, remember_query
from opilio.assembly.setting_names import by_section
from opilio.errors import BadInput
from opilio.limits.contact import require_contact
from opilio.protocols import Judge, SeedSource, Strategy
from opilio.records import Mode
from opilio.search.searcher import Answer
from opilio.sites.evolve_and_expand import open_evolver, open_expander, ready_plan
from opilio.sites.evolver import Outcome
from opilio.sites.expander import Expansion
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import Explanation, Summary, opened, summary
from opilio.topic import Topic, where_to
from opilio.topic.file import with_sources

T = TypeVar("T")


class Crawl:
    """A crawl and its folder.

    Iterating over it runs the crawl and yields each page as it is kept; leaving the
    loop stops it. `for` and `async for` both work, also inside a running event loop.
    """

    def __init__(
        self,
        folder: Path | str,
        topic: Topic | Path | str | None = None,
        *,
        strategy: str | Strategy | type[Strategy] | None = None,
        judge: str | Judge | type[Judge] | None = None,
        seeds: str | SeedSource | Sequence[str | SeedSource] = (),
        replay: Sequence[Path | str] = (),
        fresh: bool = False,
        **settings: Any,
    ) -> None:
        """Open the crawl of a folder, or describe a new one; writes nothing yet.

        `topic` is a Topic or the path of a topic file; it may be left out if the folder
        already has a crawl. `strategy` and `judge` are names, `file.py:Class`, objects
        or classes. `seeds` are URLs, and seed sources in the same forms. `replay` names
        WARC files to crawl instead of the network. `fresh` empties the folder when the
        crawl is run. Any setting can be given by its name: `max_pages=500`.
        """
        self.path = Path(folder)
        self._topic = topic_of(topic)
        self._fresh = fresh
        self._replay = [Path(name) for name in replay]
        self._sections = with_names(by_section(settings), strategy, judge)
        self._urls, named, sources = sort_seeds(seeds)
        self._own = Own(seeds=sources).replaced(strategy, judge)
        if self._topic is None:
            if fresh or named or sources:
                raise BadInput("fresh and seed sources need a topic; give one")
            override(load_plan(self._home().require()), self._sections)  # checks them
        else:
            self._topic = with_sources(self._topic, named)
            self._require_seeds(self._topic)
            self._own.check(self._plan({}))
        self._run: Background[Any] | None = None

    def __repr__(self) -> str:
        return f"Crawl({str(self.path)!r}, topic={self.topic.name!r})"

    @property
    def topic(self) -> Topic:
        """What is sought."""
        return self._topic or load_plan(self._home()).topic

    # Running

    def run(self, **settings: Any) -> Summary:
        """Crawl to the end; settings given here replace those of the crawl. Ctrl-C
        stops it cleanly."""
        self._settle()
        return self._crawl(settings).result()

    async def arun(self, **settings: Any) -> Summary:
        """The same for coroutines; cancelling it stops the crawl cleanly."""
        await self._asettle()
        return await self._crawl(settings).wait()

    def __iter__(self) -> Iterator[CrawledPage]:
        """Run the crawl; yield each page once it is kept and safely stored."""
        self._settle()
        found: SimpleQueue[list[int] | None] = SimpleQueue()
        run = self._crawl({}, found.put)
        try:
            while (ids := found.get()) is not None:
                yield from crawled_pages.by_id(self._home(), ids)
            run.result()
        finally:
            run.stop()
            run.join()

    def __aiter__(self) -> AsyncIterator[CrawledPage]:
        """The same for `async for`."""

        async def begin(publish: Publish) -> Background[Any]:
            await self._asettle()
            return self._crawl({}, publish)

        return AsyncPages(self._home(), begin)

    def stop(self) -> None:
        """Stop a run of this object, cleanly, from any thread; returns at once."""
        if self._run:
            self._run.stop()

    def evolve(self, pages: int = 100, *, mode: Mode = "fixed") -> list[Outcome]:
        """Complete the models of websites, follow links and refresh pages: at most
        `pages` new pages, and as many refreshed ones. Returns what each phase did."""
        self._settle()
        return self._evolve(pages, mode).result()

    async def aevolve(self, pages: int = 100, *, mode: Mode = "fixed") -> list[Outcome]:
        """The same for coroutines."""
        await self._asettle()
        return await self._evolve(pages, mode).wait()

    def expand(
        self,
        query: str,
        pages: int = 50,
        *,
        seconds: float = 60.0,
        log: bool | None = None,
    ) -> Expansion:
        """Fetch pages that may answer a query, within these limits of pages and time.

        With `log` the crawl follows the query from now on; None: only if the topic asks
        for that (`searches` of its query log).
        """
        self._settle()
        return self._expand(query, pages, seconds, log).result()

    async def aexpand(
        self,
        query: str,
        pages: int = 50,
        *,
        seconds: float = 60.0,
        log: bool | None = None,
    ) -> Expansion:
        """The same for coroutines."""
        await self._asettle()
        return await self._expand(query, pages, seconds, log).wait()

    def rejudge(
        self,
        topic: Topic | Path | str | None = None,
        *,
        strategy: str | Strategy | type[Strategy] | None = None,
        judge: str | Judge | type[Judge] | None = None,
        **settings: Any,
    ) -> Rejudged:
        """Judge the pages again, offline, by another topic, judge or strategy, and
        re-score the waiting links; returns what changed.

        This object and later runs use the new ones.
        """
        self._settle()
        return self._rejudge(topic, strategy, judge, settings).result()

    async def arejudge(
        self,
        topic: Topic | Path | str | None = None,
        *,
        strategy: str | Strategy | type[Strategy] | None = None,
        judge: str | Judge | type[Judge] | None = None,
        **settings: Any,
    ) -> Rejudged:
        """The same for coroutines."""
        await self._asettle()
        return await self._rejudge(topic, strategy, judge, settings).wait()

    # Reading, also while the crawl runs

    def pages(self, relevant: bool = False) -> Iterator[CrawledPage]:
        """The pages so far, best first; `relevant`: only those that were kept."""
        self._settle()
        return crawled_pages.best_first(self._home().require(), relevant)

    def search(
        self, query: str, *, page: int = 1, size: int = 10, log: bool | None = None
    ) -> Answer:
        """One page of search results for a query, best first; `log` as in `expand`."""
        self._settle()
        home = self._home()
        with open_search(home) as searcher:
            answer = searcher.search(query, page, size)
        if logs_searches(home) if log is None else log:
            remember_query(home, query, answer.suggestion)
        return answer

    def explain(self, url: str) -> Explanation:
        """How a URL was found, ranked, fetched and judged."""
        self._settle()
        return crawled_pages.explain_url(self._home(), url)

    def status(self) -> Summary:
        """The figures of the crawl."""
        self._settle()
        with opened(self._home()) as db:
            return summary(db)

    def export(
        self,
        file: Path | str,
        format: str | Exporter | type[Exporter] | None = None,
        *,
        relevant: bool = False,
    ) -> Exported:
        """Write the pages to a file, best first. The suffix of the file selects the
        format, unless `format` is given: a name, `file.py:Class`, an exporter or its
        class."""
        self._settle()
        return export_pages(self._home(), str(file), format, relevant=relevant)

    # Internals

    def _home(self) -> CrawlFolder:
        return CrawlFolder(self.path)

    def _plan(self, settings: dict[str, Any]) -> Plan:
        """The plan of the next run."""
        home, sections = self._home(), merged(self._sections, by_section(settings))
        if self._topic is None:
            plan = resumed_plan(home.require(), None, options=sections)
        else:
            plan = make_plan(home, self._topic, options=sections, fresh=self._fresh)
        return for_replay(plan, self._replay) if self._replay else plan

    def _require_seeds(self, topic: Topic) -> None:
        given = topic.sources
        named = given.urls or given.search or given.sources
        known = self._home().database.exists() and not self._fresh
        if not (named or self._urls or self._own.seeds or known):
            raise BadInput(
                "the crawl has no seeds: give the topic seeds=['https://…'], or the "
                "crawl seeds=…"
            )

    def _settle(self) -> None:
        """Wait until a run that was told to stop has ended."""
        if self._run and self._run.stopping:
            self._run.join()

    async def _asettle(self) -> None:
        if self._run and self._run.stopping:
            await asyncio.to_thread(self._run.join)

    def _begin(self, work: Callable[[Background[T]], Any]) -> Background[T]:
        if self._run and self._run.is_running:
            raise BadInput(
                f"this program is already crawling {self.path}; wait until that run "
                "ends, leave its loop, or call stop()"
            )
        run: Background[T] = Background(work)
        self._run = run
        return run

    def _crawl(
        self, settings: dict[str, Any], publish: Publish | None = None
    ) -> Background[Summary]:
        plan = self._plan(settings)
        if not plan.replay:
            require_contact(plan.fetch, where_to(plan.topic, self._urls))

        async def work(run: Background[Summary]) -> Summary:
            home = self._home()
            try:
                subject = prepare(plan, home, fresh=self._fresh, own=self._own)
                begin_crawl(plan, home, fresh=self._fresh)
                self._fresh = False
                await run_crawl(
                    plan,
                    home,
                    subject,
                    own=self._own,
                    seeds=self._urls,
                    publish=publish,
                    on_stop=run.on_stop,
                )
            finally:
                home.unlock()
            with opened(home) as db:
                return summary(db)

        run = self._begin(work)
        if publish:
            run.on_done(partial(publish, None))
        return run

    def _rejudge(
        self,
        topic: Topic | Path | str | None,
        strategy: str | Strategy | type[Strategy] | None,
        judge: str | Judge | type[Judge] | None,
        settings: dict[str, Any],
    ) -> Background[Rejudged]:
        now = topic_of(topic)
        given = with_names(by_section(settings), strategy, judge)
        sections = merged(self._sections, given)
        own = self._own.replaced(strategy, judge)

        async def work(run: Background[Rejudged]) -> Rejudged:
            found = await rejudge(self._home(), now, sections, own=own)
            self._sections, self._own = sections, own
            if self._topic is not None:
                self._topic = now or self._topic
            return found

        return self._begin(work)

    def _evolve(self, pages: int, mode: Mode) -> Background[list[Outcome]]:
        async def work(run: Background[list[Outcome]]) -> list[Outcome]:
            home = self._home()
            plan = ready_plan(home, self._sections, self._own)
            async with open_evolver(plan, home, mode, self._own) as evolver:
                run.on_stop(evolver.stop)
                return await evolver.round(pages)

        return self._begin(work)

    def _expand(
        self, query: str, pages: int, seconds: float, log: bool | None
    ) -> Background[Expansion]:
        async def work(run: Background[Expansion]) -> Expansion:
            home = self._home()
            logged = logs_searches(home) if log is None else log
            if logged:
                remember_query(home.require(), query)
            plan = ready_plan(home, self._sections, self._own)
            async with open_expander(
                plan, home, query, logged=logged, own=self._own
            ) as expander:
                run.on_stop(expander.stop)
                return await expander.expand(pages, seconds)

        return self._begin(work)
