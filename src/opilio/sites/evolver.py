"""A crawl in; the same crawl, its site models grown and its pages refreshed, out.

Yang's Autonomous Website Evolver, section 4.3: four phases in order, each by its
equation. A phase goes on while it yields a link with S_2 > 0, then comes the next
(papers.md C.5-8); the links are fetched by an ordinary crawl that is given no others.
Phase 4, refreshing, has its own requests, so that the first three cannot starve it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

import msgspec

from opilio.crawl import Crawl
from opilio.sites.domain import Domain
from opilio.sites.errand import Errand, on_errand
from opilio.sites.models import Mode, load_sites
from opilio.sites.phases import Choice, Chosen, Phase, waiting
from opilio.sites.refresh import choose, load_history
from opilio.sites.revisit import Change, Revisits
from opilio.types import Clock

BATCH = 50  # links fetched before the models are asked again
ARCHIVE = "an archive does not change, so there is nothing to refresh"


class Outcome(msgspec.Struct, kw_only=True):
    """What came of a phase."""

    phase: Phase
    chosen: list[Chosen] = []
    pages: int = 0  # new ones
    relevant: int = 0  # of the new ones, and of those that have changed
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    failed: int = 0
    changes: list[Change] = []
    note: str = ""


class Evolver:
    """Lets an assembled crawl evolve, round by round."""

    def __init__(
        self,
        crawl: Crawl,
        domain: Domain,
        *,
        mode: Mode = "fixed",
        is_archive: bool = False,
        now: Clock = time.time,
    ) -> None:
        self.crawl = crawl
        self.domain = domain
        self.mode = mode
        self.is_archive = is_archive
        self.now = now
        self.settings = crawl.settings
        self.running: Crawl | None = None
        self.stopped = False

    async def round(self, pages: int) -> list[Outcome]:
        """All phases once: at most so many new pages, and so many refreshed."""
        await self.crawl.commit()  # so that the models know all pages
        outcomes = [*await self.grow(pages), await self.refresh(pages)]
        told = {
            outcome.phase.name.lower(): {
                name: value
                for name in ("pages", "relevant", "changed", "unchanged", "gone")
                if (value := getattr(outcome, name))
            }
            for outcome in outcomes
        }
        self.crawl.store.catalogue.save_event("evolved", **told)
        await self.crawl.commit()
        return outcomes

    async def grow(self, pages: int) -> list[Outcome]:
        """Phases 1 to 3."""
        tried: set[int] = set()
        outcomes = []
        for phase in (Phase.FILL, Phase.COMPLETE, Phase.FOLLOW):
            outcome = Outcome(phase=phase)
            outcomes.append(outcome)
            while pages > 0 and not self.stopped:
                chosen = self.links(phase, min(pages, BATCH), tried)
                if not chosen:
                    break
                tried |= {one.id for one in chosen}
                tally = (await self.visit(chosen)).tally
                outcome.chosen += chosen
                outcome.pages += tally.pages
                outcome.relevant += tally.kept
                if not self.stopped:  # else some were not asked for at all
                    outcome.failed = len(outcome.chosen) - outcome.pages
                pages -= tally.pages
            if pages <= 0:
                break
        return outcomes

    def links(self, phase: Phase, most: int, without: set[int]) -> list[Chosen]:
        """The links that a phase chooses now."""
        db = self.crawl.store.db
        models = load_sites(db, self.domain, self.mode)
        found = waiting(db, self.settings.bounds.per_host)
        return Choice(models, self.domain).best(phase, found, most, without)

    async def refresh(self, requests: int) -> Outcome:
        """Phase 4."""
        outcome = Outcome(phase=Phase.REFRESH)
        if self.is_archive:
            outcome.note = ARCHIVE
        if self.is_archive or self.stopped:
            return outcome
        outcome.chosen = self.pages(requests)
        if not outcome.chosen:
            outcome.note = "no page is likely to have changed yet"
            return outcome
        crawl = await self.errand(outcome.chosen)
        revisits = Revisits(crawl, self.now)
        crawl.bring = revisits.bring
        await self.run(crawl)
        told: Counter[str] = revisits.outcomes
        outcome.pages = crawl.tally.pages
        outcome.relevant = told["relevant"] + crawl.tally.kept
        outcome.changed, outcome.unchanged = told["changed"], told["unchanged"]
        outcome.gone = told["gone"]
        answered = outcome.changed + outcome.unchanged + outcome.gone
        if not self.stopped:
            outcome.failed = len(outcome.chosen) - answered
        outcome.changes = revisits.changes
        return outcome

    def pages(self, most: int) -> list[Chosen]:
        """The pages to ask for again, best first."""
        db = self.crawl.store.db
        models = load_sites(db, self.domain, self.mode)
        history = load_history(db, lambda host: models.profile(host).relation)
        return [
            Chosen(id, url, score)
            for id, score in choose(history, self.now(), most, self.mode)
            for (url,) in db.execute("SELECT url FROM link WHERE id = ?", (id,))
        ]

    async def visit(self, chosen: Sequence[Chosen]) -> Crawl:
        """Fetch links as the crawl does, and no others."""
        return await self.run(await self.errand(chosen))

    async def errand(self, chosen: Sequence[Chosen]) -> Crawl:
        """A crawl like ours that knows only these links, the best first."""
        crawl = self.crawl
        errand = Errand(
            crawl.frontier, crawl.store.db, self.settings.politeness, wall=self.now
        )
        # By rank: scores may be equal, or differ by less than a frontier can tell.
        await errand.choose(
            {one.id: float(len(chosen) - rank) for rank, one in enumerate(chosen)}
        )
        return on_errand(crawl, errand)

    async def run(self, crawl: Crawl) -> Crawl:
        """Run such a crawl to its end."""
        self.running = crawl
        try:
            await crawl.run({})
        finally:
            self.running = None
        self.crawl.judge = crawl.judge  # the topic may have changed meanwhile
        return crawl

    def stop(self) -> None:
        """The first time: end the visits under way. The second time: drop them."""
        again, self.stopped = self.stopped, True
        if self.running and again:
            self.running.stop_now()
        elif self.running:
            self.running.stop_soon("interrupted")
