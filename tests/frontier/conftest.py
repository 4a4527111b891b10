"""Both frontiers, made by the same call, so that the same tests run on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontier.frontier_play import HandClock, Make, Open
from opilio.frontier.memory import MemoryFrontier
from opilio.frontier.sqlite import SqliteFrontier
from opilio.protocols import Frontier
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import open_database


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    db = open_database(tmp_path / "crawl.db")
    db.execute("BEGIN")
    yield db
    db.close()


@pytest.fixture
def reopen(db: sqlite3.Connection, clock: HandClock) -> Open:
    """Opens the database anew, as after a crash right behind a commit."""

    def make(
        politeness: PolitenessSettings | None = None, wall: float = 5e9, **bounds: Any
    ) -> SqliteFrontier:
        return SqliteFrontier(
            db,
            politeness or PolitenessSettings(),
            BoundsSettings(**bounds),
            clock=clock,
            wall=lambda: wall,
        )

    return make


@pytest.fixture(params=["memory", "sqlite"])
def make(
    request: pytest.FixtureRequest, db: sqlite3.Connection, clock: HandClock
) -> Make:
    """Makes an empty frontier with these bounds, on the hand clock unless told."""

    def make(
        politeness: PolitenessSettings | None = None, clock: Any = clock, **bounds: Any
    ) -> Frontier:
        manners, limits = politeness or PolitenessSettings(), BoundsSettings(**bounds)
        if request.param == "memory":
            return MemoryFrontier(manners, limits, clock=clock)
        return SqliteFrontier(db, manners, limits, clock=clock)

    return make
