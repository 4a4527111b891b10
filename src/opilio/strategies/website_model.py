"""Website models: Yang, A Website Model-Supported Focused Crawler for Search Agents.

The distiller gives a link U its ULScore(U,F) = W_F·S_F(U), the best of all that apply
to it (equations and symbols in opilio/equations/site_model.py; S is the site it was
found on):

    F=2  S_2 = R_S,D·AnE_Score(U,Q)       user-oriented expander, fig. 5
    F=2  S_2 = (3)                        phase 1: U in S, and S is well profiled
    F=2  S_2 = (5)                        phase 2: S is indefinite
    F=2  S_2 = (6)                        phase 3: any other
    F=3  S_3 = 1, 0.5 if the site of U has a profile

What the expander chooses waits in the User Priority Queue, all else in the Website
Priority Queue. The first is served first, but after each of its visits the second is
owed (1-share)/share of one: its best link is lifted above all when it is owed a whole
one.

Symbols: Q, the terms of the topic's weight table; D, the concepts of its ontology, or Q
where there is none; AnE_Score(U,Q), the terms of Q in the anchor; share `user_share`.
Seeds stand for the search strings (F=1). A relevant page belongs to D.

`paper` is the letter: R = 0 and P = 0 where they divide by 0, (3) without the concepts
that a site lacks, anchors by count. `fixed`: R and P smoothed, (3) over all of D,
anchors by count/√words, and ties broken by the anchor.
`progressive`: links of a phase with S_2 > 0 come before all of the next.

We differ: a website is a host. Its Start_URL is where the crawl came in, so its profile
is indefinite while N_S < 3. Phase 4, refreshing, chooses no link that waits. A profile
is what the counts said when N_S was 1, 3, 6, 12, …, so that links of a site are
compared by the same one; a new one revises them, at most SWEEP a page. Of several sites
that link to U the best counts. The expander's list carries R·AnE_Score, as meant.
When Q changes, the pages that links wait on are counted and their links scored again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

import msgspec

from opilio.equations.site_model import main_concepts
from opilio.records import (
    NOTHING,
    TIER,
    Fingerprint,
    Knowledge,
    Lease,
    Link,
    Page,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.website_distiller import (
    USER,
    Distiller,
    FoundLink,
    PageCount,
    Score,
    WebsiteModelOptions,
)
from opilio.text import urls

LIFTED = 2 * USER  # added to the link of the Website Priority Queue that is next
SWEEP = 256  # links whose site has a new profile, revised per page


class SiteVisit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link whose visit ended, and the data of its page, if there was one."""

    link: Fingerprint
    site: str
    is_page: bool = False
    relevant: bool = False
    concepts: tuple[str, ...] = ()
    found: tuple[tuple[Fingerprint, str, int, Mapping[str, int]], ...] = ()
    """Of each link target (empty: the same site), words and terms of the anchor."""
    again: bool = False  # the same page, judged and read for a new weight table


class LinkPlace(msgspec.Struct, frozen=True, gc=False):
    """A link that waits, and its promise; of these there may be millions."""

    found: FoundLink
    promise: float


class WebsiteModel:
    """Visits what users ask for, then sites by what their models know and lack."""

    Options = WebsiteModelOptions
    reads = Reads(context=True)

    def __init__(self, options: WebsiteModelOptions, knowledge: Knowledge) -> None:
        self.thw = options.thw
        share = options.user_share
        self.price = (1 - share) / share if share else 0.0
        self.owed = 0.0  # visits to the Website Priority Queue
        self.distiller = Distiller(options, knowledge.subject)
        self.waiting: dict[
            Fingerprint, LinkPlace | None
        ] = {}  # None: visited, or lifted
        self.queue: list[tuple[float, int, Fingerprint]] = []  # the Website one
        self.pushed = 0
        self.sweep: deque[Fingerprint] = deque()
        self.revised: dict[Fingerprint, Score] = {}
        self.latest: dict[Fingerprint, Score] = {}  # of the page's links
        self.counted: dict[Fingerprint, PageCount] = {}  # pages
        self.journal = StrategyJournal(SiteVisit, self.happen)
        self.changes = self.journal.changes

    def seek(self, subject: Subject) -> None:
        """Ask for this weight table from now on."""
        self.distiller.seek(subject)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with its ULScore by the models as they are now."""
        found = [found_link(link, lease.host) for link in page.links]
        self.note(page, verdict, lease, [one for one in found if self.is_news(one)])
        level = lease.level_after(verdict)
        for link, one in zip(page.links, found, strict=True):
            score = self.latest.get(one.link) or self.distiller.score(one)
            yield Ranked(link, score.promise, score.parts, level)

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The links of a page that wait, by another weight table; the page is counted
        by what it is relevant to now."""
        found = [found_link(link, lease.host) for link in page.links]
        waiting = [one for one in found if self.waiting.get(one.link)]
        self.note(page, verdict, lease, waiting, again=True)
        level = lease.level_after(verdict)
        for link in page.links:
            if score := self.latest.get(link.fingerprint):
                yield Ranked(link, score.promise, score.parts, level)

    def note(
        self,
        page: Page,
        verdict: Verdict,
        lease: Lease,
        found: Sequence[FoundLink],
        *,
        again: bool = False,
    ) -> None:
        """Let a visit happen, or happen again for another weight table."""
        concepts = self.distiller.concepts(page.terms)
        self.journal.write(
            SiteVisit(
                lease.fingerprint,
                lease.host,
                True,
                verdict.relevant,
                tuple(main_concepts(concepts, self.thw)),
                tuple(one.without_site for one in found),
                again,
            )
        )

    def is_news(self, found: FoundLink) -> bool:
        """Whether this may change the promise of the link."""
        if found.link not in self.waiting:
            return True
        known = self.waiting[found.link]
        return bool(known and (found.terms or known.found.site != found.site))

    def missed(self, lease: Lease, state: State) -> None:
        """Count a visit without a page like any other."""
        self.journal.write(SiteVisit(lease.fingerprint, lease.host))

    def revise(self) -> Iterator[Revision]:
        """New promises of links whose site has a new profile, or whose queue is
        next."""
        revised, self.revised = self.revised, {}
        return ((link, new.promise, new.parts) for link, new in revised.items())

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay all visits of earlier runs."""
        for _ in self.journal.replay(notes):
            self.revised.clear()

    def happen(self, visit: SiteVisit) -> None:
        """Count a page, take in its links, look again at some that wait."""
        if visit.again:
            self.happen_again(visit)
            return
        known = self.waiting.get(visit.link)
        if known and known.promise >= USER:
            self.owed += self.price
        self.waiting[visit.link] = None
        if not visit.is_page:  # nobody asks for revisions now
            return
        self.counted[visit.link] = visit.relevant, visit.concepts
        site = self.distiller.learn(visit.site, visit.relevant, visit.concepts)
        if site.counts.pages >= site.due:
            self.distiller.make_profile(site)
            site.links = [link for link in site.links if self.waiting[link]]
            self.sweep.extend(site.links)
        self.latest.clear()
        for link, target, words, terms in visit.found:
            if link != visit.link:
                self.wait(
                    FoundLink(link, visit.site, target or visit.site, words, terms)
                )
        for _ in range(min(SWEEP, len(self.sweep))):
            self.look_again(self.sweep.popleft())
        if self.owed >= 1:
            self.lift()

    def happen_again(self, visit: SiteVisit) -> None:
        """Count a page by what is sought now, and score its links that wait."""
        self.latest.clear()
        if not (before := self.counted.get(visit.link)):
            return
        now = self.counted[visit.link] = visit.relevant, visit.concepts
        self.distiller.correct(visit.site, before, now)
        for link, target, words, terms in visit.found:
            if self.waiting.get(link):
                found = FoundLink(link, visit.site, target or visit.site, words, terms)
                score = self.latest[link] = self.distiller.score(found)
                self.put(found, score.promise)

    def wait(self, found: FoundLink) -> None:
        """Add a link, or keep the higher of its two promises."""
        score = self.latest[found.link] = self.distiller.score(found)
        known = self.waiting.get(found.link)
        if not known or score.promise > known.promise:
            self.put(found, score.promise)
            self.distiller.sites[found.site].links.append(found.link)

    def look_again(self, link: Fingerprint) -> None:
        """Revise a link by the current profile of its site."""
        if known := self.waiting.get(link):
            score = self.distiller.score(known.found)
            if score.promise != known.promise:
                self.put(known.found, score.promise)
                self.revised[link] = score

    def put(self, found: FoundLink, promise: float) -> None:
        """Add a link to its queue."""
        self.waiting[found.link] = LinkPlace(found, promise)
        if promise < USER and self.price:
            self.pushed += 1
            heappush(self.queue, (-promise, self.pushed, found.link))

    def lift(self) -> None:
        """Lift the best link of the Website Priority Queue above all others."""
        while self.queue:
            promise, _, link = heappop(self.queue)
            known = self.waiting[link]
            if known and known.promise == -promise:
                self.waiting[link] = None
                turn = {"ULScore": -promise, f"{TIER}turn of its queue": LIFTED}
                self.revised[link] = Score(LIFTED - promise, turn)
                self.owed -= 1
                return


def found_link(link: Link, site: str) -> FoundLink:
    """A link with the words and terms of its anchor."""
    anchor = link.terms.anchor if link.terms else NOTHING
    words = len(link.anchor.split()) if anchor.terms else 0
    return FoundLink(link.fingerprint, site, urls.host(link.url), words, anchor.terms)
