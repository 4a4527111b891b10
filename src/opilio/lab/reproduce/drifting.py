"""Runs a crawl while its query log grows.

Time is requests, not seconds, so that it can be repeated: after a given number of them
the next queries are written to the log, and a crawl that follows it looks at once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from opilio import settings
from opilio.crawl import Stages
from opilio.crawl.rescoring import Rescoring
from opilio.fetch.replay import ReplayFetch
from opilio.lab.reproduce.interest import Batch
from opilio.lab.runs import Trace
from opilio.lab.trial import Trial, TrialCrawl, conduct
from opilio.records import Lease, Response
from opilio.text import urls
from opilio.topic.file import QueryLog

RESCORED = 5  # pages whose links are re-scored after each request, while any are due
THRESHOLD = 0.05  # of the weight table: a term that one query in ten has counts at once


class Drifting(msgspec.Struct, frozen=True):
    """A trial whose topic is what people ask for."""

    trial: Trial
    log: Sequence[Batch]
    follows: bool  # reads the log again as it grows
    phrases: tuple[str, ...]  # of several words, to be kept together
    rescores: bool = True  # re-scores waiting links as the table changes


class DriftingCrawl(TrialCrawl):
    """A crawl that reads its query log each time the log grows."""

    def __init__(
        self,
        settings: settings.Settings,
        stages: Stages,
        budget: int,
        *,
        log: Path,
        later: Sequence[Batch],
        rescores: bool,
    ) -> None:
        super().__init__(settings, stages, budget)
        if self.rescoring:
            strategy = self.rescoring.strategy
            self.rescoring = ReplayedRescoring(self, strategy) if rescores else None
        self.log = log
        self.later = list(later)

    async def visit(self, lease: Lease) -> int:
        """Visit one link, then read the queries that were added meanwhile."""
        pages = await super().visit(lease)
        while self.later and len(self.requests) >= self.later[0].after:
            write(self.log, self.later.pop(0))
            if self.followed:
                await self.look_again(self.followed)
        for _ in range(RESCORED):
            if self.rescoring and self.rescoring.is_due:
                await self.rescoring.step()
        return pages


class ReplayedRescoring(Rescoring):
    """Reads pages again from the web's own archive: a trial keeps none."""

    def response(
        self, url: str, file: str, offset: int, length: int
    ) -> Response | None:
        """The archived response of a URL."""
        fetch = self.crawl.fetch
        found = isinstance(fetch, ReplayFetch) and fetch.places.get(
            urls.fingerprint(url)
        )
        if not isinstance(fetch, ReplayFetch) or not found:
            return None
        number, place = found
        response = fetch.read(number, place.offset)
        return msgspec.structs.replace(response, url=url)


def conduct_drifting(drifting: Drifting) -> Trace:
    """Run such a trial from its seeds to its end."""
    first, *later = drifting.log
    with tempfile.TemporaryDirectory(prefix="opilio-log-") as folder:
        log = Path(folder) / "queries.txt"
        write(log, first)
        asked = QueryLog(
            file=str(log), threshold=THRESHOLD, phrases=drifting.phrases, every=0
        )
        topic = msgspec.structs.replace(
            drifting.trial.topic, keywords=(), query_log=asked
        )
        trial = msgspec.structs.replace(drifting.trial, topic=topic)
        if not drifting.follows:
            return conduct(trial)
        make = partial(DriftingCrawl, log=log, later=later, rescores=drifting.rescores)
        return conduct(trial, make)


def write(log: Path, batch: Batch) -> None:
    """Queries that were just asked, a line each."""
    with log.open("a", encoding="utf-8") as file:
        file.writelines(f"{query}\n" for query in batch.queries)
