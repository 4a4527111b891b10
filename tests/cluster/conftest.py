"""A PostgreSQL server for the tests of crawls on many machines."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.postgres_server import BINARIES, PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests; a socket's path must be short."""
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed")
    home = Path(tempfile.mkdtemp(prefix="pg-"))
    home.chmod(0o755)
    server = PostgresServer(home / "s")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(home)


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    """A new database."""
    return postgres.database()
