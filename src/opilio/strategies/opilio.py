"""The default strategy: a pretrained model of links that corrects itself in the crawl.

    promise(v) = σ(b + Σᵢ (wᵢ + δᵢ)·zᵢ(v) + x/(1 + n_host)²)

Symbols: zᵢ the features of a link, standardised over what waits (`features.py`); wᵢ ≥ 0
their weights, learnt before the crawl (`opilio.pretrained`); δ what this crawl
has taught since (`lessons.py`); n_host the pages that were read of its host, x
`explore`: one page of a new host tells whether many more are worth it.

The features mean the same on every topic and web: how similar the link's words are to
the keywords, how similar to links that led to relevant pages, keywords in its address,
words of its anchor that relevant pages have, and how relevant the pages were that it
stands on, and those of its host and section, and behind other links of its page.

It learns again after each of the first 10 pages, then whenever there are 1.15 times as
many. Then the best links that wait, and those that were thought to be, are told their
new promises; after every page the best few are. What is noted of each page is enough
to learn everything again after a restart, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import exp, log
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.equations.probability import FLAT, logistic
from opilio.pretrained import weights_for
from opilio.progress import Estimate
from opilio.records import (
    Fingerprint,
    Knowledge,
    Lease,
    Page,
    PartsText,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.chooser.features import Features, Floats
from opilio.strategies.shared.chooser.groups import Groups
from opilio.strategies.shared.chooser.lessons import (
    Correction,
    LinkWords,
    Taught,
    WordValues,
)
from opilio.strategies.shared.chooser.loops import distinct as distinct_links
from opilio.strategies.shared.chooser.loops import sort_out, tell
from opilio.strategies.shared.chooser.places import Slots
from opilio.strategies.shared.chooser.plain_rows import LINK_WORDS
from opilio.strategies.shared.chooser.pool import Pool, best_of, distinct
from opilio.strategies.shared.chooser.relevant_left import Remaining
from opilio.strategies.shared.chooser.visits import Visit, links_in, note
from opilio.strategies.shared.chooser.waiting import NEW, Waiting
from opilio.strategies.shared.journal import StrategyJournal
from opilio.text.meaning import (
    KeywordVectors,
    dimensions,
    keyword_vectors,
    rarity_of_words,
)

EVERY, GROWTH = 10, 1.15  # how often it learns
LEAST_TOLD = 256  # links that are told their promises when something was learnt
MOST_TOLD = 4096
SCORED = 128  # links that are scored again then, for each page since the last time
LEAST_SCORED, MOST_SCORED = 1024, 50_000
MOST_WAITING = 2_000_000  # links with evidence; of more, the worse half is forgotten
CHANGE = 0.02  # of a promise, relative: less is not worth telling
PENALTY = 20.0  # λ: how much a correction of the weights must be worth
ESTIMATED = 16_384  # links whose chances are added up
DECAY = 2  # of the advantage of new hosts with the pages read from them
UNEXPLAINED = "{}"  # the parts of a promise that nothing was added up for
DOUBT = 0.1  # of the promise of links of a host that seems to be a trap
NEXT = 128  # of the best links that wait, whose chances say what comes next


class OpilioOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the default strategy explores."""

    explore: Annotated[float, msgspec.Meta(ge=0, le=20)] = 3.0  # x


class Opilio:
    """Chooses by a trained model of many kinds of evidence that corrects itself."""

    Options = OpilioOptions
    reads = Reads(context=True, vector=True, words=True, vectors=True)
    calibrated = True
    measures_waiting = True  # by standardised features

    def __init__(self, options: OpilioOptions, knowledge: Knowledge) -> None:
        subject = knowledge.subject
        self.explore = options.explore
        self.terms = dict(subject.weights)  # keywords and how much each counts
        self.groups = Groups()
        self.waiting = Waiting(dimensions(subject))
        self.rarity = rarity_of_words(subject.common)
        self.sought = keyword_vectors(subject)  # as of the next page
        self.features = Features(self.sought, self.rarity, self.waiting, self.groups)
        with_vectors = bool(self.waiting.dimensions)
        self.trained = weights_for(subject.trained, with_vectors).chooser
        names = self.features.names
        self.weights = np.array([self.trained.of(name) for name in names])
        self.correction = Correction(len(names), PENALTY)
        every = (ORDINARY, *map(NAMES.__getitem__, names), NEW_HOST)
        self.names = tuple(msgspec.json.encode(name) + b":" for name in every)
        self.next_fit, self.fitted, self.quota = 0, 0, LEAST_SCORED
        self.noted = b""  # the vectors of keywords that were noted last
        self.pool = Pool(self.waiting)
        self.scored: tuple[Slots, Floats]  # links that were scored last
        self.scored = np.zeros(0, np.int64), np.zeros((0, len(names)), np.float32)
        self.ahead: Slots | None = None  # the slots of the page's links, if known
        self.left = Remaining()
        self.settled: Sequence[
            Fingerprint
        ] = ()  # of the last page, that taught nothing
        self.sweep = 0  # where the next part of a long frontier begins
        self.revised: dict[Fingerprint, tuple[float, PartsText]] = {}
        self.latest: dict[
            Fingerprint, tuple[float, PartsText]
        ] = {}  # of the page's links
        # For other workers; None: nobody has asked for it.
        self.experienced: list[tuple[Fingerprint, bytes]] | None = None
        self.journal = StrategyJournal(Visit, self.happen)
        self.changes = self.journal.changes

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[Ranked]:
        """Every link with its promise and the evidence that counts most."""
        if lease.is_doubted:
            return self.rank_doubted(page, verdict, lease)
        links, prints, packed = distinct_links(page.links, lease.fingerprint)
        waiting = self.waiting
        slots = waiting.slots(prints, packed)
        # A link that enough pages have told about learns nothing from one more.
        ahead = np.empty(len(slots), np.int64)
        news, self.settled, known = sort_out(links, slots, waiting.parents, ahead)
        visit = note(page, news, verdict.score, lease, self.terms, self.rarity)
        self.ahead = ahead[: len(news)]
        if verdict.relevant:
            others: list[Fingerprint] = np.frombuffer(page.settled, "<i8").tolist()
            wait = np.concatenate((np.array(known, np.int64), waiting.slots(others)))
            visit = msgspec.structs.replace(
                visit,
                is_kept=True,
                caught=len(self.left.kept.intersection(prints + others)),
                waiting=float(self.chances(wait[wait >= 0]).sum()),
            )
        self.journal.write(self.with_keywords(visit))
        for slot in known:
            self.latest[int(waiting.link[slot])] = (float(waiting.told[slot]), "")
        level = lease.level_after(verdict)
        nothing = (0.0, "")
        ranked = []
        for link in page.links:
            promise, parts = self.latest.get(link.fingerprint, nothing)
            ranked.append(Ranked(link, promise, parts, level))
        return ranked

    def rank_doubted(self, page: Page, verdict: Verdict, lease: Lease) -> list[Ranked]:
        """Every link with a tenth of what the page had promised. What a trap says about
        links teaches nothing, and its own links must not take the place of others."""
        self.settled = ()
        self.journal.write(Visit(lease.fingerprint, lease.host, is_doubted=True))
        promise, level = lease.promise * DOUBT, lease.level_after(verdict)
        return [Ranked(link, promise, "", level) for link in page.links]

    def missed(self, lease: Lease, state: State) -> None:
        """Drop the link of a visit without a new page, which teaches nothing."""
        doubted = lease.is_doubted
        self.journal.write(Visit(lease.fingerprint, lease.host, is_doubted=doubted))

    def dead(self, lease: Lease) -> None:
        """Drop a link that leads nowhere: others of its section and page may, too."""
        self.journal.write(Visit(lease.fingerprint, lease.host, is_dead=True))

    def revise(self) -> Iterator[Revision]:
        """Promises that changed while links wait."""
        revised, self.revised = self.revised, {}
        return ((link, promise, parts) for link, (promise, parts) in revised.items())

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay all visits of earlier runs."""
        for _ in self.journal.replay(notes):
            self.revised.clear()

    def seek(self, subject: Subject) -> None:
        """Compare links with new keywords from now on, also waiting ones."""
        self.terms = dict(subject.weights)
        if dimensions(subject) == self.waiting.dimensions:
            self.sought = keyword_vectors(subject)

    def with_keywords(self, visit: Visit) -> Visit:
        """The same with the vectors of keywords, if they are others than before."""
        sought = self.sought.rows.tobytes()
        if sought == self.noted:
            return visit
        return msgspec.structs.replace(visit, sought=sought)

    def happen(self, visit: Visit) -> None:
        """Learn from a visit, and take in the links of its page."""
        if visit.model:
            self.take_model(visit.model)
            return
        self.settle(visit)
        self.latest.clear()
        if visit.is_doubted:
            self.forget_host(visit.host)
        if not visit.is_page:
            return
        if visit.sought:
            self.take_keywords(visit.sought)
        groups = self.groups
        page = groups.add_page(visit.host, visit.score)
        words = np.frombuffer(visit.words, "<u2")
        shares = np.frombuffer(visit.shares, np.uint8)
        self.features.words.add(words, shares, visit.score)
        links = links_in(visit, self.waiting.dimensions)
        hosts = np.array(groups.host_numbers(visit.hosts), np.int32)[links.hosts]
        before, self.ahead = self.ahead, None
        if self.waiting.count > MOST_WAITING:
            self.waiting.drop_worse_half()
            before = None
        if before is None:
            before = self.waiting.slots(links.prints.tolist())
        keywords = self.features.keywords
        slots = self.waiting.take_in(links, before, hosts, page, visit.score, keywords)
        if groups.pages <= EVERY or groups.pages >= self.next_fit:
            self.learn()
            self.tell(slots, self.look_through())
            self.pool.refill()
        else:
            self.features.follow()
            self.tell(slots, self.pool.head)
            self.pool.add(slots)
        if visit.is_kept:
            waiting = visit.waiting + float(self.chances(slots).sum())
            self.left.keep(visit.link, visit.worth, visit.caught, waiting)

    def forget_host(self, name: str) -> None:
        """Leave the links of a host aside, with a tenth of their promise."""
        if (host := self.groups.hosts.get(name)) is None:
            return
        links, promises = self.waiting.drop_host(host)
        doubted: list[float] = (promises * np.float32(DOUBT)).tolist()
        pairs = zip(doubted, repeat(UNEXPLAINED), strict=False)
        self.revised.update(zip(links, pairs, strict=True))
        if links:
            self.pool.refill()

    def take_keywords(self, sought: bytes) -> None:
        """Compare with the keywords of a note from now on."""
        self.noted = sought
        rows = np.frombuffer(sought, "<f4")
        size = self.waiting.dimensions
        if (
            not size
            or len(rows) % size
            or sought == self.features.keywords.rows.tobytes()
        ):
            return
        self.features.seek(KeywordVectors(rows.reshape(-1, size)))
        self.next_fit = 0

    def settle(self, visit: Visit) -> None:
        """A link was visited: note what its evidence was worth."""
        slot = self.waiting.leave(visit.link)
        if slot == NEW:
            return
        row = self.row_of(slot)
        z = row.astype(np.float64)
        offset = self.ordinary + float(z @ self.weights) + self.now()
        logit = offset + float(z @ self.correction.weights)
        self.left.visit(1 / (1 + exp(-max(-FLAT, min(FLAT, logit)))), visit.worth)
        waiting = self.waiting
        if visit.is_dead:
            section, page = int(waiting.section[slot]), int(waiting.page[slot])
            self.groups.add_link(section, page, 0.0)
        if not visit.is_page:
            return
        self.correction.add(row, offset, visit.score)
        vector = np.zeros(0, np.float32)
        if waiting.dimensions:
            vector = waiting.vector_of(slot)
            self.features.taught.add(vector, visit.score)
        words = waiting.words[slot].copy()
        self.features.link_words.add(words, visit.score)
        section = int(waiting.section[slot])
        self.groups.add_link(section, int(waiting.page[slot]), visit.score)
        if self.experienced is not None:
            # Only workers on many machines tell each other.
            from opilio.strategies.shared.chooser.experience import pack_experience

            came = pack_experience(row, offset, visit.score, section, vector, words)
            self.experienced.append((visit.link, came))

    def experiences(self) -> list[tuple[Fingerprint, bytes]]:
        """What each link taught that was visited since the last call."""
        new, self.experienced = self.experienced, []
        return new or []

    def learn_from(self, others: Iterable[bytes]) -> None:
        """Learn from links that other workers have visited."""
        from opilio.strategies.shared.chooser.experience import unpack_experience

        for other in others:
            came = unpack_experience(other)
            row = np.frombuffer(came.row, "<f4")
            if len(row) != len(self.weights):
                continue  # without word vectors there are other features
            self.correction.add(row, came.offset, came.score)
            vector = np.frombuffer(came.vector, "<f2").astype(np.float32)
            if len(vector) == self.waiting.dimensions > 0:
                self.features.taught.add(vector, came.score)
            words = np.frombuffer(came.words, "<u2")
            if len(words) == LINK_WORDS:
                self.features.link_words.add(words, came.score)
            self.groups.add_section(came.section, came.score)

    def publish(self) -> bytes:
        """What was learnt from all pages."""
        from opilio.strategies.shared.chooser.published import pack_learnt

        return pack_learnt(*self.learnt)

    def adopt(self, model: bytes) -> None:
        """Replace what was learnt from all pages by what another has learnt, and score
        what waits again."""
        self.journal.write(Visit(0, "", model=model))

    def take_model(self, model: bytes) -> None:
        """Know what a model says."""
        from opilio.strategies.shared.chooser.published import restore_learnt

        restore_learnt(model, *self.learnt)
        self.fitted = self.groups.pages
        self.next_fit = int(GROWTH * self.fitted) + 1
        every = self.waiting.all()
        self.features.rescale(every)
        nothing = every[:0]
        for start in range(0, len(every), MOST_SCORED):
            self.tell(nothing, every[start : start + MOST_SCORED])
        self.pool.refill()

    @property
    def learnt(
        self,
    ) -> tuple[Groups, WordValues, Taught, LinkWords, Correction, Remaining]:
        """The parts that learn from all pages."""
        features = self.features
        return (
            *(self.groups, features.words, features.taught),
            *(features.link_words, self.correction, self.left),
        )

    def row_of(self, slot: int) -> Floats:
        """The features of a link; of the best ones they are known."""
        slots, rows = self.scored
        known = np.flatnonzero(slots == slot)
        if len(known):
            rows = rows[known[:1]]
        else:
            rows = self.features.standard(np.array([slot]))
        row: Floats = rows[0]
        return row

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
        logits = np.log(told / (1 - told)) - self.explore / (1 + visits) ** DECAY
        found: npt.NDArray[np.float64] = logistic(logits + self.now())
        return found

    def estimate(self) -> Estimate | None:
        """How many relevant pages are still to be found."""
        waiting = self.waiting
        sample = self.chances(waiting.sample(ESTIMATED))
        best = self.chances(self.pool.glance(NEXT))
        return self.left.estimate(sample, waiting.count, best)

    def learn(self) -> None:
        """Learn again from all visits."""
        pages = self.groups.pages
        self.quota = min(MOST_SCORED, max(LEAST_SCORED, SCORED * (pages - self.fitted)))
        self.fitted = pages
        self.next_fit = int(GROWTH * pages) + 1
        self.features.taught.fit()
        self.features.link_words.fit()
        self.correction.fit()
        self.features.rescale(self.waiting.all())

    def score(self, slots: Slots) -> tuple[Floats, Floats]:
        """What each feature adds to the logit of each link, and their chances."""
        weights = (self.weights + self.correction.weights).astype(np.float32)
        rows, added, promises = self.features.weigh(
            slots, weights, self.explore, self.ordinary
        )
        self.scored = (slots, rows)
        return added, promises

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

    def look_through(self) -> Slots:
        """Score what waits again, as much of it as may matter; returns the best."""
        waiting = self.waiting
        every = waiting.all()
        if len(every) > self.quota:
            half = self.quota // 2
            turn = np.arange(self.sweep, self.sweep + half) % len(every)
            self.sweep = int(turn[-1]) + 1
            every = distinct(np.concatenate((waiting.best(half), every[turn])))
        if self.features.has_changed:
            waiting.compare(every, self.features.keywords)
        _, promises = self.score(every)
        count = min(MOST_TOLD, max(LEAST_TOLD, self.groups.pages))
        if len(every) <= count:
            return every
        line = float(np.partition(promises, -count)[-count])
        return every[np.maximum(promises, waiting.told[every]) >= line][: 2 * MOST_TOLD]

    def tell(self, slots: Slots, others: Slots) -> None:
        """Give the links of a page their promises, and revise those of others that
        changed enough. Ranking alone never lowers a promise."""
        waiting = self.waiting
        both = np.concatenate((slots, others))
        if not len(both):
            return
        added, promises = self.score(both)
        tell(
            both,
            len(slots),
            promises,
            added,
            (waiting.told, waiting.link),
            self.names,
            self.ordinary,
            CHANGE,
            self.latest,
            self.revised,
        )


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
    "section": "pages of its section so far",
    "siblings": "other links of its page",
    "link_words": "words of links that led to relevant pages",
}
