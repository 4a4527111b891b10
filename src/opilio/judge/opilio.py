"""The default judge: the chance that a page is relevant, from keywords alone or more.

A logistic regression whose weights were learnt before, over many topics and webs
(`opilio.pretrained`), none of them negative:

    r₀ = σ(b₀ + Σ wᵢ·zᵢ)                  until the critics have learnt something
    r  = σ(b + Σ wᵢ·zᵢ + w_c·critic + w_v·vector critic + w_t·title + w_s·site
           + w_l·like)

Symbols: zᵢ cosine, BM25 and the similarities of opening and text, each on a fixed
scale, BM25 relative to the pages seen: (x − q₁₀)/(q₈₅ − q₁₀ + 0.02·q₈₅), the cosine of
lists longer than seven keywords also (`keyword_evidence.py`), and the keywords in the
address; the critics (`critic.py`) learn from r₀ of the pages seen, from example pages
and from labels; site is the evidence of `site_evidence.py`, like that of
`seed_likeness.py`. `seed_kind.py` says how much address and site count.

Seeds that somebody chose are examples of a kind, unless the keywords disagree:
`SEED`·share(seed) is added to their logit (`seed_kind.py`), and they teach the critics
up to `SEED_TRUST` times as much. With an adviser (the judge `embedding`), its opinion
on doubtful pages is added, too (`opinions.py`).

It learns again with every page up to 10, then whenever it has seen 1.15 times as many,
from `SAMPLE` pages at most, and keeps what it knows as `snapshots.py` says.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from opilio.equations.probability import logistic, share
from opilio.errors import BadInput
from opilio.judge.critic import Critics, Lessons, critic_row
from opilio.judge.keyword_evidence import (
    Evidence,
    KeywordEvidence,
    page_vectors,
    quantiles,
)
from opilio.judge.noted_pages import JudgeSnapshot, NotedPage
from opilio.judge.seed_kind import SeedKind, shares_of
from opilio.judge.seed_likeness import SeedLikeness, weight_of
from opilio.judge.site_evidence import SiteEvidence
from opilio.judge.snapshots import Diary
from opilio.pretrained import weights_for
from opilio.protocols import Learner
from opilio.records import Page, Reads, Subject, Verdict
from opilio.text import urls
from opilio.text.meaning import Floats, dimensions, rarity_of_words

if TYPE_CHECKING:
    from opilio.judge.opinions import Opinions

THRESHOLD = 0.5
ORDINARY = "an ordinary page"
SAMPLE = 400  # pages that the critics learn from
MOST_TAUGHT = 200  # the first relevant and irrelevant examples, and the last labels
FIRST = 8  # pages before they count
UNSCALED = 6  # pages that are compared with each other, for want of others
EVERY, GROWTH = 10, 1.15
LIMIT = 4.0  # of a standardised number
SCALES = {  # what is subtracted, and by what the rest is divided
    "cosine": (0.06, 0.06),
    "bm25": (0.5, 0.6),
    "opening": (0.2, 0.1),
    "text": (0.2, 0.1),
    "address": (0.0, 1.0),
    "critic": (0.3, 0.2),
    "vector_critic": (0.3, 0.2),
}
NAMES = {  # as parts of a verdict
    "cosine": "keywords among its words",
    "bm25": "keywords, beside other pages",
    "opening": "meaning of its first words",
    "text": "meaning of its text",
    "critic": "words of other pages like it",
    "vector_critic": "meaning of other pages like it",
    "title": "keywords in its title",
    "address": "keywords in its address",
    "site": "keywords on other pages of its site",
    "like_seeds": "like the seeds",
    "seed": "chosen as a seed",
}
TOLD = 8.0  # how much a page counts that somebody judged
SEED, SEED_TRUST = 2.0, 5.0
MOST_SEEDS = 20  # the first ones, that count
TRUST = 0.04  # how much more critics count with each page that somebody judged


class Opilio:
    """Judges a page by keywords, meaning, and what other pages taught it."""

    reads = Reads(vector=True, vectors=True)
    is_learning = True

    def __init__(self, subject: Subject, adviser: str = "") -> None:
        self.keywords = KeywordEvidence(subject)
        if not self.keywords.users:
            raise BadInput(
                "the judge 'opilio' needs keywords, a query log, an ontology or "
                "example pages, and the topic has none; add keywords = ['a word', "
                "'a phrase'] to the topic file"
            )
        self.threshold = THRESHOLD if subject.threshold is None else subject.threshold
        trained = weights_for(subject.trained, self.keywords.has_vectors)
        self.opening, self.trained = trained.opening, trained.judge
        self.rarity = rarity_of_words(subject.common)
        self.sites = SiteEvidence()
        self.pages = 0
        self.next_fit = 0
        self.sample: list[NotedPage] = []
        self.taught: list[NotedPage] = []  # examples and labels
        self.lessons = Lessons(dimensions(subject))
        self.critics: Critics | None = None
        self.likeness = SeedLikeness()
        self.kind = SeedKind()
        self.opinions: Opinions | None = None
        if adviser:
            from opilio.judge.opinions import Opinions  # few judges have one

            self.opinions = Opinions(adviser)
        self.quantiles = (0.0, 0.0)  # of BM25: a tenth is below the first
        self.lift = 1.0  # of the cosine
        self.diary: Diary[NotedPage] = Diary(NotedPage, self.take_up)
        self.latest: Mapping[str, float] = {}  # the evidence of the last verdict
        for told, pages in ((True, subject.relevant), (False, subject.irrelevant)):
            for page in pages[:MOST_TAUGHT]:
                self.taught.append(self.note(page, told))
        self.examples = len(self.taught)
        if self.taught:
            self.fit()

    def judge(self, page: Page) -> Verdict:
        """The chance that a page is relevant, by what is known now; then learn."""
        noted = self.note(page)
        if self.pages < UNSCALED and self.is_learning:
            self.scale([*self.sample, noted])  # the first pages are their own measure
        if noted.opinion is not None:
            logit, _, _ = self.weigh(noted)
            noted = msgspec.structs.replace(noted, logit=logit)
        verdict = self.verdict(noted)
        if self.is_learning:
            self.diary.write(noted)
        return verdict

    def doubts(self, page: Page) -> bool:
        """Whether a second opinion on a page is wanted."""
        if self.opinions is None:
            return False
        logit, _, _ = self.weigh(self.note(page))
        return self.opinions.wants(logit, self.threshold, self.pages)

    def look(self, page: Page) -> Verdict:
        """The verdict on a page, without learning from it."""
        return self.verdict(self.note(page))

    def teach(self, page: Page, relevant: bool) -> None:
        """Somebody says whether a page is relevant."""
        self.diary.write(self.note(page, relevant))

    def without_labels(self) -> Self:
        """The judge as it would be now if nobody had labelled a page."""
        other = copy(self)
        labelled = self.taught[self.examples :]
        unknown = [msgspec.structs.replace(one, told=None) for one in labelled]
        other.sample = [*self.sample, *unknown]
        other.taught = self.taught[: self.examples]
        other.sites = SiteEvidence()
        other.sites.restore(self.sites.kept())
        other.lessons = Lessons(self.lessons.vectors.shape[1])
        other.fit()
        return other

    def note(self, page: Page, told: bool | None = None) -> NotedPage:
        """What is kept of a page."""
        vectors = page_vectors(page)
        row = critic_row(page, self.rarity, vectors)
        return NotedPage(
            urls.fingerprint(page.url),
            urls.host(page.url),
            tuple(self.keywords.of(page, vectors)),
            row.places.tobytes(),
            row.weights.tobytes(),
            row.vector.tobytes(),
            told,
            page.is_seed and told is None and len(self.seeds) < MOST_SEEDS,
            urls.is_home(page.url),
            len({urls.host(link.url) for link in page.links}) if page.is_seed else 0,
            page.opinion,
        )

    @property
    def seeds(self) -> list[NotedPage]:
        """The seeds that were judged."""
        return [noted for noted in self.sample if noted.is_seed]

    def weigh(self, noted: NotedPage) -> tuple[float, float, dict[str, float]]:
        """The logit of a page without second opinions, that of an ordinary page, and
        how much each kind of evidence adds to it."""
        row, evidence = noted.row, Evidence(*noted.evidence)
        known = self.standard(evidence)
        linear = self.opening
        if self.critics and self.pages + 2 * len(self.taught) >= FIRST:
            linear = self.trained
            trust = 1 + TRUST * len(self.taught)
            known["critic"] = trust * scaled("critic", self.critics.by_words(row))
            by_vector = self.critics.by_vector(row)
            known["vector_critic"] = trust * scaled("vector_critic", by_vector)
            known["title"] = evidence.title
            near = self.sites.of(noted.site)
            known["site"] = self.kind.near(noted.site, near)
            if self.keywords.has_vectors:
                like = self.likeness.of(row.vector)
                like *= weight_of(self.keywords.ordinary) * (1 - self.kind.named)
                known["like_seeds"] = like
        self.latest = dict(known)
        added = {name: linear.of(name) * value for name, value in known.items()}
        if noted.is_seed:
            seeds = [*self.seeds, noted]
            added["seed"] = float(self.seed_lifts(seeds, self.first_logits(seeds))[-1])
        return linear.bias + sum(added.values()), linear.bias, added

    def verdict(self, noted: NotedPage) -> Verdict:
        """The score of a page and how much each kind of evidence adds to it."""
        logit, bias, added = self.weigh(noted)
        names = NAMES
        if self.opinions and noted.opinion is not None:
            added["opinion"] = self.opinions.worth(logit, noted.opinion)
            names = {**NAMES, "opinion": self.opinions.advice.part}
        usual, each = share(bias, list(added.values()))
        score = usual + sum(each)
        parts = zip(added, each, strict=True)
        shown = {names[name]: value for name, value in parts if value}
        return Verdict(score, score >= self.threshold, {ORDINARY: usual, **shown})

    def standard(self, evidence: Evidence) -> dict[str, float]:
        """What the keywords say, on fixed scales."""
        low, span = self.span
        found = {
            "cosine": scaled("cosine", evidence.cosine * self.lift),
            "bm25": scaled("bm25", (evidence.bm25 - low) / span),
            "address": self.kind.address(evidence.address, self.keywords.ordinary),
        }
        if self.keywords.has_vectors:
            found["opening"] = scaled("opening", evidence.opening)
            found["text"] = scaled("text", evidence.text)
        return found

    @property
    def span(self) -> tuple[float, float]:
        """Little BM25, and how much more is much."""
        low, high = self.quantiles
        return low, high - low + 0.02 * high + 1e-9

    def take_up(self, noted: NotedPage) -> bool:
        """Learn from a page; True if it is a label: after each the critics learn again,
        so after a restart many would take long to learn from again."""
        if noted.told is not None:
            self.sample = [one for one in self.sample if one.url != noted.url]
            examples = self.taught[: self.examples]
            labels = self.taught[self.examples :]
            labels = [one for one in labels if one.url != noted.url]
            self.taught = [*examples, *labels[1 - MOST_TAUGHT :], noted]
            self.fit()
            return True
        self.pages += 1
        self.add_to_site(noted)
        if self.opinions and noted.opinion is not None:
            self.opinions.add(noted.logit, noted.opinion)
        if len(self.sample) < SAMPLE:
            self.sample.append(noted)
        else:  # a reservoir, by number: nothing of chance needs to be kept
            place = random.Random(self.pages).randrange(self.pages)
            if place < SAMPLE and not self.sample[place].is_seed:
                self.sample[place] = noted
        if self.pages <= EVERY or self.pages >= self.next_fit:
            self.next_fit = int(GROWTH * self.pages) + 1
            self.fit()
        return False

    def add_to_site(self, noted: NotedPage) -> None:
        """Count a page as one of its site."""
        evidence = Evidence(*noted.evidence)
        meaning = (evidence.opening + evidence.text) / 2
        self.sites.add(noted.site, evidence.cosine, noted.is_home, meaning)

    def scale(self, pages: list[NotedPage]) -> None:
        """Measure what is much and what is little on the pages seen."""
        values = np.array([noted.evidence[1] for noted in pages])
        low, high = quantiles(values, [0.1, 0.85])
        self.quantiles = (low, high)
        cosines = np.array([noted.evidence[0] for noted in pages], np.float32)
        self.lift = self.keywords.lift(cosines)

    def fit(self) -> None:
        """Let the critics learn from the sample, the examples and the labels."""
        pages = [*self.sample, *self.taught]
        self.scale(self.sample or self.taught)
        self.sites.rescale()
        self.label_sites()
        told = np.array([noted.told is not None for noted in pages])
        said = np.array([noted.told is True for noted in pages], np.float32)
        logits = self.first_logits(pages)
        lifts = self.seed_lifts(pages, logits)
        first = logistic(logits + lifts)
        trust = np.where(told, TOLD, 1 + (SEED_TRUST - 1) * lifts / SEED)
        values = np.where(told, said, first)
        self.critics = self.lessons.learn(pages, values, trust.astype(np.float32))
        self.likeness = SeedLikeness.of_pages(self.lessons.vectors, lifts)
        self.kind = self.kind_of(pages, lifts)

    def label_sites(self) -> None:
        """Take what examples and labels say of their sites."""
        self.sites.label((one.site, one.told is True) for one in self.taught)

    def seed_lifts(self, pages: Sequence[NotedPage], logits: Floats) -> Floats:
        """How much more each page counts because somebody chose it as a seed, given
        the logits of r₀."""
        seeds = np.array([noted.is_seed for noted in pages], bool)
        hosts = np.array([noted.hosts for noted in pages])
        return np.float32(SEED) * shares_of(logistic(logits), seeds, hosts)

    def kind_of(self, pages: Sequence[NotedPage], lifts: Floats) -> SeedKind:
        """What the seeds among pages stand for."""
        if len({noted.site for noted in self.sample}) < 2:
            return SeedKind()
        homes = [noted.site if noted.is_home else "" for noted in pages]
        named = np.array([Evidence(*noted.evidence).address > 0 for noted in pages])
        shares, ordinary = lifts / np.float32(SEED), self.keywords.ordinary
        return SeedKind.of_seeds(shares, homes, named, ordinary)

    def first_logits(self, pages: Sequence[NotedPage]) -> Floats:
        """The logits of r₀ of pages, seeds or not."""
        rows = [Evidence(*noted.evidence) for noted in pages]
        every = np.fromiter(chain.from_iterable(rows), np.float64)
        known = Evidence(*every.reshape(-1, len(Evidence._fields)).T)
        low, span = self.span
        columns = {
            "cosine": known.cosine * self.lift,
            "bm25": (known.bm25 - low) / span,
            "address": self.kind.address(known.address, self.keywords.ordinary),
        }
        if self.keywords.has_vectors:
            columns |= {"opening": known.opening, "text": known.text}
        logits = np.full(len(pages), self.opening.bias)
        for name, column in columns.items():
            middle, spread = SCALES[name]
            z = np.clip((column - middle) / spread, -LIMIT, LIMIT)
            logits += self.opening.of(name) * z
        return logits.astype(np.float32)

    def learners(self) -> Mapping[str, Learner]:
        """What is kept of it, part by part; in this order it is taken up again."""
        return {"judge": self, **self.diary.chunks("judge")}

    def dump(self) -> bytes | None:
        """All that it knows, now and then; what is new since is in the diary."""
        if not self.diary.is_due:
            return None
        self.diary.begin(self.diary.snapshots + 1)
        return self.snapshot()

    def snapshot(self) -> bytes:
        """Everything that it learnt."""
        critics = self.critics
        empty = np.zeros(0, np.float32)
        return msgspec.msgpack.encode(
            JudgeSnapshot(
                self.diary.snapshots,
                self.pages,
                self.next_fit,
                self.sample,
                self.taught[self.examples :],
                self.sites.kept(),
                critics.middle if critics else 0.0,
                (critics.words if critics else empty).tobytes(),
                (critics.vector if critics else empty).tobytes(),
                self.quantiles,
                self.likeness,
                self.lift,
                self.kind,
                list(self.opinions.seen) if self.opinions else [],
            )
        )

    def load(self, learnt: bytes) -> None:
        """Take up what `dump` gave; what an older version gave tells nothing."""
        with suppress(msgspec.DecodeError):
            self.restore(msgspec.msgpack.decode(learnt, type=JudgeSnapshot))

    def restore(self, found: JudgeSnapshot) -> None:
        """Know what a snapshot says."""
        self.pages, self.next_fit = found.pages, found.next_fit
        self.sample = found.sample
        self.taught = [*self.taught[: self.examples], *found.taught]
        self.sites.restore(found.sites)
        self.label_sites()
        self.quantiles, self.likeness = found.quantiles, found.likeness
        self.lift, self.kind = found.lift, found.kind
        if self.opinions:
            self.opinions.restore(found.opinions)
        if found.words:
            words = np.frombuffer(found.words, np.float32)
            vector = np.frombuffer(found.vector, np.float32)
            self.critics = Critics(found.middle, words, vector)
        self.diary.begin(found.number)

    def publish(self) -> bytes:
        """All that it has learnt, for others of its kind."""
        return self.snapshot()

    def adopt(self, model: bytes) -> None:
        """Replace what was learnt by what another has published."""
        self.restore(msgspec.msgpack.decode(model, type=JudgeSnapshot))
        self.diary.is_due = True

    def follow(self, before: Self) -> None:
        """Take up what another judge of the kind learnt, whose topic was a little
        other: the words of its pages still teach, its keywords do not."""
        self.restore(msgspec.msgpack.decode(before.snapshot(), type=JudgeSnapshot))
        self.sites = SiteEvidence()
        for noted in self.sample:
            self.add_to_site(noted)
        if self.sample or self.taught:
            self.fit()
        self.diary.is_due = True


def scaled(name: str, value: float) -> float:
    """A number on its fixed scale, within the limit."""
    middle, spread = SCALES[name]
    return max(-LIMIT, min(LIMIT, (value - middle) / spread))
