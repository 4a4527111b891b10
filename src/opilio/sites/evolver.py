"""Evolves a crawl: completes its site models, follows links and refreshes pages.

Yang's Autonomous Website Evolver, section 4.3: four phases in order, each with its
equation; the links are fetched by an ordinary crawl that is given no others. How many
pages each of the first three may have is in phase_shares.py. Phase 4, refreshing, has
its own budget, so that they cannot starve it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import msgspec
import numpy as np

from opilio.crawl import CrawlLoop
from opilio.profiles.models import load_sites
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.records import Clock, Mode
from opilio.sites.chosen_links import PATIENCE, ChosenLinks, crawl_of_chosen
from opilio.sites.host_budgets import SPENT, limits
from opilio.sites.phase_shares import shares_of_phases
from opilio.sites.phases import Choice, Chosen, Phase
from opilio.sites.refresh import choose_pages, load_history
from opilio.sites.revisit import Change, RevisitResults, Revisits
from opilio.sites.tree_levels import TreeLevels
from opilio.sites.waiting_links import WaitingLinks
from opilio.topic.file import SiteSettings

GROWING = (Phase.FILL, Phase.COMPLETE, Phase.FOLLOW)
BATCH = 50  # links fetched before the models are used again
BATCHES = 20  # larger batches are used if there would be more than about this many
NOTHING = {
    Phase.FILL: "no link waits on a well-profiled site",
    Phase.COMPLETE: "no link of a hardly known site names a concept",
    Phase.FOLLOW: "no waiting link names a concept",
}
RESTING = "SELECT id FROM host WHERE rest_until > ?"
RESTING_PAGES = """
    SELECT page.id FROM page JOIN link USING (id) JOIN host ON host.id = link.host
    WHERE rest_until > ?
"""
ARCHIVE = "archives do not change, so there is nothing to refresh"


class Outcome(msgspec.Struct, kw_only=True):
    """The result of a phase."""

    phase: Phase
    chosen: list[Chosen] = []
    pages: int = 0  # new ones
    relevant: int = 0  # of the new ones, and of those that have changed
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    failed: int = 0
    left: int = 0  # not fetched because their hosts rest
    changes: list[Change] = []
    note: str = ""


class Evolver:
    """Evolves an assembled crawl, round by round."""

    def __init__(
        self,
        crawl: CrawlLoop,
        domain: SubjectConcepts,
        *,
        mode: Mode = "fixed",
        is_archive: bool = False,
        sites: SiteSettings | None = None,
        now: Clock = time.time,
    ) -> None:
        self.crawl = crawl
        self.domain = domain
        self.mode = mode
        self.is_archive = is_archive
        self.now = now
        self.settings = crawl.settings
        self.sites = sites or SiteSettings()
        self.levels = TreeLevels()
        self.running: CrawlLoop | None = None
        self.stopped = False

    async def round(self, pages: int) -> list[Outcome]:
        """Run all phases once: at most `pages` new pages, and as many refreshed."""
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
        outcomes = {phase: Outcome(phase=phase) for phase in GROWING}
        links = WaitingLinks(self.domain)
        most = max(BATCH, pages // BATCHES)
        left, able = pages, list(GROWING)
        while left > 0 and able and not self.stopped:
            for phase, share in shares_of_phases(left, able, self.mode).items():
                had = await self.spend(share, most, links, outcomes[phase])
                left -= had
                if had < share:
                    able.remove(phase)
        return list(outcomes.values())

    async def spend(
        self, pages: int, most: int, links: WaitingLinks, outcome: Outcome
    ) -> int:
        """Fetch pages chosen by a phase, up to a limit and in batches; returns how
        many. Fewer than the limit: the phase has no more links."""
        had = 0
        while had < pages and not self.stopped:
            chosen = self.links(outcome.phase, min(pages - had, most), links)
            if not chosen:
                if not outcome.chosen and not outcome.left:
                    outcome.note = NOTHING[outcome.phase] + self.but_for_resting()
                break
            errand = await self.errand(chosen)
            tally = (await self.run(crawl_of_chosen(self.crawl, errand))).tally
            passed = set(errand.refused)  # they may be chosen again
            asked = [one for one in chosen if one.id not in passed]
            links.close([one.id for one in asked])
            outcome.chosen += self.without_left(asked, errand, outcome)
            outcome.pages += tally.pages
            outcome.relevant += tally.kept
            outcome.failed += errand.failed
            had += tally.pages
        return had

    def links(self, phase: Phase, most: int, links: WaitingLinks) -> list[Chosen]:
        """The links that a phase chooses now, including those found since."""
        db, bounds = self.crawl.store.db, self.settings.bounds
        links.take(db)
        models = load_sites(db, self.domain, self.mode)
        spent = {host for (host,) in db.execute(SPENT, limits(bounds))}
        deep = self.too_deep(links)
        return Choice(models, links, spent | self.resting(), deep).best(phase, most)

    def too_deep(self, links: WaitingLinks) -> list[int]:
        """The links that are further from their homepage than the Tree_Level_Limit of
        their site."""
        db, told = self.crawl.store.db, self.sites
        levels = self.levels.of(db, links.hosts)[links.id]
        limits = np.full(int(links.hosts.max(initial=0)) + 1, told.tree_level_limit)
        if told.limits:
            for number, name in db.execute("SELECT id, name FROM host").fetchall():
                if number < len(limits):
                    limits[number] = told.limit_of(name)
        deep: list[int] = links.id[levels > limits[links.host]].tolist()
        return deep

    def resting(self) -> set[int]:
        """The hosts that rest for too long to wait for them."""
        soon = self.now() + PATIENCE
        return {host for (host,) in self.crawl.store.db.execute(RESTING, (soon,))}

    def but_for_resting(self) -> str:
        """A note on how many hosts were skipped, if any."""
        hosts = len(self.resting())
        return f"; {hosts:,} hosts rest" if hosts > 1 else "; one host rests" * hosts

    def without_left(
        self, asked: list[Chosen], errand: ChosenLinks, outcome: Outcome
    ) -> list[Chosen]:
        """The links that were not given back; the others are counted in a note."""
        left = set(errand.left)
        visited = [one for one in asked if one.id not in left]
        outcome.left += len(asked) - len(visited)
        if outcome.left:
            outcome.note = f"{outcome.left:,} left: their hosts rest"
            if errand.asleep:
                first = datetime.fromtimestamp(min(errand.asleep.values()))
                outcome.note += f" (until {first.astimezone():%H:%M})"
        return visited

    async def refresh(self, requests: int) -> Outcome:
        """Phase 4."""
        outcome = Outcome(phase=Phase.REFRESH)
        if self.is_archive:
            outcome.note = ARCHIVE
        if self.is_archive or self.stopped:
            return outcome
        chosen = self.pages(requests)
        if not chosen:
            outcome.note = "no page is likely to have changed yet"
            outcome.note += self.but_for_resting()
            return outcome
        errand = await self.errand(chosen)
        revisits = RevisitResults()
        crawl = crawl_of_chosen(
            self.crawl,
            errand,
            visitor=lambda crawl: Revisits(crawl, revisits, self.now).bring,
        )
        await self.run(crawl)
        outcome.chosen = self.without_left(chosen, errand, outcome)
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
        """The pages to refresh, best first."""
        db = self.crawl.store.db
        models = load_sites(db, self.domain, self.mode)
        history = load_history(db, lambda host: models.profile(host).relation)
        rows = db.execute(RESTING_PAGES, (self.now() + PATIENCE,)).fetchall()
        history.ready[np.isin(history.page, [id for (id,) in rows])] = np.inf
        return [
            Chosen(id, url, score)
            for id, score in choose_pages(history, self.now(), most, self.mode)
            for (url,) in db.execute("SELECT url FROM link WHERE id = ?", (id,))
        ]

    async def errand(self, chosen: Sequence[Chosen]) -> ChosenLinks:
        """A frontier that has only these links, the best first."""
        crawl = self.crawl
        errand = ChosenLinks(
            crawl.frontier, crawl.store.db, self.settings, wall=self.now
        )
        # By rank, because scores may be equal or too close for the frontier.
        await errand.choose(
            {one.id: float(len(chosen) - rank) for rank, one in enumerate(chosen)}
        )
        return errand

    async def run(self, crawl: CrawlLoop) -> CrawlLoop:
        """Run a crawl of chosen links to its end."""
        self.running = crawl
        try:
            await crawl.run({})
        finally:
            self.running = None
        self.crawl.judge = crawl.judge  # the topic may have changed meanwhile
        return crawl

    def stop(self) -> None:
        """Stop after the visits under way; the second time, cancel them."""
        again, self.stopped = self.stopped, True
        if self.running and again:
            self.running.stop_now()
        elif self.running:
            self.running.stop_soon("interrupted")
