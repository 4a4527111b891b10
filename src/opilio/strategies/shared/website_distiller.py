"""Scores links by the models of the websites on which they were found.

The distiller of Yang's crawler; its strategy is in website_model.py, the equations are
in opilio/equations/site_model.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Annotated

import msgspec
from msgspec import Meta

from opilio.equations.site_model import (
    KNOWN_SCORE,
    NEW_SCORE,
    Profile,
    SiteCounts,
    Source,
    literal_profile,
    smoothed_profile,
    ul_score,
)
from opilio.records import TIER, Fingerprint, Mode, Parts, Subject
from opilio.settings import Section, Some

USER = 1e4  # added in the User Priority Queue
PHASE = 1e3  # times 3, 2, 1 for phase 1, 2, 3
TIE = 1e-3  # less than any difference of scores that means anything
WELL_PROFILED = 3  # pages
PageCount = tuple[bool, tuple[str, ...]]
"""How a page is counted: whether it is relevant, and its concepts."""


class WebsiteModelOptions(
    Section, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The values that the paper leaves open."""

    mode: Mode = "fixed"
    thw: Some = 5  # THW, main concepts of a page
    phases: Annotated[str, Meta(pattern="^1?2?3?$")] = "123"  # of the evolver
    progressive: bool = False
    user_share: Annotated[float, Meta(ge=0, lt=1)] = 0.9  # 0: no User Priority Queue


class FoundLink(msgspec.Struct, frozen=True, gc=False):
    """A link as it was found: the evidence for its score."""

    link: Fingerprint
    site: str  # that it was found on
    target: str  # that it leads to
    words: int  # of its anchor
    terms: Mapping[str, int]  # in its anchor

    @property
    def without_site(self) -> tuple[Fingerprint, str, int, Mapping[str, int]]:
        """The same in short; an empty target is the site itself."""
        target = "" if self.target == self.site else self.target
        return self.link, target, self.words, self.terms


class Score(msgspec.Struct, frozen=True, gc=False):
    """A promise and its summands."""

    promise: float
    parts: Parts

    @classmethod
    def of(cls, parts: Parts) -> Score:
        """The sum of these."""
        return cls(sum(parts.values()), parts)


class DistilledSite:
    """A website: its counts, its last profile, and the links found on it."""

    def __init__(self) -> None:
        self.counts = SiteCounts()
        self.profile = Profile(0.0, {})
        self.gap = 0.0  # (3)
        self.due = 1  # pages at the next profile
        self.plain: dict[tuple[bool, bool], Score] = {}
        """Of links whose anchors say nothing: inside or not, to a known site or not."""
        self.links: list[Fingerprint] = []

    @property
    def is_indefinite(self) -> bool:
        """Whether too little is known about it."""
        return self.counts.pages < WELL_PROFILED


class Distiller:
    """Scores links by the models of all websites."""

    def __init__(self, options: WebsiteModelOptions, subject: Subject) -> None:
        self.options = options
        self.is_fixed = options.mode == "fixed"
        self.sites: dict[str, DistilledSite] = {}
        self.everything = SiteCounts()
        self.seek(subject)

    def seek(self, subject: Subject) -> None:
        """Ask for this weight table from now on; the profiles stay until they are made
        again."""
        self.query = frozenset(subject.weights)
        self.concept_of = {
            term: concept for term, (concept, _) in subject.concepts.items()
        } or {term: term for term in subject.weights}
        self.domain = sorted(set(self.concept_of.values()))
        for site in self.sites.values():
            site.plain.clear()

    def concepts(self, terms: Mapping[str, int]) -> dict[str, int]:
        """How often each concept of the domain is named."""
        counts: dict[str, int] = {}
        for term, count in terms.items():
            if concept := self.concept_of.get(term):
                counts[concept] = counts.get(concept, 0) + count
        return counts

    def learn(
        self, name: str, relevant: bool, concepts: tuple[str, ...]
    ) -> DistilledSite:
        """Count a page of a site; its profile changes only at 1, 3, 6, 12, … pages."""
        site = self.sites.setdefault(name, DistilledSite())
        site.counts.add(relevant, concepts)
        self.everything.add(relevant, concepts)
        return site

    def correct(self, name: str, before: PageCount, now: PageCount) -> DistilledSite:
        """Count a page otherwise than before, and make the profile of its site again:
        something else is sought."""
        site = self.sites[name]
        for counts in (site.counts, self.everything):
            counts.remove(*before)
            counts.add(*now)
        due = site.due
        self.make_profile(site)
        site.due = due
        return site

    def make_profile(self, site: DistilledSite) -> None:
        """Update the profile of a site from its counts."""
        if self.is_fixed:
            site.profile = smoothed_profile(site.counts, self.everything, self.domain)
        else:
            site.profile = literal_profile(site.counts)
        site.gap = site.profile.gap(len(self.domain) if self.is_fixed else None)
        site.due = max(WELL_PROFILED, 2 * site.counts.pages)
        site.plain.clear()

    def score(self, found: FoundLink) -> Score:
        """The promise of a link by the models as they are now."""
        site = self.sites[found.site]
        if found.terms:
            return Score.of(self.parts(found, site))
        # As most links are, and on one site they differ by where they lead alone.
        where = found.target == found.site, found.target in self.sites
        score = site.plain.get(where)
        if score is None:
            score = site.plain[where] = Score.of(self.parts(found, site))
        return score

    def parts(self, found: FoundLink, site: DistilledSite) -> dict[str, float]:
        """The parts of the promise of a link."""
        # `fixed`: long anchors do not win by their length alone.
        each = 1 / sqrt(found.words or 1) if self.is_fixed else 1.0
        asked = each * sum(
            count for term, count in found.terms.items() if term in self.query
        )
        if asked and self.options.user_share:
            expanded = ul_score(Source.MODEL, site.profile.relation * asked)
            return {"ULScore(U,2) user": expanded, f"{TIER}User Priority Queue": USER}
        return self.website_parts(found, site, each)

    def website_parts(
        self, found: FoundLink, site: DistilledSite, each: float
    ) -> dict[str, float]:
        """The same for a link of the Website Priority Queue."""
        anchor = {
            concept: each * count
            for concept, count in self.concepts(found.terms).items()
        }
        known = found.target in self.sites
        extracted = ul_score(Source.EXTRACTED, KNOWN_SCORE if known else NEW_SCORE)
        phase, score = self.evolve(found, site, anchor)
        evolved = ul_score(Source.MODEL, score)
        parts = {"ULScore(U,3)": extracted}
        if evolved > extracted or (evolved and self.options.progressive):
            parts = {f"ULScore(U,2) phase {phase}": evolved}
            if self.options.progressive:
                parts[f"{TIER}phase {phase}"] = (4 - phase) * PHASE
        if anchor and self.is_fixed:
            named = sum(anchor.values())
            parts["Anchor(U,D)"] = TIE * named / (1 + named)
        return parts

    def evolve(
        self, found: FoundLink, site: DistilledSite, anchor: Mapping[str, float]
    ) -> tuple[int, float]:
        """The phase of the evolver that chooses this link, and S_2(U)."""
        phases = self.options.phases
        if site.is_indefinite:
            return 2, sum(anchor.values()) if "2" in phases else 0.0
        if found.site == found.target and "1" in phases:
            return 1, site.gap
        return 3, site.profile.outbound(anchor) if "3" in phases else 0.0
