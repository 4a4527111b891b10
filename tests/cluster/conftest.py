"""A PostgreSQL server for the tests of crawls on many machines."""

from pathlib import Path

import pytest

from through_postgres import dsn as dsn
from through_postgres import postgres as postgres

HERE = Path(__file__).parent
SECONDS = 300  # for tests that start ten processes on a machine that is busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SECONDS))
