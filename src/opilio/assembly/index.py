"""Updates the search index while a crawl runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress

from opilio.assembly.plan import Plan
from opilio.records import Subject
from opilio.search.concepts import Concepts
from opilio.search.index import catch_up
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder


def keep_index(folder: CrawlFolder, plan: Plan, subject: Subject) -> Callable[[], None]:
    """A function that adds what the crawl has committed to the index."""
    concepts = Concepts(subject.named_concepts, plan.search.mode)
    is_checked = False

    def grow() -> None:
        nonlocal is_checked
        with (
            # The index may be behind; the crawl goes on. SQLite raises its own error if
            # a file cannot be opened, for instance for lack of file descriptors.
            suppress(OSError, sqlite3.OperationalError),
            closing(open_database(folder.database, read_only=True)) as db,
        ):
            catch_up(db, folder.index, concepts.kept, thorough=not is_checked)
            is_checked = True

    return grow
