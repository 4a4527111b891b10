"""Copies a crawl from a folder into PostgreSQL, where workers continue it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from opilio.assembly.plan import load_plan
from opilio.cluster.common import GATHERED, PLAN, SEEDS, SUBJECT
from opilio.cluster.connection import open_postgres, without_password
from opilio.cluster.folder_tables import copy_in, push_rest
from opilio.cluster.part_places import PartTarget, crawl_id
from opilio.cluster.schema import LOCK, make_ready
from opilio.cluster.shards import shard_of
from opilio.cluster.tables import EDGES, TABLES
from opilio.errors import BadInput
from opilio.storage.database import Database, open_database
from opilio.storage.promise_log import copy_all
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import file_in

if TYPE_CHECKING:
    import psycopg

KEYS = {
    "host": "SELECT id AS key FROM host",
    "standing": "SELECT domain AS key FROM standing",
    "domain_words": "SELECT domain AS key FROM domain_words",
    "robots": "SELECT origin AS key FROM robots",
    "tdmrep": "SELECT origin AS key FROM tdmrep",
    "link": "SELECT id AS key FROM link",
    "page": "SELECT id AS key FROM page",
    "extracted": "SELECT id AS key FROM extracted",
    "indexed": "SELECT entry AS key FROM indexed WHERE page <> 0",
    "page_profile": "SELECT id AS key FROM page_profile",
    "site": "SELECT host AS key FROM site",
}
# Tables whose rows are numbered, and their order if it is not the usual one.
NUMBERED = {"host": "host.id", "link": "", "page": "", "indexed": ""}
_FIRST_SEEDS = "SELECT url, promise FROM link WHERE found_on = 0 AND depth = 0"
_COUNTS = """
    SELECT count(*), coalesce(sum(relevant), 0) FROM page
    WHERE status BETWEEN 200 AND 299
"""
_IS_THERE = """
    SELECT EXISTS (SELECT 1 FROM setting WHERE name = 'plan')
        OR EXISTS (SELECT 1 FROM worker) OR EXISTS (SELECT 1 FROM link)
"""
WORKER_NUMBER = re.compile(r"(\d{5,})-\d{3,}-")  # at the beginning of a worker's part

Tell = Callable[[str], None]


class PushedCrawl(NamedTuple):
    """What was copied."""

    links: int
    pages: int
    warc_files: int
    warc_bytes: int


def push_crawl(
    folder: CrawlFolder, dsn: str, tell: Tell = lambda _: None
) -> PushedCrawl:
    """Copy the crawl of a folder into a database that has none. All rows come in one
    transaction, after the WARC files: if it is killed, repeat it."""
    plan = load_plan(folder.require())
    if plan.replay:
        raise BadInput("a replay needs no other machines; it stays in its folder")
    folder.lock()
    try:
        with open_postgres(dsn) as db, closing(open_database(folder.database)) as crawl:
            db.execute("SELECT pg_advisory_lock(%s)", (LOCK,))  # until it is closed
            make_ready(db)
            require_empty(db, dsn)
            crawl.begin()
            copy_all(crawl)
            warc = plan.store.warc
            target = PartTarget(warc, crawl_id(db)) if warc else None
            places = place_parts(crawl, folder, target, tell)
            tell("Copying the rows.")
            with db.transaction():
                db.execute("LOCK TABLE setting IN EXCLUSIVE MODE")
                require_empty(db, dsn)
                return Pusher(crawl, db, folder).push(places)
            # What `copy_all` did is dropped: the folder stays as it was.
    finally:
        folder.unlock()


def require_empty(db: psycopg.Connection, dsn: str) -> None:
    """Raise BadInput if the database has a crawl."""
    [(is_there,)] = db.execute(_IS_THERE).fetchall()
    if is_there:
        raise BadInput(
            f"{without_password(dsn)} holds a crawl already; choose another database"
        )


def place_parts(
    crawl: Database, folder: CrawlFolder, target: PartTarget | None, tell: Tell
) -> dict[str, tuple[int, str]]:
    """Copy the WARC files to where they shall stay, if that is elsewhere; returns
    their lengths and places. What an earlier try has copied stays."""
    places = {}
    for name, length in crawl.execute("SELECT name, length FROM warc").fetchall():
        path = file_in(folder.warcs, name)
        if not path.is_file() or path.stat().st_size < length:
            raise BadInput(f"{path} is missing or too short; see: opilio doctor DIR")
        if target:
            tell(f"Copying {name}.")
            place = target.add(path, name, length)
        else:
            place = str(path.absolute())
        places[name] = (length, place)
    return places


class Pusher:
    """Copies the rows, in one transaction."""

    def __init__(
        self, source: Database, target: psycopg.Connection, folder: CrawlFolder
    ) -> None:
        self.source = source
        self.target = target
        self.folder = folder

    def push(self, places: dict[str, tuple[int, str]]) -> PushedCrawl:
        """Copy everything; returns what it was."""
        counts = {}
        for table in TABLES:
            view = f"all_{table.name}"
            self.source.execute(f"CREATE TEMP VIEW {view} AS {KEYS[table.name]}")
            is_numbered = table.name in NUMBERED
            query = table.rows(view, NUMBERED.get(table.name, ""))
            rows = self.sharded(query, is_numbered)
            columns = ("shard", *table.columns, *(["number"] if is_numbered else []))
            counts[table.name] = copy_in(self.target, table.name, columns, rows)
        self.edges()
        self.settings()
        self.parts(places)
        push_rest(self.source, self.target, self.folder)
        self.go_on_counting()
        lengths = [length for length, _ in places.values()]
        return PushedCrawl(counts["link"], counts["page"], len(lengths), sum(lengths))

    def sharded(self, query: str, is_numbered: bool) -> Iterator[tuple[Any, ...]]:
        """Rows with their shards first, and their places in the order last."""
        rows = self.source.execute(query, {"prefix": ""})
        for number, (host, *cells) in enumerate(rows, 1):
            yield (shard_of(host), *cells, *([number] if is_numbered else []))

    def edges(self) -> None:
        """Copy the links of pages: one row a page."""
        import json

        self.source.execute("CREATE TEMP VIEW all_edge AS SELECT page, link FROM edge")
        rows = self.source.execute(EDGES.format(changed="all_edge"))
        copy_in(
            self.target,
            "edges",
            ("shard", "page", "links"),
            ((shard_of(host), page, json.loads(links)) for host, page, links in rows),
        )

    def settings(self) -> None:
        """Copy plan, subject and seeds."""
        import json

        seeds = dict(self.source.execute(_FIRST_SEEDS).fetchall())
        values = [
            (PLAN, self.folder.settings.read_bytes()),
            (SEEDS, json.dumps(seeds).encode()),
            (GATHERED, b"yes"),
        ]
        if self.folder.subject.is_file():
            values.append((SUBJECT, self.folder.subject.read_bytes()))
        copy_in(self.target, "setting", ("name", "value"), iter(values))

    def parts(self, places: dict[str, tuple[int, str]]) -> None:
        """Enter the WARC files; the folder counts as a worker that has ended, so that
        its pages count against the budget."""
        [(pages, kept)] = self.source.execute(_COUNTS).fetchall()
        numbers = (WORKER_NUMBER.match(name) for name in places)
        last = max((int(found[1]) for found in numbers if found), default=0)
        self.target.execute(
            "SELECT setval(pg_get_serial_sequence('worker', 'id'), %s)", (last + 1,)
        )
        [(worker,)] = self.target.execute(
            "INSERT INTO worker (name, until, ended) "
            "VALUES ('push', clock_timestamp(), 'pushed') RETURNING id"
        ).fetchall()
        self.target.execute(
            "INSERT INTO progress (worker, pages, kept) VALUES (%s, %s, %s)",
            (worker, pages, kept),
        )
        rows = (
            (name, worker, length, place, True)
            for name, (length, place) in places.items()
        )
        columns = ("name", "worker", "length", "place", "is_sealed")
        copy_in(self.target, "part", columns, rows)

    def go_on_counting(self) -> None:
        """Let new rows have greater numbers than those that were copied."""
        for table in NUMBERED:
            self.target.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), "
                f"(SELECT coalesce(max(number), 0) + 1 FROM {table}))".encode()
            )
