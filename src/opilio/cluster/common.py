"""What all workers of a crawl share besides its tables: plan, subject and seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from opilio.assembly.plan import Plan, save_plan
from opilio.errors import BadInput
from opilio.records import Subject
from opilio.store.folder import CrawlFolder
from opilio.subject.stored_subject import load_subject, save_subject

if TYPE_CHECKING:
    import psycopg

PLAN, SUBJECT, SEEDS, GATHERED = "plan", "subject", "seeds", "gathered"


def setting(db: psycopg.Connection, name: str) -> bytes | None:
    """A setting of the whole crawl; None: there is none."""
    row = db.execute("SELECT value FROM setting WHERE name = %s", (name,)).fetchone()
    return bytes(row[0]) if row else None


def set_once(db: psycopg.Connection, name: str, value: bytes) -> bytes:
    """Give a setting its value, unless it has one; returns what it has then."""
    db.execute(
        "INSERT INTO setting VALUES (%s, %s) ON CONFLICT DO NOTHING", (name, value)
    )
    return setting(db, name) or value


def fetch_plan(db: psycopg.Connection, folder: CrawlFolder) -> None:
    """Write plan and subject of the crawl into a folder, as far as it has them."""
    if folder.database.exists():
        raise BadInput(
            f"{folder.path} holds a crawl of its own; choose another folder with -o DIR"
        )
    for file, name in ((folder.settings, PLAN), (folder.subject, SUBJECT)):
        if (value := setting(db, name)) is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(value)
        else:
            file.unlink(missing_ok=True)


def share_subject(
    db: psycopg.Connection, subject: Subject, folder: CrawlFolder
) -> Subject:
    """Make this the subject of the crawl, unless another worker was faster; returns
    that of the crawl."""
    save_subject(subject, folder.subject)
    folder.subject.write_bytes(set_once(db, SUBJECT, folder.subject.read_bytes()))
    return load_subject(folder.subject)


def share_plan(db: psycopg.Connection, plan: Plan, folder: CrawlFolder) -> None:
    """Make this the plan of the crawl, for all who come later."""
    if plan.replay:
        raise BadInput("a replay needs no other machines; leave out --store")
    folder.make()
    save_plan(plan, folder)
    db.execute(
        "INSERT INTO setting VALUES (%s, %s) "
        "ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
        (PLAN, folder.settings.read_bytes()),
    )


def add_seeds(db: psycopg.Connection, seeds: Mapping[str, float]) -> None:
    """Add seeds to those of the crawl."""
    with db.transaction():
        set_once(db, SEEDS, b"{}")
        [(known,)] = db.execute(
            "SELECT value FROM setting WHERE name = %s FOR UPDATE", (SEEDS,)
        ).fetchall()
        merged = json.dumps({**json.loads(known), **seeds}).encode()
        db.execute("UPDATE setting SET value = %s WHERE name = %s", (merged, SEEDS))


def seeds_of(db: psycopg.Connection) -> dict[str, float]:
    """The seeds of the crawl, with their promises."""
    found: dict[str, float] = json.loads(setting(db, SEEDS) or b"{}")
    return found
