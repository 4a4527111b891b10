"""Opens the search over the pages of a crawl.

Pages that were kept without an entry (by a crawl of an older version, or with
`index = false`) are read again from the WARC files first.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

from opilio.assembly.plan import Plan, load_plan
from opilio.assembly.reader_process import ReaderProcess
from opilio.assembly.reader_setup import rereading
from opilio.errors import BadInput, OpilioError
from opilio.records import Page, ReaderSetup
from opilio.search.concepts import Concepts
from opilio.search.index import Index, catch_up
from opilio.search.log_query import log_query
from opilio.search.query import parse_query
from opilio.search.searcher import Searcher, TextOf
from opilio.search.snippet import PageText
from opilio.storage.database import Database, open_database
from opilio.store.folder import CrawlFolder
from opilio.store.index_entries import save_entry
from opilio.store.stored_responses import StoredResponses
from opilio.subject.current import current_subject
from opilio.subject.stored_subject import load_subject

AT_ONCE = 500  # pages between two commits
MISSING = """
    SELECT id, warc, warc_offset, warc_length FROM page JOIN link USING (id)
    WHERE score IS NOT NULL AND copy_of IS NULL AND NOT noindex AND warc IS NOT NULL
      AND (relevant OR ?) AND state IN ('kept', 'irrelevant')
      AND id NOT IN (SELECT page FROM indexed)
    ORDER BY number
"""

SILENT = Page("", "", "", "", 0, {}, 0.0, 0, ())  # brings readers down: is not found

Missing = tuple[int, str, int, int]
"""A page without an entry, and the place of its records."""

log = logging.getLogger(__name__)


@contextmanager
def open_search(folder: CrawlFolder) -> Iterator[Searcher]:
    """A search over all that a crawl has committed; logs what takes long."""
    folder.require()
    plan, subject = load_plan(folder), load_subject(folder.subject)
    records = StoredResponses(folder.warcs)
    index_missing(folder, plan, records)
    concepts = Concepts(subject.named_concepts, plan.search.mode)
    with closing(open_database(folder.database, read_only=True)) as db:
        index = open_index(db, folder, concepts)
        yield Searcher(index, concepts, subject.language, text_in(records))
    if records.trouble:
        log.warning("%s", records.trouble)


def open_index(
    db: sqlite3.Connection, folder: CrawlFolder, concepts: Concepts
) -> Index:
    """The index; if its folder cannot be written, what lacks is read from the table."""
    index: Index | None = None
    try:
        catch_up(db, folder.index, concepts.kept)
        index = Index(db, folder.index, concepts.kept)
        if index.is_damaged:
            log.warning("%s is damaged; rebuilding it from crawl.db", folder.index)
            catch_up(db, folder.index, concepts.kept, thorough=True)
    except OSError as error:
        log.warning("the index cannot be written (%s); searching without", error)
    return index or Index(db, folder.index, concepts.kept)


def index_missing(folder: CrawlFolder, plan: Plan, records: StoredResponses) -> int:
    """Give an entry to every page that should have one; how many had none.

    Where records cannot be read there is none yet: once the WARC file is put back from
    a copy, its pages are found.
    """
    everything = plan.search.pages == "all"
    with closing(open_database(folder.database, read_only=True)) as db:
        if db.execute(f"{MISSING} LIMIT 1", (everything,)).fetchone() is None:
            return 0
        subject = current_subject(plan.topic, folder, db)
    not_found = "Pages that were crawled without an index are not found"
    try:
        setup = rereading(plan, subject, sequence=True)
    except OpilioError as error:  # the strategy may be gone
        log.warning("%s: %s", not_found, error)
        return 0
    try:
        folder.lock()
    except BadInput:
        log.warning("%s while the crawl runs", not_found)
        return 0
    except OSError as error:
        log.warning("%s: %s", not_found, error)
        return 0
    try:
        with closing(open_database(folder.database)) as db:
            missing = db.execute(MISSING, (everything,)).fetchall()
            pages = "page that was" if len(missing) == 1 else "pages that were"
            log.info(
                "Indexing %s %s crawled without an index", f"{len(missing):,}", pages
            )
            add_entries(db, records, setup, missing)
    finally:
        folder.unlock()
    return len(missing)


def add_entries(
    db: Database,
    records: StoredResponses,
    setup: ReaderSetup,
    missing: Sequence[Missing],
) -> None:
    """Read pages again, and give each an entry, if it is there to be read."""
    kept = (
        (id, response)
        for id, name, offset, length in missing
        if (response := records.response(name, offset, length))
    )
    with closing(ReaderProcess(setup)) as reader:
        pages = reader.pages(kept)
        for _ in range(0, len(missing), AT_ONCE):
            db.begin()
            for id, _, page in islice(pages, AT_ONCE):
                save_entry(db, id, page or SILENT)
            db.commit()


def text_in(records: StoredResponses) -> TextOf:
    """A function that reads the text of a page from the WARC files."""

    from opilio.read.visible_text import visible_text  # its libraries take their time

    def text_of(name: str, offset: int, length: int) -> PageText | None:
        response = records.response(name, offset, length)
        return PageText(*visible_text(response)) if response else None

    return text_of


def log_of(folder: CrawlFolder, plan: Plan) -> Path:
    """The query log that the crawl follows: the topic's, or its own."""
    log = plan.topic.asked
    return Path(log.file) if log else folder.queries


def logs_searches(folder: CrawlFolder) -> bool:
    """Does the topic ask for searches to be followed by the crawl?"""
    log = load_plan(folder.require()).topic.query_log
    return log is not None and log.searches


def remember_query(folder: CrawlFolder, query: str, suggestion: str = "") -> None:
    """Let the crawl follow what was asked for; conditions are not part of it, nor are
    words that were respelt in what is suggested instead."""
    meant = parse_query(suggestion or query).words
    words = [word for word in parse_query(query).words if word in meant]
    log_query(log_of(folder, load_plan(folder)), " ".join(words))
