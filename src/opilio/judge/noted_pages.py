"""The records that the default judge keeps: pages it has judged, and all it learnt."""

from __future__ import annotations

import msgspec
import numpy as np

from opilio.judge.critic import CriticRow
from opilio.judge.seed_kind import SeedKind
from opilio.judge.seed_likeness import SeedLikeness
from opilio.judge.site_evidence import KeptSites
from opilio.records import Fingerprint


class NotedPage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page that was judged, as much of it as the judge learns from."""

    url: Fingerprint
    site: str
    evidence: tuple[float, ...]  # Evidence
    places: bytes
    weights: bytes
    vector: bytes
    told: bool | None = None  # what somebody said of it
    is_seed: bool = False  # that somebody chose
    is_home: bool = False  # the home page of its site
    hosts: int = 0  # that its links lead to
    opinion: float | None = None  # of an adviser
    logit: float = 0.0  # without it, if there is one

    @property
    def row(self) -> CriticRow:
        """The page as critics see it."""
        return CriticRow(
            np.frombuffer(self.places, np.uint16),
            np.frombuffer(self.weights, np.int16),
            np.frombuffer(self.vector, np.float32),
        )


class JudgeSnapshot(msgspec.Struct, frozen=True, array_like=True):
    """Everything that the judge learnt."""

    number: int
    pages: int
    next_fit: int
    sample: list[NotedPage]
    taught: list[NotedPage]
    sites: KeptSites
    middle: float
    words: bytes
    vector: bytes
    quantiles: tuple[float, float]
    likeness: SeedLikeness = SeedLikeness()
    lift: float = 1.0
    kind: SeedKind = SeedKind()
    opinions: list[tuple[float, float]] = []  # logit and opinion of the last pages
