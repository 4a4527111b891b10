"""All frontiers, made by the same call, so that the same tests run on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontier.frontier_play import HandClock, Make, Open
from opilio.cluster.sharing import ShardFrontier
from opilio.frontier.memory import MemoryFrontier
from opilio.frontier.sqlite import SqliteFrontier
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.stage_protocols import Frontier
from opilio.storage.database import open_database
from through_postgres import CurrentDatabase, ThroughPostgres
from through_postgres import emptied_dsn as emptied_dsn
from through_postgres import postgres as postgres
from through_postgres import shared_database as shared_database


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[CurrentDatabase]:
    db = CurrentDatabase(open_database(tmp_path / "crawl.db"))
    db.execute("BEGIN")
    yield db
    db.close()


@pytest.fixture
def journey(
    emptied_dsn: str, db: CurrentDatabase, tmp_path: Path
) -> Iterator[ThroughPostgres]:
    """Takes the crawl.db through PostgreSQL."""
    made = ThroughPostgres(emptied_dsn, db, tmp_path)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgres"])
def reopen(
    request: pytest.FixtureRequest, db: CurrentDatabase, clock: HandClock
) -> Open:
    """Opens the database again, as after a crash right behind a commit, or as the next
    owner of its shards, who makes another one from PostgreSQL."""
    if request.param == "postgres":
        journey: ThroughPostgres = request.getfixturevalue("journey")

    def make(
        politeness: PolitenessSettings | None = None, wall: float = 5e9, **bounds: Any
    ) -> SqliteFrontier:
        opened = SqliteFrontier
        if request.param == "postgres":
            journey.travel()
            opened = ShardFrontier
        made = opened(
            db.now,
            politeness or PolitenessSettings(),
            BoundsSettings(**bounds),
            clock=clock,
            wall=lambda: wall,
        )
        if isinstance(made, ShardFrontier):
            made.shards = journey.held
        return made

    return make


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def make(
    request: pytest.FixtureRequest, db: CurrentDatabase, clock: HandClock
) -> Iterator[Make]:
    """Makes an empty frontier with these bounds, on the hand clock unless told. What
    happened in that of PostgreSQL is recorded there in the end, and compared."""
    if request.param == "postgres":
        journey: ThroughPostgres = request.getfixturevalue("journey")

    def make(
        politeness: PolitenessSettings | None = None, clock: Any = clock, **bounds: Any
    ) -> Frontier:
        manners, limits = politeness or PolitenessSettings(), BoundsSettings(**bounds)
        if request.param == "memory":
            return MemoryFrontier(manners, limits, clock=clock)
        if request.param == "sqlite":
            return SqliteFrontier(db.now, manners, limits, clock=clock)
        made = ShardFrontier(db.now, manners, limits, clock=clock)
        made.shards = journey.held
        flushed.append(made)
        return made

    flushed: list[ShardFrontier] = []
    yield make
    for made in flushed:
        made._ledger.flush(last=False)
    if flushed:
        before = db.execute(LINKS).fetchall(), db.execute(HOSTS).fetchall()
        journey.travel()
        after = db.execute(LINKS).fetchall(), db.execute(HOSTS).fetchall()
        assert after == before


# What a link's next owner must know. Revised promises are computed again from lessons.
LINKS = """
    SELECT url, link.fingerprint, host.name, template,
        CASE state WHEN 'leased' THEN 'waiting' ELSE state END, reason, level, depth,
        redirects, attempts, anchor
    FROM link JOIN host ON host.id = host ORDER BY url
"""
HOSTS = "SELECT name, domain, delay, rest_until, taken, ip FROM host ORDER BY name"
