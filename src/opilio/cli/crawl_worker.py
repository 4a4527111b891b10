"""`opilio crawl --store`: works on a crawl that many machines share."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Options, Plan
from opilio.assembly.prepare import prepare
from opilio.cli.crawl_inputs import check_seeds, choose_plan, keyword_warnings
from opilio.cli.display import Reporter, is_terminal, show_trouble
from opilio.cli.ending import ENDINGS, nothing_answered
from opilio.cli.error_messages import told
from opilio.cluster.common import add_seeds, fetch_plan, share_plan, share_subject
from opilio.cluster.connection import open_postgres, require_dsn, without_password
from opilio.cluster.part_places import PartTarget
from opilio.cluster.parts import WorkFolders
from opilio.cluster.schema import make_ready
from opilio.cluster.worker import Worker
from opilio.crawl import CrawlLoop
from opilio.errors import OpilioError
from opilio.limits.contact import require_contact
from opilio.records import SEED_PROMISE, Subject
from opilio.store.folder import CrawlFolder
from opilio.topic import where_to

FIRST_SEEDS = """
    SELECT url, state, reason FROM link WHERE depth = 0 ORDER BY number LIMIT 5
"""


class Given(NamedTuple):
    """What the command line says."""

    topic: Path
    output: Path | None  # where this machine's WARC files go
    settings: Path | None
    options: Options
    seeds: tuple[str, ...]
    quiet: bool


def work_on(dsn: str, given: Given) -> int:
    """Begin a crawl in a database, or join it; returns the exit code."""
    require_dsn(dsn)
    home = given.output or Path(f"{given.topic.stem}-crawl")
    with told(home):
        plan, subject = agree(dsn, home, given)
        return run_loop(work(dsn, plan, subject, home, given.quiet))


def agree(dsn: str, home: Path, given: Given) -> tuple[Plan, Subject]:
    """The plan and the subject that all workers have; the first one decides."""
    folder = CrawlFolder(home)
    with open_postgres(dsn) as db, WorkFolders(home).alone():
        make_ready(db)
        fetch_plan(db, folder)
        _, plan = choose_plan(given.topic, home, given.settings, given.options, False)
        for warning in keyword_warnings(plan.topic):
            show_trouble(warning)
        if plan.store.warc:
            PartTarget(plan.store.warc, "")  # raises before anything is shared
        subject = prepare(plan, folder)
        seeds = check_seeds(given.seeds, plan.topic, folder, False)
        require_contact(plan.fetch, where_to(plan.topic, seeds))
        share_plan(db, plan, folder)
        subject = share_subject(db, subject, folder)
        add_seeds(db, dict.fromkeys(seeds, SEED_PROMISE))
    return plan, subject


async def work(dsn: str, plan: Plan, subject: Subject, home: Path, quiet: bool) -> int:
    """Work until the crawl ends or a signal comes; returns the exit code."""
    worker = Worker(dsn, plan, subject, home)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, worker.stop, "interrupted")

    async def watch(crawl: CrawlLoop) -> None:
        async with Reporter(crawl, plan.topic.name, quiet=quiet):
            await asyncio.Event().wait()

    reason = await worker.run(watch)
    if reason in ("exhausted", "resting"):
        require_pages(dsn, plan)
    if is_terminal(sys.stdout):
        print(f"{worker.pages:,} pages, {worker.kept:,} relevant by this worker.")
        print(f"Stopped: {ENDINGS[reason]}.")
        print(f"  opilio status {without_password(dsn)}")
    else:
        figures = {
            "store": without_password(dsn),
            "worker": worker.shards.worker,
            "pages": worker.pages,
            "kept": worker.kept,
            "rounds": worker.rounds,
            "ended": reason,
        }
        print(json.dumps(figures))
    return 130 if reason == "interrupted" else 0


def require_pages(dsn: str, plan: Plan) -> None:
    """Raise OpilioError if all workers together have found no page."""
    with open_postgres(dsn) as db:
        if db.execute("SELECT 1 FROM page LIMIT 1").fetchone():
            return
        rows = db.execute(FIRST_SEEDS).fetchall()
    raise OpilioError(nothing_answered(rows, plan.bounds))
