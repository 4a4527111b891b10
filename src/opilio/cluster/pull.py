"""Copies a crawl from PostgreSQL into a folder, where every command can use it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from opilio.cluster.common import fetch_plan
from opilio.cluster.connection import open_postgres, without_password
from opilio.cluster.load import Loader, load_shards
from opilio.cluster.schema import SHARDS, version_of
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder

AT_ONCE = 2**20  # bytes that are copied together
UP = 3  # from a WARC file of a running worker to the folder of its machine


class PulledCrawl(NamedTuple):
    """What was copied."""

    links: int
    pages: int
    warc_files: int
    warc_bytes: int


class WarcPart(NamedTuple):
    """A WARC file of a worker; what is beyond its length was never recorded."""

    name: str
    length: int
    place: Path


def pull_crawl(dsn: str, folder: CrawlFolder) -> PulledCrawl:
    """Copy the crawl of a database, as of one moment, into a new folder."""
    folder.check_free()
    if folder.exists:
        raise BadInput(f"{folder.path} holds a crawl; choose another folder")
    with open_postgres(dsn) as db:
        if not version_of(db):
            raise BadInput(
                f"{without_password(dsn)} holds no crawl; start one with: opilio crawl "
                "TOPIC.toml --store DSN"
            )
        folder.make()
        folder.lock()
        parts: list[WarcPart] = []

        def load_all(loader: Loader) -> None:
            loader.load_rest()
            rows = loader.source.execute("SELECT name, length, place FROM part")
            parts.extend(WarcPart(name, length, Path(at)) for name, length, at in rows)
            loader.target.executemany(
                "INSERT INTO warc VALUES (?, ?)", [part[:2] for part in parts]
            )
            loader.target.executemany(
                "INSERT INTO event (at, kind, detail) VALUES (?, ?, ?)",
                loader.source.execute("SELECT at, kind, detail FROM event ORDER BY id"),
            )

        try:
            load_shards(db, folder, range(SHARDS), load_all)
            for part in parts:
                copy_part(part, folder.warcs)
            [(links, pages)] = db.execute(
                "SELECT (SELECT count(*) FROM link), (SELECT count(*) FROM page)"
            ).fetchall()
            copied = PulledCrawl(links, pages, len(parts), sum(p.length for p in parts))
            database, draft = folder.database, folder.path / "crawl.new"
            database.rename(draft)  # `fetch_plan` writes only where there is no crawl
            fetch_plan(db, folder)
            draft.rename(database)
        except BaseException:
            folder.clear()
            raise
        finally:
            folder.unlock()
    return copied


def copy_part(part: WarcPart, target: Path) -> None:
    """Copy what was recorded of a WARC file."""
    place = part.place
    if not place.exists() and len(place.parents) > UP:
        place = place.parents[UP] / "warc" / part.name  # it was sealed meanwhile
    if not place.exists() or place.stat().st_size < part.length:
        raise BadInput(
            f"{part.place} is not on this machine; copy it from the machine of its "
            "worker to the same path, or mount that folder there, and try again"
        )
    with place.open("rb") as source, (target / part.name).open("wb") as copy:
        left = part.length
        while left:
            some = source.read(min(AT_ONCE, left))
            if not some:
                raise BadInput(f"{place} became shorter while it was copied; try again")
            copy.write(some)
            left -= len(some)
    shutil.copystat(place, target / part.name)
