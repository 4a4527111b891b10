"""Checks the database and the WARC files of a crawl for damage.

SQLite notices damage to the structure of its file, but not to values. So values are
compared with others that they follow from: a fingerprint with its URL, a page with its
record in the WARC files.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from opilio.errors import BadInput
from opilio.records import State
from opilio.storage.database import open_reading
from opilio.store.folder import CrawlFolder
from opilio.store.odd_values import count_odd_values
from opilio.store.stored_responses import StoredResponses
from opilio.store.warc_files import IN_FOLDER
from opilio.text import urls

# The text of an error may be damaged itself.
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
QUICK = 2**29  # bytes of crawl.db; larger files are not looked through as a whole
SAMPLE = 1000  # links that are looked at whenever a crawl is opened
STATES = frozenset(state.value for state in State)
LINKS = "SELECT id, url, fingerprint, host, state, promise, reason FROM link"
UNJUDGED = "unjudged"  # key of `meta`: pages must be judged again after a repair
PAGES = """
    SELECT id, url, warc, warc_offset, warc_length FROM page JOIN link USING (id)
    WHERE warc IS NOT NULL
"""


class Damage(msgspec.Struct, frozen=True):
    """Something that is wrong, and how often."""

    file: str
    what: str
    count: int = 1


def quick_check(db: sqlite3.Connection, path: Path) -> None:
    """Raise BadInput if crawl.db is damaged, as far as that can be seen in a moment."""
    if path.with_name(f"{path.name}.repaired").exists() or is_unjudged(db):
        raise BadInput(
            f"the repair of {path} was interrupted; complete it with: "
            f"opilio repair {path.parent}"
        )
    found = ""
    try:
        if path.stat().st_size <= QUICK:
            [found] = db.execute("PRAGMA quick_check(1)").fetchone()
        last = db.execute("SELECT max(id) FROM link").fetchone()[0] or 0
        step = max(1, last // SAMPLE)
        rows = db.execute(f"{LINKS} WHERE id % ? = 0 LIMIT ?", (step, 2 * SAMPLE))
        odd = next(filter(None, map(fault_of_link, rows)), "")
    except UNREADABLE as error:
        found, odd = str(error), ""
    if odd or found not in ("", "ok"):
        raise BadInput(
            f"{path} is damaged ({odd or found}); `opilio doctor {path.parent}` says "
            f"how badly, `opilio repair {path.parent}` saves what can be saved"
        )


def damage_behind(folder: Path) -> BadInput | None:
    """The message for a crawl whose database is damaged; None if it is sound, or if
    there is none. For errors that have no other explanation."""
    path = folder / "crawl.db"
    if not path.is_file():
        return None
    try:
        with closing(open_reading(path)) as db:
            found = next(check_database(db, path.name), None)
    except UNREADABLE as error:
        found = Damage(path.name, str(error))
    if found is None:
        return None
    return BadInput(
        f"{path} is damaged ({found.what}); `opilio doctor {folder}` says how badly, "
        f"`opilio repair {folder}` saves what can be saved"
    )


def is_unjudged(db: sqlite3.Connection) -> bool:
    """Whether pages must be judged again since the crawl was repaired."""
    row = db.execute("SELECT 1 FROM meta WHERE key = ?", (UNJUDGED,)).fetchone()
    return row is not None


def fault_of_link(row: tuple[Any, ...]) -> str:
    """What is wrong with a row of the table `link`; "": nothing."""
    _, url, fingerprint, _, state, promise, reason = row
    if not isinstance(url, str) or not isinstance(fingerprint, int):
        return "a URL is not a text"
    is_cut = reason == "trap_length"  # only its beginning is stored
    if urls.fingerprint(url) != fingerprint and not is_cut:
        return "a URL does not match its fingerprint"
    if state not in STATES:
        return "a link has an unknown state"
    if not isinstance(promise, int | float) or not isfinite(promise):
        return "a promise is not a number"
    return ""


def check_crawl(folder: CrawlFolder, db: sqlite3.Connection) -> Iterator[Damage]:
    """Everything that is wrong with the database and the WARC files."""
    try:
        yield from check_database(db, folder.database.name)
    except UNREADABLE as error:
        yield Damage(folder.database.name, str(error))
        return
    yield from check_files(folder, db)
    yield from check_records(folder, db)


def check_database(db: sqlite3.Connection, name: str) -> Iterator[Damage]:
    """Everything that is wrong with the database."""
    db.text_factory = decode
    rows = db.execute("PRAGMA integrity_check(100)").fetchall()
    faults = [text for (text,) in rows if text != "ok"]
    if faults:
        yield Damage(name, str(faults[0]).splitlines()[0], len(faults))
    for what, count in (count_faults(db) + count_odd_values(db)).items():
        yield Damage(name, what, count)


def count_faults(db: sqlite3.Connection) -> Counter[str]:
    """What is wrong with rows, and how often."""
    found: Counter[str] = Counter()
    hosts = {id for (id,) in db.execute("SELECT id FROM host")}
    last = 0
    for row in db.execute(f"{LINKS} ORDER BY id"):
        if fault := fault_of_link(row):
            found[fault] += 1
        elif row[3] not in hosts:
            found["a link has no host"] += 1
        found["a link is missing"] += row[0] - last - 1
        last = row[0]
    for what, query in {
        "a page has no link": "SELECT count(*) FROM page "
        "WHERE id NOT IN (SELECT id FROM link)",
        "a link was kept, but has no page": "SELECT count(*) FROM link "
        "WHERE state = 'kept' AND id NOT IN (SELECT id FROM page)",
    }.items():
        found[what] += db.execute(query).fetchone()[0]
    return +found


def decode(raw: bytes) -> str:
    """The text of a column, also if it is damaged."""
    return raw.decode("utf-8", "replace")


def check_files(folder: CrawlFolder, db: sqlite3.Connection) -> Iterator[Damage]:
    """WARC files that are missing or too short."""
    for name, length in db.execute("SELECT name, length FROM warc").fetchall():
        if not IN_FOLDER.fullmatch(str(name)):
            yield Damage(folder.database.name, "a WARC file is not in its folder")
            continue
        path = folder.warcs / str(name)
        size = path.stat().st_size if path.is_file() else 0
        if size < length:
            yield Damage(f"warc/{name}", f"{size:,} bytes, but {length:,} by crawl.db")


def check_records(folder: CrawlFolder, db: sqlite3.Connection) -> Iterator[Damage]:
    """Pages whose records cannot be read, or are those of another page."""
    records = StoredResponses(folder.warcs)
    found: Counter[tuple[str, str]] = Counter()
    for _, url, warc, offset, length in db.execute(PAGES).fetchall():
        if fault := fault_of_page(records, url, (warc, offset, length)):
            found[f"warc/{warc}", fault] += 1
    for (file, what), count in found.items():
        yield Damage(file, what, count)


def fault_of_page(
    records: StoredResponses, url: str, place: tuple[str, int, int]
) -> str:
    """What is wrong with the record of a page; "": nothing."""
    try:
        raw = records.raw(*place)
        response = records.response(*place) if raw else None
    except (OSError, TypeError, ValueError, OverflowError):
        return "a record cannot be read"
    if response is None:
        return "a record cannot be read"
    if response.url != url:
        return "a record is that of another page"
    return ""
