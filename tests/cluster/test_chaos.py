"""Workers are killed, stopped and come late; every page is recorded once all the same.

bench/chaos.py does more of this, with the database killed too.
"""

import asyncio
from pathlib import Path

import pytest
from bench.chaos import Storm, weather
from bench.postgres_server import PostgresServer


@pytest.mark.timeout(240)
def test_no_page_is_lost_or_recorded_twice(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    storm = Storm(kills=1, stops=1, sleeps=True, pages=250)
    outcome = asyncio.run(weather(tmp_path, postgres, storm))
    assert outcome.faults["kill"] == outcome.faults["stop"] == 1
    assert outcome.lost, "no worker lost its shards, so the fence was not tested"
    assert not outcome.missing and not outcome.extra
    assert outcome.recorded == outcome.distinct == outcome.expected > 250
    assert outcome.left_open == 0
    assert not outcome.hurried


@pytest.mark.timeout(240)
def test_without_fences_pages_are_recorded_twice(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    storm = Storm(stops=2, sleeps=True, pages=250, fenced=False, limit=150)
    outcome = asyncio.run(weather(tmp_path, postgres, storm))
    assert outcome.recorded > outcome.distinct
