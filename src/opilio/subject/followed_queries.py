"""Follows a query log: rebuilds the weight table when the log has grown."""

from __future__ import annotations

from pathlib import Path

import msgspec

from opilio.errors import BadInput
from opilio.topic import QueryLog as Settings
from opilio.topic.query_log import LONGEST, START, LogPosition, QueryLogFile
from opilio.topic.weight_table import QueryWeights

MOST_TOLD = 8  # terms


class Following(msgspec.Struct, frozen=True):
    """How far the log was read, and the resulting table."""

    table: QueryWeights
    place: LogPosition = START


class FollowedLog:
    """The weight table of a topic, rebuilt when its query log has grown."""

    def __init__(self, settings: Settings, language: str) -> None:
        self.every = settings.every
        self.log = QueryLogFile(Path(settings.file))
        self.now = Following(
            QueryWeights(
                alpha=settings.alpha,
                mode=settings.mode,
                threshold=settings.threshold,
                phrases=tuple(settings.phrases),
                language=language,
            )
        )
        self.dumped: Following | None = None

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the terms that people ask for now."""
        return self.now.table.weights()

    @property
    def asked(self) -> list[str]:
        """Some terms that people ask for now, the most frequent first."""
        return list(self.weights)[:MOST_TOLD]

    def build(self) -> dict[str, float]:
        """The first table, from the whole log; BadInput if that gives no term."""
        self.log.require()
        self.now = self.read()
        if not self.weights:
            raise BadInput(f"{self.log.path}: {self.lack()}")
        return self.weights

    def lack(self) -> str:
        """Why no term of the log counts, and what to do."""
        if self.now.table.state:
            return (
                "no term reaches the threshold of [query_log]; lower it, or add queries"
            )
        if lines := self.log.too_long:
            return (
                f"it has no queries, only lines of more than {LONGEST:,} bytes "
                f"({lines:,} of them); write one query per line"
            )
        return "its queries contain only stop words; add others"

    def read(self) -> Following:
        """The table with the queries that are new."""
        table = self.now.table.rebuilt(self.log.new())
        return Following(table, self.log.place)

    def look(self) -> Following | None:
        """What the log says now, if it has grown; changes nothing yet."""
        try:
            return self.read() if self.log.grown() else None
        except OSError:
            return None  # it may be there again next time

    def take(self, news: Following) -> bool:
        """Apply a new state of the log; True if the weights changed.

        If no term reaches the threshold any more, the last weights stay.
        """
        weights = news.table.weights()
        if not weights:
            return False
        changed = weights != self.weights
        self.now = news
        return changed

    def dump(self) -> bytes | None:
        """The table and the place in the log, if they have changed."""
        now = self.now
        if now is self.dumped:
            return None
        self.dumped = now
        return msgspec.json.encode(now)

    def load(self, learnt: bytes) -> None:
        """Restore the state of an earlier run."""
        kept = msgspec.json.decode(learnt, type=Following)
        table = self.now.table.load(kept.table.dump())
        self.now = self.dumped = Following(table, kept.place)
        self.log.place = kept.place
