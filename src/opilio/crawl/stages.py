"""The parts of a crawl, and the tally of what it has done."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from opilio.limits.scope import Scope
from opilio.protocols import Adviser, Judge, Learner, Strategy
from opilio.records import Clock
from opilio.store.store import Store

if TYPE_CHECKING:
    from opilio.crawl.rendering import Rendering
    from opilio.fetch.tdm_files import TdmFiles
    from opilio.stage_protocols import (
        Fetch,
        Frontier,
        Profiles,
        QueryJudges,
        Readers,
        Sharing,
        TopicUpdates,
    )


class FoundPage(NamedTuple):
    """A relevant page, as the live display shows it."""

    score: float
    title: str
    url: str


@dataclass
class Tally:
    """What this run has done so far."""

    started: float = field(default_factory=time.monotonic)
    pages: int = 0
    kept: int = 0
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=100))
    found: deque[FoundPage] = field(default_factory=lambda: deque(maxlen=10))

    def count(self, kept: bool) -> None:
        """Count one more page."""
        self.pages += 1
        self.kept += kept
        self.recent.append(kept)


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The parts of a crawl, in the order in which a link passes through them."""

    scope: Scope
    frontier: Frontier
    fetch: Fetch
    readers: Readers
    judge: Judge
    strategy: Strategy
    store: Store
    tdm: TdmFiles | None = None  # fetches tdmrep.json of sites with kept pages
    rendering: Rendering | None = None  # runs the scripts of pages
    learners: Mapping[str, Learner] = field(default_factory=dict)
    followed: TopicUpdates | None = None  # for a topic that changes
    query_judges: QueryJudges | None = None  # of pages that are fetched for a query
    adviser: Adviser | None = None  # on pages that the judge is unsure of
    profiles: Profiles | None = None  # of pages and of their sites
    grow_index: Callable[[], None] | None = None  # indexes what was committed
    sharing: Sharing | None = None  # with other workers
    clock: Clock = time.monotonic
