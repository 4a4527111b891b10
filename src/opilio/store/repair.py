"""Repairs a damaged crawl: saves what can be read, and lets the rest be fetched again.

`check.py` finds the damage, `salvage.py` mends the rows of crawl.db. 1. The rows of
crawl.db that can be read are copied, if it is damaged. 2. Torn ends of WARC files are
cut off. 3. A page whose record is gone waits to be fetched again. 4. A
record whose page is gone from crawl.db becomes a page again. The damaged database is
kept beside the new one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import msgspec
from isal import isal_zlib

from opilio.records import Response
from opilio.storage.database import Database, open_database
from opilio.storage.warc_reading import read_response
from opilio.store.check import PAGES, UNREADABLE, check_crawl, fault_of_page
from opilio.store.folder import CrawlFolder
from opilio.store.salvage import add_link, mend_rows, salvage
from opilio.store.stored_responses import GZIP, StoredResponses
from opilio.store.warc_files import OUR_FILES
from opilio.text import content, urls
from opilio.text.content import InflateError

CHUNK = 2**20
SUFFIX = ".damaged"


class Repaired(msgspec.Struct):
    """What was repaired."""

    database: str = ""  # what was wrong with crawl.db
    kept_copy: str = ""  # the name of the damaged database, which was kept
    lost_links: int = 0  # they come back when a page with them is read again
    cut_files: dict[str, int] = {}  # file -> bytes cut off
    fetched_again: int = 0  # pages whose records are gone
    found_again: int = 0  # pages that were only in the WARC files


class WarcMember(NamedTuple):
    """One record of a WARC file."""

    offset: int
    length: int
    kind: bytes  # of record: response, request, …


def repair_crawl(folder: CrawlFolder) -> Repaired:
    """Repair the database and the WARC files; the caller holds the lock."""
    done = Repaired()
    done.database = fault_of(folder)
    if done.database:
        done.kept_copy = rebuild(folder)
    with closing(open_database(folder.database)) as db:
        db.begin()
        done.lost_links = mend_rows(db)
        lengths = cut_torn_ends(folder, done)
        known = dict(db.execute("SELECT name, length FROM warc").fetchall())
        db.execute("DELETE FROM warc")
        db.executemany("INSERT INTO warc VALUES (?, ?)", list(lengths.items()))
        done.fetched_again = drop_unreadable(folder, db)
        if done.database or known != lengths:
            done.database = done.database or "the WARC files have other lengths"
            done.found_again = add_found(folder, db)
        db.commit()
    return done


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


def rebuild(folder: CrawlFolder) -> str:
    """Replace crawl.db by a copy of what can be read; returns the name that the old one
    has now."""
    path = folder.database
    new = path.with_name(f"{path.name}.repaired")
    new.unlink(missing_ok=True)
    salvage(path, new)
    number = 1
    while (kept := path.with_name(f"{path.name}{SUFFIX}-{number}")).exists():
        number += 1
    for end in ("", "-wal", "-shm"):
        old = path.with_name(path.name + end)
        if old.exists():
            old.rename(kept.with_name(kept.name + end))
    for end in ("", "-wal", "-shm"):
        made = new.with_name(new.name + end)
        if made.exists():
            made.rename(path.with_name(path.name + end))
    return kept.name if kept.exists() else ""


def cut_torn_ends(folder: CrawlFolder, done: Repaired) -> dict[str, int]:
    """Cut WARC files after their last complete record; returns their lengths."""
    lengths: dict[str, int] = {}
    for path in sorted(folder.warcs.iterdir()):
        if OUR_FILES.fullmatch(path.name):
            size, good = path.stat().st_size, 0
            for member in members(path):
                good = member.offset + member.length
            if good < size:
                os.truncate(path, good)
                done.cut_files[path.name] = size - good
            lengths[path.name] = good
    return lengths


def members(path: Path) -> Iterator[WarcMember]:
    """The complete records of a file; after a damaged one, those that follow it."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        offset = 0
        while 0 <= offset < len(data):
            if found := member_at(data, offset):
                yield found
                offset += found.length
            else:  # look for the beginning of the next record
                offset = data.find(b"\x1f\x8b\x08", offset + 1)


def member_at(data: mmap, offset: int) -> WarcMember | None:
    """The record at a place of a file; None if there is none, or it is damaged."""
    unpacked = isal_zlib.decompressobj(GZIP)
    head, place = b"", offset
    try:
        while not unpacked.eof:
            piece = data[place : place + CHUNK]
            if not piece:
                return None
            out = unpacked.decompress(piece)
            head = head or out[:1000]
            place += len(piece)
    except InflateError:
        return None
    if not head.startswith(b"WARC/"):
        return None
    kind = head.partition(b"WARC-Type: ")[2].partition(b"\r\n")[0]
    return WarcMember(offset, place - len(unpacked.unused_data) - offset, kind)


def drop_unreadable(folder: CrawlFolder, db: Database) -> int:
    """Let links wait again whose pages can no longer be read; returns how many."""
    records, lost = StoredResponses(folder.warcs), []
    for url, *place in db.execute(PAGES).fetchall():
        if fault_of_page(records, url, (place[0], place[1], place[2])):
            lost.append((urls.fingerprint(url),))
    find = "SELECT id FROM link WHERE fingerprint = ?"
    db.executemany(f"DELETE FROM page WHERE id IN ({find})", lost)  # noqa: S608
    again = "state = 'waiting', reason = NULL, attempts = 0"
    db.executemany(
        f"UPDATE link SET {again} WHERE fingerprint = ?",  # noqa: S608
        lost,
    )
    gone = "NOT IN (SELECT id FROM page)"
    for table in ("edge", "version", "label"):
        db.execute(f"DELETE FROM {table} WHERE page {gone}")  # noqa: S608
    db.execute(f"DELETE FROM page_profile WHERE id {gone}")  # noqa: S608
    db.execute(f"UPDATE indexed SET page = 0 WHERE page {gone}")  # noqa: S608
    db.execute(
        f"UPDATE link SET {again} "  # noqa: S608
        "WHERE state IN ('kept', 'irrelevant', 'copy') AND id NOT IN "
        "(SELECT id FROM page)"
    )
    return len(lost)


def add_found(folder: CrawlFolder, db: Database) -> int:
    """Make pages of responses that crawl.db does not know; returns how many."""
    hosts = dict(db.execute("SELECT name, id FROM host").fetchall())
    starts: dict[str, list[tuple[int, int]]] = {}
    for warc, offset, length in db.execute(
        "SELECT warc, warc_offset, warc_length FROM page WHERE warc IS NOT NULL"
    ):
        starts.setdefault(warc, []).append((offset, offset + length))
    count = 0
    for path in sorted(folder.warcs.iterdir()):
        if not OUR_FILES.fullmatch(path.name):
            continue
        known = starts.get(path.name, [])
        for member in members(path):
            if member.kind != b"response" or any(
                start <= member.offset < end for start, end in known
            ):
                continue
            response = read_response(path, member.offset, member.length)
            if 200 <= response.status < 300 and response.body:
                count += add_page(db, hosts, response, path.name, member)
    return count


def add_page(
    db: Database, hosts: dict[str, int], response: Response, warc: str, at: WarcMember
) -> int:
    """Make a page of a response, to be judged again; returns 1, or 0 if it is one."""
    url = urls.page(response.url)
    row = db.execute(
        "SELECT id FROM link WHERE fingerprint = ?", (urls.fingerprint(url),)
    ).fetchone()
    id = row[0] if row else add_link(db, hosts, url)
    if db.execute("SELECT 1 FROM page WHERE id = ?", (id,)).fetchone():
        return 0
    mime = content.media_type(response.header("content-type"))
    db.execute(
        "INSERT INTO page (id, number, fetched_at, status, mime, bytes, content, "
        "score, relevant, warc, warc_offset, warc_length) "
        "SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, 0.0, 0, ?, ?, ? "
        "FROM page",
        (
            id,
            response.fetched_at,
            response.status,
            mime,
            len(response.body),
            urls.fingerprint(response.body),
            warc,
            at.offset,
            at.length,
        ),
    )
    db.execute(
        "UPDATE link SET state = 'irrelevant', reason = NULL WHERE id = ?", (id,)
    )
    return 1
