"""Updates the search index while a crawl runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from typing import TYPE_CHECKING

from opilio.assembly.plan import Plan
from opilio.records import Subject
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    from opilio.search.index import KeptEntries


def keep_index(folder: CrawlFolder, plan: Plan, subject: Subject) -> Callable[[], None]:
    """A function that adds what the crawl has committed to the index."""
    is_checked = False

    # Imports are here because nothing is indexed before the first visits: the crawl
    # starts sooner.
    @cache
    def kept() -> KeptEntries:
        from opilio.search.concepts import Concepts

        return Concepts(subject.named_concepts, plan.search.mode).kept

    def grow() -> None:
        from opilio.search.index import catch_up

        nonlocal is_checked
        with (
            # The index may be behind; the crawl continues. SQLite raises its own error
            # if a file cannot be opened, for instance for lack of file descriptors.
            suppress(OSError, sqlite3.OperationalError),
            closing(open_database(folder.database, read_only=True)) as db,
        ):
            catch_up(db, folder.index, kept(), thorough=not is_checked)
            is_checked = True

    return grow
