"""The records of the lab: tasks, visits and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from opilio.lab.conditions import ONE_AT_A_TIME, Conditions


class LabTask(msgspec.Struct, frozen=True, kw_only=True):
    """One crawl to be tried; two with the same fields give the same order of pages."""

    web: str  # its name
    topic: str  # its name in that web, or the path of its file
    strategy: str  # with options, as written: blocks,mode=paper
    judge: str  # perfect: the true labels
    seeds_mode: str = "near"  # near, far or home
    repeat: int = 0  # number of the repetition, from 0: other seeds, other chance
    examples: int = 0  # relevant pages that the crawl is given before it starts
    counterexamples: int = 0  # irrelevant ones
    labels: int = 0  # given while it runs, at most
    conditions: Conditions = ONE_AT_A_TIME


class LabVisit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A request of a crawl, and how it ended."""

    url: str
    state: str  # kept, irrelevant, copy or unusable, by the crawler's own judge
    reason: str = ""  # redirect, http_404, …
    score: float | None = (
        None  # of the crawler's judge; None: there was nothing to judge
    )
    depth: int = 0  # links followed from a seed
    via: int = -1  # the visit whose page it was found on; -1: a seed


class TaughtLabel(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A label that was given while a crawl ran."""

    request: int  # after so many
    url: str
    relevant: bool


class Estimated(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The crawl's own estimate of how many relevant pages were left."""

    request: int  # after so many
    found: float
    left: float
    low: float
    high: float
    recapture: float


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one crawl did, recorded without any label."""

    visits: Sequence[LabVisit]  # every request that was answered, in order
    ended: str  # budget, or exhausted: nothing was left to visit
    cpu_seconds: float  # of deciding; reading pages is shared and not in it
    taught: Sequence[TaughtLabel] = ()  # labels that it was given, in order
    seconds: float = 0.0  # of simulated time
    estimates: tuple[Estimated, ...] = ()  # every ten requests, if the strategy can


class Measures(msgspec.Struct, frozen=True, kw_only=True):
    """How good an order of requests was; equations in opilio/lab/measures.py."""

    harvest: float  # targets found / requests
    recall: float  # targets found / R
    aurc: float  # mean recall over the first 3·R requests
    recall_2R: float  # noqa: N815 - after 2·R requests
    recall_50: float  # after the first 50 requests
    recall_R: float  # noqa: N815 - after R requests
    recall_3R: float  # noqa: N815 - after 3·R requests
    precision_50: float  # targets found among the first 50 requests / their number
    pages_to_50: int | None  # requests until half of R; None: never
    pages_to_80: int | None
    pages_to_90: int | None
    target_length: float | None  # links from a seed, median over the targets found
    unfound: int  # targets that were not
    through_irrelevant: float | None  # share of the targets found that were found there
    wasted: float  # share of requests that brought no new page


class HalfWay(msgspec.Struct, frozen=True, kw_only=True):
    """The estimate of what is left when half of R was found, and the true figures."""

    request: int  # that found it
    found: float  # as the crawl itself counted
    left: float
    low: float
    high: float
    truth: int  # targets not found by then
    error: float  # of found + left, relative to R
    left_error: float | None  # of left; None: nothing was


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a task: one row of runs.jsonl."""

    task: LabTask
    budget: int  # requests at most
    seeds: Sequence[str]
    R: int  # relevant pages that can be reached from the seeds
    requests: int
    ended: str
    cpu_ms: float  # a request
    measures: Measures
    oracle: Measures  # what the oracle reaches with the same seeds and budget
    of_oracle: Mapping[str, float]  # measure -> ours / the oracle's
    found_at: Sequence[int]  # numbers of the requests that found a new target, from 1
    oracle_found_at: Sequence[int]
    hours: float = 0.0  # of simulated time that the crawl took
    examples: Sequence[str] = ()  # pages that it was given; they count as no target
    counterexamples: Sequence[str] = ()
    half_way: HalfWay | None = None  # None: no estimate, or half of R was never found
    labels_given: int = 0  # 0: neither judge nor strategy learns from labels


class WebFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A web of a comparison."""

    name: str
    title: str
    pages: int
    links: int


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared and how: comparison.json, and the end of the report."""

    command: str
    web: str  # its name; of several, all of them
    title: str
    pages: int  # of all webs
    links: int
    webs: Sequence[WebFacts] = ()  # each of them
    versions: Mapping[str, str]  # opilio, python, numpy, …
    started: str  # ISO 8601
    seconds: float  # of wall time, this time
    cores: int
    conditions: str = str(ONE_AT_A_TIME)
