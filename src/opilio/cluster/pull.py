"""Copies a crawl from PostgreSQL into a folder, where every command can use it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from opilio.assembly.event_loop import run_loop
from opilio.cluster.common import fetch_plan
from opilio.cluster.connection import open_postgres, without_password
from opilio.cluster.load import Loader, load_shards
from opilio.cluster.part_places import beginning
from opilio.cluster.relearn import learn_again
from opilio.cluster.schema import SHARDS, require_crawl
from opilio.errors import BadInput
from opilio.storage.warc_places import is_url, open_files
from opilio.store.folder import CrawlFolder

DRAFT = ".pulling"  # end of the folder's name until it is complete


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
    place: str


def pull_crawl(dsn: str, folder: CrawlFolder) -> PulledCrawl:
    """Copy the crawl of a database, as of one moment, into a new folder. If this is
    killed, repeat it: the WARC files that were copied stay."""
    folder.check_free()
    if folder.exists:
        raise BadInput(f"{folder.path} holds a crawl; choose another folder")
    draft = CrawlFolder(folder.path.absolute().with_name(folder.path.name + DRAFT))
    with open_postgres(dsn) as db:
        require_crawl(db, without_password(dsn))
        draft.make()
        draft.lock()
        try:
            clear_rows(draft)
            fetch_plan(db, draft)
            parts: list[WarcPart] = []
            heads: dict[int, int] = {}

            def load_all(loader: Loader) -> None:
                loader.load_rest()
                rows = loader.source.execute(
                    "SELECT name, length, place FROM part WHERE NOT is_lost"
                )
                parts.extend(map(WarcPart._make, rows))
                told = "SELECT worker, lessons FROM progress"
                heads.update(loader.source.execute(told))
                loader.target.executemany(
                    "INSERT INTO warc VALUES (?, ?)", [part[:2] for part in parts]
                )

            load_shards(db, draft, range(SHARDS), load_all)
            for part in parts:
                copy_part(part, places_now(dsn, part), draft.warcs)
            copied = count(draft, parts)
        finally:
            draft.unlock()
    if any(heads.values()):
        run_loop(learn_again(dsn, draft, heads))
    finish(draft, folder)
    return copied


def clear_rows(draft: CrawlFolder) -> None:
    """Delete what an interrupted pull has left, but for the WARC files."""
    kept = {draft.warcs, draft.path / "lock"}
    for path in draft.path.iterdir():
        if path.is_dir() and path not in kept:
            shutil.rmtree(path)
        elif path not in kept:
            path.unlink()


def count(draft: CrawlFolder, parts: list[WarcPart]) -> PulledCrawl:
    """What was copied."""
    from opilio.store.lookup import opened

    with opened(draft) as db:
        [links] = db.execute("SELECT count(*) FROM link").fetchone()
        [pages] = db.execute("SELECT count(*) FROM page").fetchone()
    return PulledCrawl(links, pages, len(parts), sum(part.length for part in parts))


def finish(draft: CrawlFolder, folder: CrawlFolder) -> None:
    """Give the folder its name."""
    shutil.rmtree(draft.index, ignore_errors=True)
    (draft.path / "lock").unlink(missing_ok=True)
    if folder.path.is_dir():  # empty, or left by a crawl that was killed at its start
        shutil.rmtree(folder.path)
    draft.path.rename(folder.path)


def places_now(dsn: str, part: WarcPart) -> str:
    """Where a part is by now: it may have been sealed since it was looked up."""
    if is_url(part.place) or Path(part.place).exists():
        return part.place
    with open_postgres(dsn) as db:
        rows: Mapping[str, str] = dict(
            db.execute("SELECT name, place FROM part WHERE name = %s", (part.name,))
        )
    return rows.get(part.name, part.place)


def copy_part(part: WarcPart, place: str, target: Path) -> None:
    """Copy what was recorded of a WARC file, unless it is there."""
    file = target / part.name
    if file.exists() and file.stat().st_size == part.length:
        return
    draft = file.with_name(f"{file.name}.new")
    try:
        if is_url(place):
            files, path = open_files(place)
            files.get_file(path, str(draft))
        else:
            with draft.open("wb") as copy:
                for some in beginning(Path(place), part.length):
                    copy.write(some)
    except (OSError, ValueError) as error:
        raise missing(part, place) from error
    if draft.stat().st_size < part.length:
        raise missing(part, place)
    draft.replace(file)


def missing(part: WarcPart, place: str) -> BadInput:
    """The error for a WARC file that is not where it should be."""
    if is_url(place):
        return BadInput(f"{place} cannot be read; check that you have access to it")
    return BadInput(
        f"{place} is not on this machine; copy it from the machine of its worker to "
        "the same path, or mount that folder there, and try again. If it is lost: "
        f"opilio parts DSN --lost {part.name}"
    )
