"""The default: a chooser that was trained before, and corrects itself while it crawls.

    promise(v) = σ(b + Σᵢ (wᵢ + δᵢ)·zᵢ(v) + x/(1 + n_host)²)

Symbols: zᵢ the features of a link, standardised over what waits (`features.py`); wᵢ ≥ 0
their weights, learnt over many topics and webs by `opilio lab train`; δ what this crawl
has taught since (`lessons.py`); n_host the pages that were read of its host, x
`explore`: one page of a new host tells whether many more are worth it.

The features mean the same on every topic and web: how similar the link's words are to
the keywords, how similar to links that led to relevant pages, keywords in its address,
words of its anchor that relevant pages have, and how relevant the pages were that it
stands on, and those behind other links of its host, its tag path and its page.

It learns anew after each of the first 10 pages, then whenever there are 1.15 times as
many. Then the best links that wait, and those that were thought to be, are told their
new promises; after every page the `HEAD` best are. What is noted of each page is enough
to learn everything again after a restart, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.config import Section
from opilio.pretrained import weights_for
from opilio.strategies.chooser.features import Features, Floats
from opilio.strategies.chooser.groups import Groups
from opilio.strategies.chooser.left import Remaining
from opilio.strategies.chooser.lessons import Correction
from opilio.strategies.chooser.visits import Visit, links_in, note, rarity_table
from opilio.strategies.chooser.waiting import GONE, Slots, Waiting
from opilio.strategies.journal import Journal
from opilio.types import (
    Estimate,
    Fingerprint,
    Knowledge,
    Lease,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)

EVERY, GROWTH = 10, 1.15  # how often it learns
HEAD = 128  # links whose promises are looked at after each page
LEAST_TOLD = 256  # links that are told their promises when something was learnt
MOST_TOLD = 4096
RESCORED = 50_000  # links that are scored anew then
MOST_WAITING = 2_000_000  # links with evidence; of more, the worse half is forgotten
CHANGE = 0.02  # of a promise, relative: less is not worth telling
PENALTY = 20.0  # λ: how much a correction of the weights must be worth
SHOWN = 5  # parts of a promise that are told one by one
FLAT = 30.0
ESTIMATED = 16_384  # links whose chances are added up


class OpilioOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the default strategy explores."""

    explore: Annotated[float, msgspec.Meta(ge=0, le=20)] = 2.0  # x


class Opilio:
    """Chooses by a trained model of many kinds of evidence that corrects itself."""

    Options = OpilioOptions
    reads = Reads(context=True, blocks=True, vector=True, words=True, vectors=True)
    calibrated = True

    def __init__(self, options: OpilioOptions, knowledge: Knowledge) -> None:
        subject = knowledge.subject
        self.explore = options.explore
        self.subject = subject
        self.groups = Groups()
        size = len(next(iter(subject.vectors.values()), b"")) // 4
        self.waiting = Waiting(size)
        self.rarity = rarity_table(subject.common)
        self.features = Features(subject, self.rarity, self.waiting, self.groups)
        self.trained = weights_for(subject.trained, bool(size)).chooser
        names = self.features.names
        self.weights = np.array([self.trained.of(name) for name in names])
        self.correction = Correction(len(names), PENALTY)
        self.left = Remaining()
        self.next_fit = 0
        self.head: Slots = np.zeros(0, np.int64)
        self.sweep = 0  # where the next part of a long frontier begins
        self.revised: dict[Fingerprint, tuple[float, Parts]] = {}
        self.latest: dict[Fingerprint, tuple[float, Parts]] = {}  # of the page's links
        self.journal = Journal(Visit, self.happen)
        self.changes = self.journal.changes

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link with its promise and the evidence that counts most."""
        slots = self.waiting.slots([link.fingerprint for link in page.links])
        news = [
            link
            for link, slot in zip(page.links, slots.tolist(), strict=True)
            if slot != GONE and link.fingerprint != lease.fingerprint
        ]
        weights = self.subject.weights
        kept = self.left.kept
        caught = sum(link.fingerprint in kept for link in page.links)
        self.journal.write(
            note(page, news, verdict, lease, weights, self.rarity, caught)
        )
        level = lease.level_after(verdict)
        nothing: tuple[float, Parts] = (0.0, {})
        for link in page.links:
            promise, parts = self.latest.get(link.fingerprint, nothing)
            yield Ranked(link, promise, parts, level)

    def missed(self, lease: Lease, state: State) -> None:
        """A visit without a new page says nothing about what its link promised."""
        self.journal.write(Visit(lease.fingerprint, lease.host))

    def revise(self) -> Iterator[Revision]:
        """Promises that changed while links wait."""
        revised, self.revised = self.revised, {}
        return ((link, promise, parts) for link, (promise, parts) in revised.items())

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Live through all visits of earlier runs again."""
        for _ in self.journal.replay(notes):
            self.revised.clear()

    def seek(self, subject: Subject) -> None:
        """Compare links with other keywords from now on."""
        self.subject = subject
        self.features.seek(subject)

    def happen(self, visit: Visit) -> None:
        """Learn from a visit, and take in the links of its page."""
        self.settle(visit)
        self.latest.clear()
        if not visit.is_page:
            return
        groups = self.groups
        page = groups.add_page(visit.host, visit.score)
        words = np.frombuffer(visit.words, "<u2")
        shares = np.frombuffer(visit.shares, np.uint8)
        self.features.words.add(words, shares, visit.score)
        links = links_in(visit)
        hosts = [groups.host_number(name) for name in visit.hosts]
        before = self.waiting.slots(links.prints)
        slots = self.waiting.take_in(links, before, hosts, page, visit.score)
        is_due = groups.pages <= EVERY or groups.pages >= self.next_fit
        if is_due:
            self.learn()
        self.rank_links(slots, before)
        if visit.is_kept:
            waiting = float(self.chances(np.unique(slots[slots != GONE])).sum())
            self.left.keep(visit.link, visit.worth, visit.caught, waiting)
        if is_due:
            self.look_through()
        else:
            self.look_at_head(slots)

    def settle(self, visit: Visit) -> None:
        """A link was visited: note what its evidence was worth."""
        waited = self.waiting.slots([visit.link])
        if waited[0] >= 0:
            self.left.visit(float(self.chances(waited)[0]), visit.worth)
        slot = self.waiting.leave(visit.link)
        if slot == GONE or not visit.is_page:
            return
        slots = np.array([slot])
        row = self.features.standard(slots)[0]
        offset = self.trained.bias + float(row @ self.weights) + self.now()
        self.correction.add(row, offset, visit.score)
        waiting = self.waiting
        if waiting.dimensions:
            vector = waiting.vector[slot] * np.float32(1 / 127)
            self.features.taught.add(vector, visit.score)
        self.groups.add_link(
            int(waiting.path[slot]), int(waiting.page[slot]), visit.score
        )

    def now(self) -> float:
        """How much more likely all links are now than they are told to be: promises
        are those of an ordinary moment, so that old and new ones can be compared."""
        groups = self.groups
        return self.trained.of("pages") * (log(1 + groups.pages) - USUAL_PAGES) + (
            self.trained.of("base") * (groups.base - USUAL_BASE)
        )

    def chances(self, slots: Slots) -> npt.NDArray[np.float64]:
        """How likely links are to bring a relevant page now, by what they were told."""
        told = np.clip(self.waiting.told[slots].astype(np.float64), 1e-6, 1 - 1e-6)
        visits = self.groups.host_count.values[self.waiting.host[slots]]
        shift = self.now() + self.trained.bias - self.ordinary
        logits = np.log(told / (1 - told)) + shift - self.explore / (1 + visits) ** 2
        found: npt.NDArray[np.float64] = 1 / (1 + np.exp(-logits))
        return found

    def estimate(self) -> Estimate | None:
        """How many relevant pages are still to be found."""
        waiting = self.waiting
        head = self.head[waiting.is_waiting(self.head)]
        sample = self.chances(waiting.sample(ESTIMATED))
        return self.left.estimate(sample, waiting.count, self.chances(head))

    def learn(self) -> None:
        """Work out anew what the visits teach."""
        self.next_fit = int(GROWTH * self.groups.pages) + 1
        waiting = self.waiting
        if waiting.count > MOST_WAITING:
            every = waiting.all()
            worst = np.argsort(waiting.told[every], kind="stable")
            waiting.drop(every[worst[: len(worst) // 2]])
        self.features.taught.fit()
        self.correction.fit()
        self.features.rescale(waiting.all())

    def score(self, slots: Slots) -> tuple[Floats, Floats]:
        """The promise of each link, and what each feature adds to its logit."""
        rows = self.features.standard(slots)
        weights = (self.weights + self.correction.weights).astype(np.float32)
        added = np.empty((len(slots), len(weights) + 1), np.float32)
        added[:, :-1] = rows * weights
        visits = self.groups.host_count.values[self.waiting.host[slots]]
        added[:, -1] = self.explore / (1.0 + visits) ** 2
        logits = np.clip(added.sum(axis=1) + self.ordinary, -FLAT, FLAT)
        return 1 / (1 + np.exp(-logits)), added

    def view(self, best: int, others: int) -> tuple[list[Fingerprint], Floats]:
        """The best links that wait and some others, with their features: what the
        trained weights are learnt from."""
        every = self.waiting.all()
        if not len(every):
            return [], np.zeros((0, len(self.features.names)), np.float32)
        first = best_of(every, self.waiting.told[every], best)
        spread = every[:: max(1, len(every) // others)]
        chosen = np.unique(np.concatenate((first, spread)))
        return self.waiting.link[chosen].tolist(), self.features.standard(chosen)

    @property
    def ordinary(self) -> float:
        """The logit of an ordinary link."""
        return self.trained.bias + (
            self.trained.of("pages") * USUAL_PAGES
            + self.trained.of("base") * USUAL_BASE
        )

    def rank_links(self, slots: Slots, before: Slots) -> None:
        """Work out the promises of a page's links."""
        chosen = np.unique(slots[slots != GONE])
        if not len(chosen):
            return
        promises, added = self.score(chosen)
        was = self.waiting.told[chosen].copy()
        self.waiting.told[chosen] = promises
        parts = self.parts(promises, added)
        links = self.waiting.link[chosen].tolist()
        new = zip(links, promises.tolist(), parts, was.tolist(), strict=True)
        for link, promise, told, known in new:
            self.latest[link] = (promise, told)
            if promise < known * (1 - CHANGE):  # ranking alone never lowers a promise
                self.revised[link] = (promise, told)

    def look_at_head(self, slots: Slots) -> None:
        """See whether the best links are still as good, after one more page."""
        told = self.waiting.told
        head = self.head[self.waiting.is_waiting(self.head)]
        fresh = slots[slots != GONE]
        if len(head):
            low = float(told[head].min())
            head = np.unique(np.concatenate((head, fresh[told[fresh] > low])))
            if len(head) > 2 * HEAD:
                best = np.argpartition(-told[head], HEAD)[:HEAD]
                head = np.sort(head[best])
        self.head = head
        if len(head) < HEAD // 4:
            every = self.waiting.all()
            self.head = best_of(every, told[every], HEAD)
        self.tell(self.head)

    def look_through(self) -> None:
        """Score what waits anew, as much of it as may matter, and tell the best."""
        waiting = self.waiting
        every = waiting.all()
        if len(every) > RESCORED:
            best = best_of(every, waiting.told[every], RESCORED // 2)
            turn = np.arange(self.sweep, self.sweep + RESCORED // 2) % len(every)
            self.sweep = int(turn[-1]) + 1
            every = np.unique(np.concatenate((best, every[turn])))
        if not len(every):
            return
        promises, _ = self.score(every)
        self.head = best_of(every, promises, HEAD)
        count = min(MOST_TOLD, max(LEAST_TOLD, self.groups.pages))
        most = np.maximum(promises, waiting.told[every])
        if len(every) > count:
            line = float(np.partition(promises, -count)[-count])
            every = every[most >= line][: 2 * MOST_TOLD]
        self.tell(every)

    def tell(self, slots: Slots) -> None:
        """Revise the promises of those links that changed enough."""
        if not len(slots):
            return
        promises, added = self.score(slots)
        told = self.waiting.told[slots]
        changed = np.flatnonzero(np.abs(promises - told) > CHANGE * told)
        if not len(changed):
            return
        slots, promises = slots[changed], promises[changed]
        self.waiting.told[slots] = promises
        parts = self.parts(promises, added[changed])
        links = self.waiting.link[slots].tolist()
        for link, promise, told_parts in zip(
            links, promises.tolist(), parts, strict=True
        ):
            self.revised[link] = (promise, told_parts)

    def parts(self, promises: Floats, added: Floats) -> Sequence[Parts]:
        """What each promise is made of: the shares of its evidence, which add up.

        What an ordinary link has is the first share; the rest of the way from there is
        divided in proportion to what each feature adds.
        """
        usual = float(1 / (1 + np.exp(-self.ordinary)))
        totals = added.sum(axis=1)
        safe = np.where(np.abs(totals) < 1e-6, 1.0, totals)
        shares = (added * ((promises - usual) / safe)[:, None]).tolist()
        names = (*map(NAMES.__getitem__, self.features.names), NEW_HOST)
        return [
            {ORDINARY: usual, **{n: s for n, s in zip(names, row, strict=True) if s}}
            for row in shares
        ]


USUAL_PAGES, USUAL_BASE = log(150), 0.3  # of an ordinary moment in a crawl
ORDINARY, NEW_HOST = "an ordinary link", "a host that is new"
NAMES: Mapping[str, str] = {
    "meaning": "similar in meaning to the keywords",
    "taught": "similar to links that led to relevant pages",
    "anchor": "keywords in its anchor",
    "around": "keywords around it",
    "address": "keywords in its address",
    "words": "words of its anchor that relevant pages have",
    "host": "pages of its host so far",
    "parents": "pages that it stands on",
    "path": "links at the same place of pages",
    "siblings": "other links of its page",
}


def best_of(slots: Slots, values: npt.NDArray[np.floating], count: int) -> Slots:
    """The slots with the largest values, in order."""
    if len(slots) <= count:
        return slots
    chosen: Slots = np.sort(slots[np.argpartition(-values, count)[:count]])
    return chosen
