"""Yang's equations that score links by the counts of a website's pages.

Yang, A Website Model-Supported Focused Crawler for Search Agents:

    (1) ULScore(U,F) = W_F·S_F(U)              W: search string 3, model 2, extracted 1
    (2) R_S,D    = N_S,D / N_S
    (3) S_2(U)   = Σ_C R_S,D·(1 - P_S,D(C))    inside S; only where P_S,D(C) ≠ 0
    (4) P_S,D(C) = N_S,C / N_S,D
    (5) S_2(U)   = Anchor(U,D)
    (6) S_2(U)   = Σ_C Anchor(U,C)·R_S,D·P_S,D(C)
    (7) S_2(U)   = R_S,D·W_T                   W: com 0.62, net and org 0.32, edu 0.08,
                                               gov 0.07

Symbols: U link; F how it was found; S website; D domain, the concepts that are sought;
C one of them; N_S pages of S, N_S,D those that belong to D, N_S,C those of these that
have C among their THW most frequent concepts; Anchor(U,C) times that the anchor of U
names C; T type of a website.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import IntEnum

import msgspec

THW = 5  # main concepts of a page; papers.md C.5-11
SMOOTHING = 2.0  # α: the weight of the mean of all pages, in pages


class Source(IntEnum):
    """How a link was found: F of table 1."""

    SEARCH = 1  # a search string
    MODEL = 2  # a link of a page that the models know
    EXTRACTED = 3  # a link that was found on a page


WEIGHTS = {Source.SEARCH: 3.0, Source.MODEL: 2.0, Source.EXTRACTED: 1.0}  # W_F
SEARCH_SCORE = 100.0  # S_1
NEW_SCORE, KNOWN_SCORE = 1.0, 0.5  # S_3


def ul_score(source: Source, score: float) -> float:
    """(1)"""
    return WEIGHTS[source] * score


class SiteCounts:
    """The counts of a website: N_S, N_S,D and N_S,C for each C."""

    def __init__(self) -> None:
        self.pages = 0
        self.in_domain = 0
        self.concepts: Counter[str] = Counter()

    def add(self, in_domain: bool, concepts: Iterable[str]) -> None:
        """Count a page with its main concepts; figure 6."""
        self.pages += 1
        if in_domain:
            self.in_domain += 1
            self.concepts.update(concepts)

    def remove(self, in_domain: bool, concepts: Iterable[str]) -> None:
        """Remove a page from the counts."""
        self.pages -= 1
        if in_domain:
            self.in_domain -= 1
            self.concepts -= Counter(concepts)


def main_concepts(counts: Mapping[str, int], most: int) -> list[str]:
    """The `most` concepts that a page names most often: OntoCon(THW, P)."""
    return sorted(counts, key=lambda concept: (-counts[concept], concept))[:most]


class Profile(msgspec.Struct, frozen=True, gc=False):
    """The relation of a website to the domain."""

    relation: float  # R_S,D
    proportions: Mapping[str, float]  # P_S,D(C), where it is not 0

    def gap(self, concepts: int | None = None) -> float:
        """(3); with the number of all concepts of D, those with P = 0 count too."""
        terms = len(self.proportions) if concepts is None else concepts
        return self.relation * (terms - sum(self.proportions.values()))

    def outbound(self, anchor: Mapping[str, float]) -> float:
        """(6), for the Anchor(U,C) of each C that the anchor names."""
        proportions = self.proportions
        return self.relation * sum(
            count * proportions.get(concept, 0.0) for concept, count in anchor.items()
        )


def literal_profile(site: SiteCounts) -> Profile:
    """(2) and (4); all is 0 where they divide by 0."""
    return Profile(
        site.in_domain / site.pages if site.pages else 0.0,
        {concept: n / site.in_domain for concept, n in site.concepts.items()},
    )


def smoothed_profile(
    site: SiteCounts, everything: SiteCounts, concepts: Iterable[str]
) -> Profile:
    """(2) and (4), shrunk to the shares of all pages of the crawl while there are few.

    R = (N_S,D + α·π)/(N_S + α), π = (n_D + 1)/(n + 2) over all pages of the crawl; and
    P likewise. What has never been seen is as likely as not.
    """
    likely = (everything.in_domain + 1) / (everything.pages + 2)
    share = 1 / (everything.in_domain + 2)
    return Profile(
        (site.in_domain + SMOOTHING * likely) / (site.pages + SMOOTHING),
        {
            concept: (
                site.concepts[concept]
                + SMOOTHING * share * (everything.concepts[concept] + 1)
            )
            / (site.in_domain + SMOOTHING)
            for concept in concepts
        },
    )


class WebType(IntEnum):
    """The type of a website by its name: T."""

    OTHER = 0
    COM = 1
    NET = 2
    EDU = 3
    GOV = 4
    ORG = 5


REFRESH_WEIGHTS = {  # W_T of table 2, which has none for others
    WebType.COM: 0.62,
    WebType.NET: 0.32,
    WebType.ORG: 0.32,
    WebType.EDU: 0.08,
    WebType.GOV: 0.07,
    WebType.OTHER: 0.08,
}
LABELS = {
    "com": WebType.COM,
    "co": WebType.COM,
    "net": WebType.NET,
    "edu": WebType.EDU,
    "ac": WebType.EDU,
    "gov": WebType.GOV,
    "org": WebType.ORG,
}


def web_type(host: str) -> WebType:
    """The type of the website at a host; under a country, its second label tells.

    >>> web_type("www.iitd.ac.in").name
    'EDU'
    """
    labels = host.partition(":")[0].split(".")
    is_country = len(labels[-1]) == 2
    label = labels[-2] if is_country and len(labels) > 2 else labels[-1]
    if is_country and len(labels) <= 2:
        return WebType.OTHER
    return LABELS.get(label, WebType.OTHER)
