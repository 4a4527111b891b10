"""`opilio.Crawl`: runs, reads and searches a crawl from Python.

A crawl runs in a thread with an event loop of its own, so the same object serves
scripts, services and notebooks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from opilio.api.async_pages import AsyncPages
from opilio.api.background_loop import Background
from opilio.api.call_arguments import given_topic, merged, sort_seeds, with_names
from opilio.api.given_objects import recall_objects
from opilio.api.page_flow import LEAVE_SECONDS, PageFlow
from opilio.api.runs import CrawlRuns, Description
from opilio.api.setting_names import Sections, by_section
from opilio.api.steer import tell
from opilio.assembly import crawled_pages
from opilio.assembly.crawled_pages import CrawledPage
from opilio.assembly.export import Exported, Exporter, Shape, export_pages
from opilio.assembly.plan import load_plan, override
from opilio.assembly.registry import Own
from opilio.assembly.rejudge_pages import Rejudged
from opilio.assembly.search import logs_searches, open_search, remember_query
from opilio.assembly.tell import list_messages
from opilio.errors import BadInput
from opilio.protocols import Judge, SeedSource, Strategy
from opilio.records import Mode, Purpose
from opilio.search.searcher import Answer
from opilio.sites.evolver import Outcome
from opilio.sites.expander import Expansion
from opilio.store.corpus.selection import Selection
from opilio.store.folder import is_database
from opilio.store.lookup import Explanation, Summary, opened, summary
from opilio.store.message_log import ToldMessage
from opilio.store.messages import USUAL_PAGES
from opilio.topic import Topic
from opilio.topic.file import with_sources


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
        online: bool = False,
        fresh: bool = False,
        **settings: Any,
    ) -> None:
        """Open the crawl of a folder, or describe a new one; writes nothing yet.

        `folder` may be the database of a crawl on many machines, `postgresql://…`. Such
        a crawl can be read and steered, but not run from here.
        `topic` is a Topic or the path of a topic file; it may be left out if the folder
        already has a crawl. `strategy` and `judge` are names, `file.py:Class`, objects
        or classes.
        `seeds` are URLs, and seed sources in the same forms. `replay` names WARC files
        to crawl instead of the network; with `online`, what they lack is fetched from
        the web and added to them. `fresh` empties the folder when the crawl is run. Any
        setting can be given by its name: `max_pages=500`.
        """
        sections = with_names(by_section(settings), strategy, judge)
        urls, named, sources = sort_seeds(seeds)
        sought = given_topic(topic)
        self._dsn = str(folder) if is_database(folder) else ""
        if self._dsn:
            from opilio.cluster.mirror import mirror_of  # needs psycopg

            folder = mirror_of(self._dsn).path
        self.path = Path(folder)
        self._described = described = Description(
            dsn=self._dsn,
            folder=self.path,
            topic=with_sources(sought, named) if sought else None,
            sections=sections,
            own=Own(seeds=sources).replaced(strategy, judge),
            urls=urls,
            replay=[Path(name) for name in replay],
            online=online,
            fresh=fresh,
        )
        if described.topic:
            described.require_seeds(described.topic)
            described.own.check(described.plan({}))
        elif fresh or named or sources:
            raise BadInput("fresh and seed sources need a topic; give one")
        else:
            plan = override(load_plan(described.home.require()), sections)
            described.own = recall_objects(self.path, described.own, plan)
        self._runs = CrawlRuns(described)

    def __repr__(self) -> str:
        return f"Crawl({str(self.path)!r}, topic={self.topic.name!r})"

    @property
    def topic(self) -> Topic:
        """What is sought."""
        return self._described.topic or load_plan(self._described.home).topic

    # Running

    def run(self, **settings: Any) -> Summary:
        """Crawl to the end; settings given here replace those of the crawl. Ctrl-C
        stops it cleanly."""
        self._runs.settle()
        return self._runs.begin_crawl(settings).result()

    async def arun(self, **settings: Any) -> Summary:
        """The same for coroutines; cancelling it stops the crawl cleanly."""
        await self._runs.asettle()
        return await self._runs.begin_crawl(settings).wait()

    def __iter__(self) -> Iterator[CrawledPage]:
        """Run the crawl; yield each page once it is kept and safely stored."""
        self._runs.settle()
        found: SimpleQueue[list[int] | None] = SimpleQueue()
        flow = PageFlow(found.put)
        run = self._runs.begin_crawl({}, flow)
        try:
            while (ids := found.get()) is not None:
                for page in crawled_pages.by_id(self._described.home, ids):
                    flow.taken()
                    yield page
            run.result()
        finally:
            run.stop(LEAVE_SECONDS)
            run.join()

    def __aiter__(self) -> AsyncIterator[CrawledPage]:
        """The same for `async for`."""

        async def begin(flow: PageFlow) -> Background[Any]:
            await self._runs.asettle()
            return self._runs.begin_crawl({}, flow)

        return AsyncPages(self._described.home, begin)

    def stop(self) -> None:
        """Stop a run of this object, cleanly, from any thread; returns at once."""
        self._runs.stop()

    def evolve(self, pages: int = 100, *, mode: Mode = "fixed") -> list[Outcome]:
        """Complete the models of websites, follow links and refresh pages: at most
        `pages` new pages, and as many refreshed ones. Returns what each phase did."""
        self._runs.settle()
        return self._runs.begin_evolve(pages, mode).result()

    async def aevolve(self, pages: int = 100, *, mode: Mode = "fixed") -> list[Outcome]:
        """The same for coroutines."""
        await self._runs.asettle()
        return await self._runs.begin_evolve(pages, mode).wait()

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
        self._runs.settle()
        return self._runs.begin_expand(query, pages, seconds, log).result()

    async def aexpand(
        self,
        query: str,
        pages: int = 50,
        *,
        seconds: float = 60.0,
        log: bool | None = None,
    ) -> Expansion:
        """The same for coroutines."""
        await self._runs.asettle()
        return await self._runs.begin_expand(query, pages, seconds, log).wait()

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
        self._runs.settle()
        given = self._change(topic, strategy, judge, settings)
        return self._runs.begin_rejudge(*given).result()

    async def arejudge(
        self,
        topic: Topic | Path | str | None = None,
        *,
        strategy: str | Strategy | type[Strategy] | None = None,
        judge: str | Judge | type[Judge] | None = None,
        **settings: Any,
    ) -> Rejudged:
        """The same for coroutines."""
        await self._runs.asettle()
        given = self._change(topic, strategy, judge, settings)
        return await self._runs.begin_rejudge(*given).wait()

    def _change(
        self, topic: Any, strategy: Any, judge: Any, settings: dict[str, Any]
    ) -> tuple[Topic | None, Sections, Own]:
        """What `rejudge` goes by: topic, settings, and objects of the program."""
        given = with_names(by_section(settings), strategy, judge)
        sections = merged(self._described.sections, given)
        own = self._described.own.replaced(strategy, judge)
        return given_topic(topic), sections, own

    # Reading, also while the crawl runs

    def pages(self, relevant: bool = False) -> Iterator[CrawledPage]:
        """The pages so far, best first; `relevant`: only those that were kept."""
        self._runs.settle()
        return crawled_pages.best_first(self._described.home.require(), relevant)

    def search(
        self, query: str, *, page: int = 1, size: int = 10, log: bool | None = None
    ) -> Answer:
        """One page of search results for a query, best first; `log` as in `expand`."""
        self._runs.settle()
        home = self._described.home
        with open_search(home) as searcher:
            answer = searcher.search(query, page, size)
        if logs_searches(home) if log is None else log:
            remember_query(home, query, answer.suggestion)
        return answer

    def tell(
        self, verb: str, *words: object, pages: int = USUAL_PAGES, wait: float = 0.0
    ) -> ToldMessage:
        """Steer the crawl while it runs, here or in another process: see
        `opilio.tell`."""
        where = self._dsn or self.path
        return tell(where, verb, *words, pages=pages, wait=wait)

    def messages(self) -> list[ToldMessage]:
        """What the crawl was told so far, and what became of it."""
        self._runs.settle()
        return list_messages(self._described.home.require())

    def explain(self, url: str) -> Explanation:
        """How a URL was found, ranked, fetched and judged."""
        self._runs.settle()
        return crawled_pages.explain_url(self._described.home, url)

    def status(self) -> Summary:
        """The figures of the crawl."""
        self._runs.settle()
        with opened(self._described.home) as db:
            return summary(db)

    def export(
        self,
        file: Path | str,
        format: str | Exporter | type[Exporter] | None = None,
        *,
        relevant: bool = False,
        min_score: float = 0.0,
        languages: Sequence[str] = (),
        since: datetime | None = None,
        sites: Sequence[str] = (),
        purpose: Purpose | None = None,
        fields: Sequence[str] = (),
        shards: int = 0,
        links: bool = False,
    ) -> Exported:
        """Write the pages to a file, best first. The suffix of the file selects the
        format, unless `format` is given: a name, `file.py:Class`, an exporter or its
        class. `purpose` omits pages that are reserved against it; by default, it is
        that of the topic. `fields` are columns, `links` keeps links in Markdown."""
        self._runs.settle()
        selection = Selection(
            relevant=relevant,
            min_score=min_score,
            languages=tuple(languages),
            since=since.timestamp() if since else 0.0,
            sites=tuple(sites),
            purpose=purpose or self.topic.purpose,
        )
        shape = Shape(fields=tuple(fields), shards=shards, links=links)
        home = self._described.home
        return export_pages(home, str(file), format, selection=selection, shape=shape)
