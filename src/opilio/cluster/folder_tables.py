"""What a folder has besides the tables that workers write: learnt, notes, labels,
messages, versions, other files.

`push` copies it to PostgreSQL; `pull` copies it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from opilio.cluster.changes import without_nul
from opilio.cluster.messages import apply_message, shard_for
from opilio.cluster.shards import shard_of
from opilio.storage.database import Database
from opilio.store.folder import CrawlFolder
from opilio.store.inbox import SCHEMA as INBOX
from opilio.store.inbox import all_sent, connect
from opilio.store.messages import decode_message

if TYPE_CHECKING:
    import psycopg

# Tables with the same columns here and there; workers begin with the first three too.
SAME = {
    "learnt": ("name", "state"),
    "note": ("key", "value"),
    "host_rule": ("host", "factor"),
    "suspect": ("fingerprint", "deaths"),
    "llm_answer": ("key", "url", "answer", "at"),
    "llm_cost": ("id", "calls", "tokens"),
}
FOR_WORKERS = ("learnt", "note", "host_rule")
VERSION = (
    *("id", "page", "fetched_at", "seen_at", "visits", "tried_at", "failures"),
    *("trouble", "status", "title", "content", "simhash", "score", "relevant"),
    *("warc", "warc_offset", "warc_length", "change"),
)
MESSAGE = ("key", "at", "taken_at", "body", "state", "outcome", "ended")
FORMAT = "version"  # key of `meta` that belongs to the file, not to the crawl
WAITING = "waiting"
# Rows of crawl.db that refer to links, in the form of PostgreSQL.
_VERSIONS = f"""
    SELECT version.id, link.fingerprint, {", ".join(VERSION[2:])}
    FROM version JOIN link ON link.id = version.page ORDER BY version.id
"""
_LABELS = """
    SELECT host.name, link.fingerprint, relevant, at FROM label
    JOIN link ON link.id = label.page JOIN host ON host.id = link.host
"""
_ASKED = """
    SELECT message.key, link.fingerprint FROM asked_page
    JOIN message ON message.id = asked_page.message
    JOIN link ON link.id = asked_page.page
"""


def copy_in(
    db: psycopg.Connection,
    table: str,
    columns: tuple[str, ...],
    rows: Iterator[tuple[Any, ...]],
) -> int:
    """Copy rows into a table of PostgreSQL; returns their number."""
    count = 0
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    with db.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in rows:
            copy.write_row([without_nul(cell) for cell in row])
            count += 1
    return count


def push_rest(
    source: Database, target: psycopg.Connection, folder: CrawlFolder
) -> None:
    """Copy everything of a folder that workers do not write."""
    for table, columns in SAME.items():
        rows = source.execute(f"SELECT {', '.join(columns)} FROM {table}")
        copy_in(target, table, columns, rows)
    facts = source.execute("SELECT key, value FROM meta WHERE key <> ?", (FORMAT,))
    copy_in(target, "meta", ("key", "value"), facts)
    copy_in(target, "page_version", VERSION, source.execute(_VERSIONS))
    labels = ((shard_of(row[0]), *row[1:]) for row in source.execute(_LABELS))
    copy_in(target, "label", ("shard", "page", "relevant", "at"), labels)
    _push_messages(source, target, folder)
    copy_in(target, "asked_page", ("message", "page"), source.execute(_ASKED))
    events = source.execute("SELECT at, kind, detail FROM event ORDER BY id")
    copy_in(target, "event", ("at", "kind", "detail"), events)
    files = ((name, path.read_bytes()) for name, path in files_of(folder).items())
    copy_in(target, "file", ("name", "content"), iter(files))


def _push_messages(
    source: Database, target: psycopg.Connection, folder: CrawlFolder
) -> None:
    rows = source.execute(f"SELECT {', '.join(MESSAGE)} FROM message ORDER BY id")
    taken = rows.fetchall()
    copy_in(target, "message", MESSAGE, iter(taken))
    known = {row[0] for row in taken}
    new = [sent for sent in all_sent(folder) if sent.key not in known]
    copy_in(
        target,
        "message",
        ("key", "at", "body", "shard"),
        ((sent.key, sent.at, sent.body, shard_for(sent.body)) for sent in new),
    )
    for sent in new:
        with suppress(msgspec.DecodeError):
            apply_message(target, sent.key, decode_message(sent.body))


def pull_rest(
    source: psycopg.Connection,
    target: Database,
    folder: CrawlFolder,
    links: Mapping[int, int],
) -> None:
    """Copy it back; `links`: the ids of links by fingerprint."""
    for table in SAME.keys() - set(FOR_WORKERS):
        pull_same(source, target, table)
    versions = source.execute(
        f"SELECT {', '.join(VERSION)} FROM page_version ORDER BY id".encode()
    )
    put(target, "version", ((row[0], links[row[1]], *row[2:]) for row in versions))
    labels = source.execute("SELECT page, relevant, at FROM label")
    put(target, "label", ((links[page], *rest) for page, *rest in labels))
    _pull_messages(source, target, folder, links)
    events = source.execute("SELECT at, kind, detail FROM event ORDER BY id")
    target.executemany("INSERT INTO event (at, kind, detail) VALUES (?, ?, ?)", events)


def load_state(source: psycopg.Connection, target: Database) -> None:
    """Copy facts about the crawl, for example whether it is paused."""
    put(target, "meta", source.execute("SELECT key, value FROM meta"), replace=True)


def _pull_messages(
    source: psycopg.Connection,
    target: Database,
    folder: CrawlFolder,
    links: Mapping[int, int],
) -> None:
    columns = ", ".join(MESSAGE)
    found = source.execute(f"SELECT {columns} FROM message ORDER BY id".encode())
    ids: dict[str, int] = {}
    waiting = []
    for row in found:
        if row[MESSAGE.index("state")] == WAITING:
            waiting.append((row[0], row[1], row[3]))
            continue
        ids[row[0]] = len(ids) + 1
        put(target, "message", [(ids[row[0]], *row)])
    asked = source.execute("SELECT message, page FROM asked_page")
    put(target, "asked_page", ((ids[key], links[page]) for key, page in asked))
    if waiting:
        with connect(folder.inbox) as inbox:
            inbox.execute(INBOX)
            inbox.executemany(
                "INSERT OR IGNORE INTO message (key, at, body) VALUES (?, ?, ?)",
                waiting,
            )
        inbox.close()


def pull_same(source: psycopg.Connection, target: Database, table: str) -> None:
    """Copy a table that has the same columns here and there."""
    columns = ", ".join(SAME[table])
    with source.cursor(name=f"pull_{table}") as cursor:
        put(target, table, cursor.execute(f"SELECT {columns} FROM {table}".encode()))


def put(target: Database, table: str, rows: Any, *, replace: bool = False) -> None:
    """Insert whole rows into a table of crawl.db."""
    [(count,)] = target.execute(f"SELECT count(*) FROM pragma_table_info('{table}')")
    verb = "INSERT OR REPLACE" if replace else "INSERT"
    target.executemany(f"{verb} INTO {table} VALUES ({', '.join('?' * count)})", rows)


def files_of(folder: CrawlFolder) -> dict[str, Path]:
    """The files of a folder that belong to the crawl, by their names in it; plan and
    subject are settings of the crawl, WARC files are parts, and the index is made
    again."""
    found = [folder.queries, folder.keywords, folder.in_hand]
    for place in (folder.ontology, folder.models):
        found += sorted(path for path in place.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder.path)): path
        for path in found
        if path.is_file() and path != folder.subject and path.name != "lock"
    }


def write_file(folder: CrawlFolder, name: str, content: bytes) -> None:
    """Write a file into a folder, as a whole; its name must stay within the folder."""
    path = folder.path / name
    if not path.resolve().is_relative_to(folder.path.resolve()):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.write_bytes(content)
    draft.replace(path)
