"""What several tests share."""

import os

# Before numpy is imported: its threads would use several times the CPU of what they
# calculate here. The command `opilio` does the same.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path

import hypothesis
import pytest

from crawling import Crawled, listening
from opilio.lab.synthetic.server import serve
from opilio.read import pool
from warm_commands import start_reader

# Machines are shared: no test fails because an example took long, or its making. The
# same examples are tried each time, so that no change is blamed for what it did not do;
# `pytest --hypothesis-profile roaming` tries others.
SLOW = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "roaming", deadline=None, suppress_health_check=SLOW
)
hypothesis.settings.register_profile(
    "patient", hypothesis.settings.get_profile("roaming"), derandomize=True
)
hypothesis.settings.load_profile("patient")


# Crawls wait for the disk at every commit, and no test needs what survives a power cut.
MEMORY = Path("/dev/shm")
ENOUGH = 4 * 2**30  # bytes; the folders of a run take less than 1 GB
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many workers as cores with `-n auto`: tests often wait for processes,
    servers and disks."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that may take longer than others, so that no worker is left
    alone with them in the end. `--dist worksteal` divides the list into equal parts."""
    first = [item for item in items if may_take_long(item)]
    others = [item for item in items if not may_take_long(item)]
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    left = len(items)
    items.clear()
    for number in range(workers):
        size = left // (workers - number)
        part = first[number::workers]
        items += part + others[: size - len(part)]
        del others[: size - len(part)]
        left -= size


def may_take_long(item: pytest.Item) -> bool:
    """Whether the test has a limit above the usual one."""
    marker = item.get_closest_marker("timeout")
    return bool(marker and marker.args[0] > float(item.config.getini("timeout")))


@pytest.fixture(scope="session", autouse=True)
def warm_readers() -> Iterator[None]:
    """Crawls in this process, too, have readers that need not import anything."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool, "start_process", start_reader)
        yield


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """The messages that Opilio logs during the test."""
    with listening() as messages:
        yield messages


@pytest.fixture
async def crawled(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Crawled]]]:
    """Serve a web and make a folder to crawl it in: `life = await crawled(web)`."""
    servers = []
    numbers = count(1)

    async def start(web, **options) -> Crawled:
        context = serve(web)
        servers.append(context)

        async def stop_server() -> None:
            servers.remove(context)
            await context.__aexit__(None, None, None)

        home = tmp_path / f"home-{next(numbers)}"
        home.mkdir()
        life = Crawled(home, await context.__aenter__(), **options)
        life.stop_server = stop_server
        return life

    yield start
    for context in servers:
        await context.__aexit__(None, None, None)
