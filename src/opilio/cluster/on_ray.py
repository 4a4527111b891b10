"""Runs workers as actors of a Ray cluster, and starts those that died again.

Ray only starts processes: the crawl is in PostgreSQL, and a worker that starts again
joins it like any other.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import load_plan
from opilio.cluster.common import fetch_plan, set_once
from opilio.cluster.connection import may_pass, open_postgres
from opilio.cluster.parts import WorkFolders
from opilio.cluster.worker import Worker
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder
from opilio.subject.stored_subject import load_subject

LOOK_EVERY = 2.0  # seconds
GRACE = 60.0  # seconds for workers to end once the crawl has
ENDS = ("budget", "exhausted", "interrupted")  # of the whole crawl

_WORKERS = """
    SELECT id, name, pages, kept FROM worker JOIN progress ON worker = id
    WHERE ended IS NULL AND until > clock_timestamp() ORDER BY id
"""
_TOTAL = "SELECT coalesce(sum(pages), 0), coalesce(sum(kept), 0) FROM progress"


class LiveWorker(NamedTuple):
    """A worker that renews its lease."""

    id: int
    name: str  # machine and process
    pages: int
    kept: int


class ClusterState(NamedTuple):
    """How a crawl on a cluster stands."""

    workers: list[LiveWorker]
    wanted: int
    pages: int
    kept: int


class WorkerActor:
    """A worker in a process of Ray."""

    def __init__(self, dsn: str, home: str, variables: Mapping[str, str]) -> None:
        os.environ.update(variables)
        self.dsn = dsn
        self.home = Path(home)

    def run(self) -> str:
        """Work until the crawl ends; returns why."""
        folder = CrawlFolder(self.home)
        with open_postgres(self.dsn) as db, WorkFolders(self.home).alone():
            fetch_plan(db, folder)
            plan, subject = load_plan(folder), load_subject(folder.subject)

        async def watch(_: object) -> None:
            await asyncio.Event().wait()

        async def work() -> str:
            return await Worker(self.dsn, plan, subject, self.home).run(watch)

        return run_loop(work())


def ray_library() -> Any:
    """The module ray; BadInput if it is not installed."""
    try:
        import ray
    except ImportError:
        raise BadInput(
            "--on ray needs Ray; install it with: pip install 'opilio[ray]'"
        ) from None
    return ray


def run_on_ray(
    dsn: str,
    home: Path,
    count: int,
    address: str,
    show: Callable[[ClusterState], None],
) -> str:
    """Run so many workers until the crawl ends; returns why. The crawl must be in the
    database already."""
    ray = ray_library()
    ray.init(address=address or None, ignore_reinit_error=True, log_to_driver=False)
    # Variables of PostgreSQL's clients are arguments, since Ray shows its environments.
    variables = {
        name: value for name, value in os.environ.items() if name.startswith("PG")
    }
    make = ray.remote(
        max_restarts=-1, max_task_retries=-1, num_cpus=1, scheduling_strategy="SPREAD"
    )(WorkerActor)
    actors = [make.remote(dsn, str(home.absolute()), variables) for _ in range(count)]
    running = [actor.run.remote() for actor in actors]
    states = _states(dsn, count)
    try:
        return _await_end(ray, running, states, show)
    except KeyboardInterrupt:
        with open_postgres(dsn) as db:
            set_once(db, "ended", b"interrupted")
        return "interrupted"
    finally:
        # Actors that wait for a machine never end; workers do.
        until = time.monotonic() + GRACE
        while time.monotonic() < until and (state := next(states)) and state.workers:
            time.sleep(LOOK_EVERY / 4)
        for actor in actors:
            ray.kill(actor)


def _await_end(
    ray: Any,
    running: list[Any],
    states: Iterator[ClusterState | None],
    show: Callable[[ClusterState], None],
) -> str:
    """Wait until a worker says that the whole crawl has ended, or all have ended."""
    left, reason = list(running), ""
    while left:
        done, left = ray.wait(left, timeout=LOOK_EVERY)
        for one in done:
            reason = str(ray.get(one))
            if reason in ENDS:
                return reason
        if state := next(states):
            show(state)
    return reason


def _states(dsn: str, count: int) -> Iterator[ClusterState | None]:
    """How the crawl stands, again and again; None while the server is away."""
    db = None
    while True:
        try:
            db = db or open_postgres(dsn, retry=True)
            rows = db.execute(_WORKERS).fetchall()
            [(pages, kept)] = db.execute(_TOTAL).fetchall()
        except Exception as error:
            if not may_pass(error, db):
                raise
            db = None
            time.sleep(LOOK_EVERY)
            yield None
        else:
            live = [LiveWorker(*row) for row in rows]
            yield ClusterState(live, count, int(pages), int(kept))
