"""Repairs a damaged crawl: saves what can be read, and lets the rest be fetched again.

`damage_check.py` finds the damage.

1. The rows of crawl.db that can be read are copied, if it is damaged, and repaired
   (`repair_database.py`).
2. Torn ends of WARC files are cut off.
3. Pages and WARC files are made to agree (`repair_pages.py`).
4. The new database takes the place of the damaged one, which is kept beside it.

A repair that is killed does no harm: until step 4 the damaged database stays as it is,
and an interrupted step 4 is completed by the next repair.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from opilio.storage.database import Database, open_database
from opilio.store.damage_check import UNJUDGED, UNREADABLE, check_crawl
from opilio.store.folder import CrawlFolder
from opilio.store.repair_database import mend_rows, salvage
from opilio.store.repair_pages import add_found, drop_unreadable
from opilio.store.warc_members import cut_torn_ends

SUFFIX = ".damaged"
BESIDE = ("-wal", "-shm")  # files that SQLite keeps beside a database


class Repaired(msgspec.Struct):
    """What was repaired."""

    database: str = ""  # what was wrong with crawl.db
    kept_copy: str = ""  # the name of the damaged database, which was kept
    lost_links: int = 0  # they come back when a page with them is read again
    cut_files: dict[str, int] = {}  # file -> bytes cut off
    fetched_again: int = 0  # pages whose records are gone
    found_again: int = 0  # pages that were only in the WARC files


def repair_crawl(folder: CrawlFolder) -> Repaired:
    """Repair the database and the WARC files; the caller holds the lock."""
    done = Repaired()
    if folder.repaired.exists():
        done.database = "a repair was interrupted"
        done.kept_copy = put_in_place(folder)
        return done
    done.database = fault_of(folder)
    if not done.database:
        with closing(open_database(folder.database)) as db:
            repair_rows(folder, db, done)
        return done
    draft = folder.database.with_name(f"{folder.database.name}.draft")
    for end in ("", *BESIDE):
        draft.with_name(draft.name + end).unlink(missing_ok=True)
    salvage(folder.database, draft)
    with closing(open_database(draft)) as db:
        repair_rows(folder, db, done)
    draft.rename(folder.repaired)  # closed, and so without a -wal
    done.kept_copy = put_in_place(folder)
    return done


def repair_rows(folder: CrawlFolder, db: Database, done: Repaired) -> None:
    """Repair the rows of a database, and make it agree with the WARC files."""
    db.begin()
    done.lost_links = mend_rows(db)
    lengths, done.cut_files = cut_torn_ends(folder.warcs)
    known = dict(db.execute("SELECT name, length FROM warc").fetchall())
    db.execute("DELETE FROM warc")
    db.executemany("INSERT INTO warc VALUES (?, ?)", list(lengths.items()))
    done.fetched_again = drop_unreadable(folder, db)
    if done.database or known != lengths:
        done.database = done.database or "the WARC files have other lengths"
        done.found_again = add_found(folder, db)
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", (UNJUDGED,))
    db.commit()


def fault_of(folder: CrawlFolder) -> str:
    """What is wrong with crawl.db itself; "": nothing."""
    if not folder.database.is_file():
        return "it is missing"
    try:
        with closing(sqlite3.connect(folder.database)) as db:
            found = check_crawl(folder, db)
            own = (one for one in found if one.file == folder.database.name)
            return next((one.what for one in own), "")
    except UNREADABLE as error:
        return str(error)


def put_in_place(folder: CrawlFolder) -> str:
    """Replace crawl.db by the repaired one; returns the name that the old one has now.
    May be killed and repeated at any moment."""
    path = folder.database
    kept = keep_copy(path) if path.exists() else ""
    for end in BESIDE:  # they belong to the old one
        path.with_name(path.name + end).unlink(missing_ok=True)
    folder.repaired.replace(path)
    with suppress(OSError):  # not all systems can do it
        place = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
    return kept


def keep_copy(path: Path) -> str:
    """Give a database and the file beside it a second name; returns that."""
    number = 1
    while (kept := path.with_name(f"{path.name}{SUFFIX}-{number}")).exists():
        if kept.samefile(path):  # an interrupted repair has kept it
            return kept.name
        number += 1
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists():
        shutil.copyfile(wal, kept.with_name(f"{kept.name}-wal"))
    try:
        kept.hardlink_to(path)
    except OSError:  # some file systems have no links
        shutil.copyfile(path, kept)
    return kept.name
